"""Cases are moved to a newer version of their process on order, between two pieces of work, and never with a plan."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from accounts.principal import actor_of_person
from caseflow.domain.process import Process
from caseflow.invariants.running import ask_all
from cases.claiming import Lease, claim
from cases.models import Task
from cases.supplying import supply_data
from cases.working import work_on
from operations.models import Repair
from operations.moving import move_case, newer_version
from tests.commands.conftest import Run
from tests.driving import Engine, Story, claimed, fingerprint, processes, together
from tests.steps import run_due

NEXT = "tests.operations.next_versions"
WORDS = ("--process", "restore_access", "--to", "2", "--json")
APPLY = (*WORDS, "--apply", "--as", "operator", "--reason", "Новая версия")


def waiting(engine: Engine) -> Story:
    story = engine.open(missing=["payments"])
    story.run()
    assert story.standing == ("WAITING_DATA", "payment_not_found")
    story.run_later("notify")  # the letter that asks is out
    return story


def ordered(engine: Engine) -> Repair:
    return Repair.objects.create(
        command="migrate_cases", by=engine.person("operator"), os_account="-", reason="-", at=engine.now()
    )


def test_a_waiting_and_a_new_case_are_shown_then_moved_once_and_go_on_in_the_new_version(
    engine: Engine, run: Run, settings: Any
) -> None:
    stories = [waiting(engine), engine.open()]
    engine.person("operator")
    with processes(settings, f"{NEXT}.Next"):
        before = fingerprint()
        shown = run("migrate_cases", *WORDS)
        assert (shown.code, [one["result"] for one in shown.json()["found"]]) == (3, ["shown", "shown"])
        assert fingerprint() == before
        moved = run("migrate_cases", *APPLY)
        assert (moved.code, [one["result"] for one in moved.json()["found"]]) == (0, ["repaired", "repaired"])
        for story in stories:
            assert story.case.process_version == 2
            assert [kind for kind in story.history() if kind == "repair.version_moved"] == ["repair.version_moved"]
            told = story.told("repair.version_moved")
            assert (told["from_version"], told["to_version"]) == (1, 2)
            assert set(story.case.tasks.filter(status="due").values_list("process", flat=True)) == {"restore_access:2"}
        assert run("migrate_cases", *APPLY).json()["found"] == []
        payment = {"id": f"{stories[0].payment}-X", "customer_id": stories[0].customer, "amount": "990.00"}
        payment["subscription_id"] = stories[0].subscription
        engine.outside.ask("PUT", "/world", {"payments": [payment]}).raise_for_status()
        operator = actor_of_person(engine.person("operator"))
        supply_data(case_id=stories[0].id, data={"payment_id": payment["id"]}, actor=operator)
        for story in stories:
            story.run_later()
            assert story.state == "WAITING_APPROVAL"
        assert stories[0].proposal.snapshot  # planned by the new version
        assert {one.name: one_found.shown for one, one_found in ask_all("") if one_found.violations} == {}


def proposed(engine: Engine) -> Story:
    return engine.proposed()


def approved(engine: Engine) -> Story:
    return engine.approved()


def in_doubt(engine: Engine) -> Story:
    story = engine.approved()
    story.fault("drop_after")
    story.run("execute")
    assert story.effect.status == "UNKNOWN"
    return story


def at_work(engine: Engine) -> Story:
    story = engine.open()
    claimed(story.task("check"))
    return story


def supplied_once(engine: Engine) -> Story:
    story = waiting(engine)
    operator = actor_of_person(engine.person("operator"))
    supply_data(case_id=story.id, data={"claim": "ещё раз"}, actor=operator)
    return story


@pytest.mark.parametrize(
    ("standing", "version", "refusal"),
    [
        (proposed, "Next", "plan_under_way"),
        (approved, "Next", "plan_under_way"),
        (in_doubt, "Next", "plan_under_way"),
        (at_work, "Next", "at_work"),
        (waiting, "AsksForMore", "intake_differs"),
        (waiting, "ForgetsAReason", "reason_missing"),
        (supplied_once, "NeverChecksAgain", "history_differs"),
    ],
)
def test_a_case_that_may_not_be_moved_is_refused_with_the_reason_and_stays_as_it_is(
    standing: Callable[[Engine], Story], version: str, refusal: str, engine: Engine, run: Run, settings: Any
) -> None:
    story = standing(engine)
    engine.person("operator")
    with processes(settings, f"{NEXT}.{version}"):
        before = fingerprint()
        ran = run("migrate_cases", *APPLY)
        (found,) = ran.json()["found"]
        assert (ran.code, found["problem"], found["repairable"], found["result"]) == (3, refusal, False, "shown")
        assert fingerprint() == before
        assert story.case.process_version == 1


def test_a_claim_and_a_move_at_the_same_instant_never_leave_old_work_in_a_moved_case(
    engine: Engine, settings: Any
) -> None:
    actor, repair = actor_of_person(engine.person("operator")), ordered(engine)
    for story in [engine.open() for _ in range(6)]:
        task = story.task("check").pk
        with processes(settings, f"{NEXT}.Next"):
            target = newer_version("restore_access", 2)
            assert target is not None

            def move(case: int = story.id, target: Process = target) -> str:
                with transaction.atomic():
                    return move_case(case, target, actor=actor, repair=repair)

            def take(task: int = task) -> Lease | None:
                with transaction.atomic():
                    return claim(task, worker="first")

            refusal, lease = together(move, take)
            assert not isinstance(refusal, Exception) and not isinstance(lease, Exception), (refusal, lease)
            version = story.case.process_version
            assert version == (2 if refusal == "" else 1)
            if lease is not None and lease.case is not None:
                assert lease.case.process_version == version, "it works in a version that the case has no more"


def test_the_old_versions_worker_hands_a_moved_case_back(engine: Engine, settings: Any) -> None:
    story = engine.open()
    actor, repair = actor_of_person(engine.person("operator")), ordered(engine)
    with processes(settings, f"{NEXT}.Next"), transaction.atomic():
        target = newer_version("restore_access", 2)
        assert target is not None and move_case(story.id, target, actor=actor, repair=repair) == ""
    task = story.task("check")
    story.make_due("check")
    work_on(task.pk)  # by a worker of the release before
    task.refresh_from_db()
    assert (task.status, task.attempt, task.available_at > engine.now() + timedelta(seconds=50)) == ("due", 0, True)
    with processes(settings, f"{NEXT}.Next"):
        Task.objects.filter(pk=task.pk).update(available_at=engine.now())
        run_due(case=story.id)
        assert story.state == "WAITING_APPROVAL"


def test_a_version_that_is_not_installed_is_said_at_once(engine: Engine, run: Run) -> None:
    ran = run("migrate_cases", *WORDS)
    assert (ran.code, "restore_access 2 is not installed" in ran.failure) == (2, True)
