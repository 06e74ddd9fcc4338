"""Repairing commands: shown first, done with a person's rights, recorded, safe beside workers and twice in a row."""

from __future__ import annotations

import getpass
import os
import pwd
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from approvals.models import Proposal
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.roles import Role
from caseflow.invariants.running import ask_all
from cases.models import Attempt, Installation, Task
from cases.working import work_on
from operations.models import Repair
from operations.repairing import os_account
from tests.commands.conftest import Run
from tests.driving import Engine, Story, claimed, fingerprint, run_due, together

APPLY = ("--apply", "--as", "operator", "--reason", "Перезапуск после сбоя")


def clean() -> None:
    broken = {invariant.name: finding.shown for invariant, finding in ask_all("") if finding.violations}
    assert broken == {}


def in_doubt(engine: Engine) -> Story:
    story = engine.approved()
    story.fault("drop_after")
    engine.outside.script("error_before", method="GET", path="/operations/*", times=1)
    story.run()
    engine.owner.execute(
        "UPDATE cases_task SET deadline_at = clock_timestamp() + interval '1 millisecond' WHERE stage = 'reconcile'"
    )
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "unknown_too_long")
    engine.outside.ask("DELETE", "/faults")
    return story


def without_expiry(engine: Engine) -> Story:
    """The task that ends the time for a decision is gone, as after a restore of a part."""
    story = engine.proposed()
    engine.owner.execute(
        "UPDATE cases_task SET status = 'cancelled', ended_at = clock_timestamp()"
        " WHERE case_id = %s AND stage = 'expire'",
        [story.id],
    )
    return story


def rung_in_vain(engine: Engine) -> Story:
    story = engine.open()
    engine.owner.execute(
        "UPDATE cases_task SET rung_at = clock_timestamp() - interval '2 minutes' WHERE case_id = %s", [story.id]
    )
    return story


def abandoned(engine: Engine) -> Story:
    story = engine.open()
    claimed(story.task("check"))
    engine.owner.execute(
        "UPDATE cases_task SET leased_until = clock_timestamp() - interval '2 minutes' WHERE case_id = %s", [story.id]
    )
    return story


def handed_back(engine: Engine) -> Story:
    """An older worker gave it back for a minute because it did not have this version."""
    story = engine.open()
    engine.owner.execute(
        "UPDATE cases_task SET fence = 3, available_at = clock_timestamp() + interval '50 seconds' WHERE case_id = %s",
        [story.id],
    )
    return story


TROUBLES: list[tuple[str, Callable[[Engine], Story]]] = [
    ("reconcile_actions", in_doubt),
    ("expire_decisions", without_expiry),
    ("requeue_tasks", rung_in_vain),
    ("requeue_tasks", abandoned),
    ("requeue_tasks", handed_back),
]
each_trouble = pytest.mark.parametrize(("command", "trouble"), TROUBLES, ids=[make.__name__ for _, make in TROUBLES])


@each_trouble
def test_a_dry_run_shows_it_and_leaves_every_table_equal(
    command: str, trouble: Callable[[Engine], Story], engine: Engine, run: Run
) -> None:
    story = trouble(engine)
    engine.person("operator")
    before = fingerprint()
    ran = run(command)
    assert (ran.code, story.case.public_id in ran.out, "would be repaired" in ran.out) == (3, True, True)
    told = run(command, "--json").json()
    assert (told["applied"], [one["result"] for one in told["found"]]) == (False, ["shown"])
    assert fingerprint() == before


@each_trouble
def test_it_is_done_once_recorded_and_a_second_time_changes_nothing(
    command: str, trouble: Callable[[Engine], Story], engine: Engine, run: Run
) -> None:
    story = trouble(engine)
    operator = engine.person("operator")
    ran = run(command, *APPLY, "--json")
    assert (ran.code, [one["result"] for one in ran.json()["found"]]) == (0, ["repaired"])
    repair = Repair.objects.get()
    assert (repair.command, repair.by, repair.reason) == (command, operator, "Перезапуск после сбоя")
    assert repair.os_account == os_account()
    event = AuditEvent.objects.get(kind="repair.done")
    assert event.actor_id == operator.pk
    assert facts_of(event.body)["facts"] == {
        "command": command,
        "repair": repair.pk,
        "repaired": 1,
        "os_account": os_account(),
    }
    newest = AuditEvent.objects.filter(case_id=story.id).latest("seq")
    assert (newest.actor_id, facts_of(newest.body)["facts"]["repair"]) == (operator.pk, repair.pk)

    before = fingerprint()
    again = run(command, *APPLY)
    assert (again.code, again.out.strip()) == (0, "nothing to repair")
    assert fingerprint() == before
    clean()


@each_trouble
def test_a_person_without_the_right_to_recover_changes_nothing(
    command: str, trouble: Callable[[Engine], Story], engine: Engine, run: Run
) -> None:
    trouble(engine)
    engine.person("viewer")
    globex = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("stranger"), organisation=globex, role=Role.OPERATOR, by=SYSTEM)
    before = fingerprint()
    ran = run(command, "--apply", "--as", "viewer", "--reason", "r", "--json")
    assert (ran.code, [one["result"] for one in ran.json()["found"]]) == (3, ["not_permitted"])
    assert fingerprint() == before
    blind = run(command, "--apply", "--as", "stranger", "--reason", "r", "--json")
    assert (blind.code, blind.json()["found"], blind.json()["remarks"]) == (0, [], [])
    assert fingerprint() == before
    named = run(command, "--apply", "--as", "viewer", "--reason", "r", "--organisation", "acme")
    assert (named.code, named.failure.partition(":")[0]) == (1, "not_permitted")
    unseen = run(command, "--apply", "--as", "stranger", "--reason", "r", "--organisation", "acme")
    assert (unseen.code, unseen.failure.partition(":")[0]) == (1, "not_found")
    assert not Repair.objects.exists()


@each_trouble
def test_beside_a_worker_the_work_is_done_once(
    command: str, trouble: Callable[[Engine], Story], engine: Engine, run: Run
) -> None:
    story = trouble(engine)
    engine.person("operator")
    tasks = list(Task.objects.filter(case_id=story.id, status__in=("due", "leased")).values_list("pk", flat=True))

    def work() -> None:
        for task in tasks:
            work_on(task)

    results = together(lambda: run(command, *APPLY), work, lambda: run(command, *APPLY), work)
    assert all(result is None or getattr(result, "code", None) in (0, 3) for result in results), results
    run_due(case=story.id)
    story.make_due()
    run_due(case=story.id)
    assert story.state in ("WAITING_APPROVAL", "COMPLETED")
    assert len(story.activations()) == (1 if story.state == "COMPLETED" else 0)
    clean()


@pytest.mark.parametrize("command", ["reconcile_actions", "expire_decisions", "requeue_tasks", "check_drift"])
@pytest.mark.parametrize(
    "wrong",
    [
        ("--apply",),
        ("--apply", "--as", "operator"),
        ("--apply", "--reason", "r"),
        ("--apply", "--as", "operator", "--reason", "  "),
        ("--apply", "--as", "nobody", "--reason", "r"),
        ("--apply", "--as", "operator", "--reason", "r" * 501),
        ("--organisation", "nowhere"),
    ],
)
def test_a_wrong_call_is_a_usage_error(command: str, wrong: tuple[str, ...], engine: Engine, run: Run) -> None:
    engine.person("operator")
    assert run(command, *wrong).code == 2


@pytest.mark.parametrize("command", ["reconcile_actions", "expire_decisions", "requeue_tasks", "check_drift"])
def test_where_nothing_is_wrong_nothing_is_done(command: str, engine: Engine, run: Run) -> None:
    story = engine.approved()
    story.run()
    engine.proposed()
    engine.person("operator")
    before = fingerprint()
    ran = run(command, *APPLY)
    assert (ran.code, ran.out.strip()) == (0, "nothing to repair")
    assert fingerprint() == before


def test_another_organisations_trouble_is_left_alone_and_not_even_shown(engine: Engine, run: Run) -> None:
    globex = create_organisation(slug="globex", name="Globex")
    ours, theirs = rung_in_vain(engine), engine.open(organisation=globex)
    engine.owner.execute("UPDATE cases_task SET rung_at = clock_timestamp() - interval '2 minutes'")
    engine.person("operator")
    ran = run("requeue_tasks", *APPLY, "--json")
    results = {one["case"]: one["result"] for one in ran.json()["found"]}
    assert (ran.code, results) == (0, {ours.case.public_id: "repaired"})
    assert theirs.task("check").rung_at is not None
    assert run("requeue_tasks", "--organisation", "acme").code == 0


def test_a_doubt_is_looked_up_again_and_settled_by_evidence_alone(engine: Engine, run: Run) -> None:
    story = in_doubt(engine)
    engine.person("operator")
    run("reconcile_actions", *APPLY)
    assert story.state == "EXECUTING"
    assert story.history()[-1] == "case.reconcile_ordered"
    assert (story.effect.status, len(story.writes())) == ("UNKNOWN", 1)  # the command itself settles nothing
    story.run()
    assert (story.state, story.effect.confirmed_by, len(story.writes())) == ("COMPLETED", "lookup", 1)
    clean()


def test_a_doubt_whose_task_was_lost_gets_one_again(engine: Engine, run: Run) -> None:
    story = engine.approved()
    story.fault("drop_after")
    story.run()
    engine.owner.execute(
        "UPDATE cases_task SET status = 'cancelled', ended_at = clock_timestamp() WHERE stage = 'reconcile'"
    )
    engine.person("operator")
    assert run("reconcile_actions", *APPLY).code == 0
    assert story.history()[-1] == "repair.reconcile_ordered"
    story.run()
    assert (story.state, len(story.writes())) == ("COMPLETED", 1)
    clean()


def test_a_doubt_that_a_task_looks_after_is_not_touched(engine: Engine, run: Run) -> None:
    story = engine.approved()
    story.fault("drop_after")
    story.run()
    assert story.effect.status == "UNKNOWN"
    ran = run("reconcile_actions", "--json")
    assert (ran.code, ran.json()["found"]) == (0, [])


def test_a_restored_copy_is_told_and_never_resumed_by_a_command(engine: Engine, run: Run) -> None:
    Installation.objects.update(restored=True)
    engine.person("operator")
    ran = run("reconcile_actions", *APPLY)
    assert (ran.code, "restored" in ran.out) == (3, True)
    assert Installation.objects.get().restored


def test_a_decision_whose_time_is_over_expires_when_its_task_is_back(engine: Engine, run: Run) -> None:
    story = without_expiry(engine)
    story.age_proposal(timedelta(hours=25))
    engine.person("operator")
    told = run("expire_decisions", "--json").json()["found"]
    assert [one["problem"] for one in told] == ["its time is over and nothing ends it"]
    run("expire_decisions", *APPLY)
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "decision_expired")
    clean()


def test_a_decision_that_may_still_be_taken_keeps_its_time(engine: Engine, run: Run) -> None:
    story = without_expiry(engine)
    engine.person("operator")
    run("expire_decisions", *APPLY)
    task = story.task("expire")
    assert (task.status, task.available_at) == ("due", Proposal.objects.get(case_id=story.id).valid_until)
    story.decide()
    story.run()
    assert story.state == "COMPLETED"


def test_a_freed_task_counts_its_lost_attempt_and_refuses_the_late_holder(engine: Engine, run: Run) -> None:
    story = engine.open()
    late = claimed(story.task("check"))
    engine.owner.execute("UPDATE cases_task SET leased_until = clock_timestamp() - interval '2 minutes'")
    engine.person("operator")
    run("requeue_tasks", *APPLY)
    task = story.task("check")
    assert (task.status, task.lost, task.fence > late.fence) == ("due", 1, True)
    assert list(Attempt.objects.filter(task=task).values_list("outcome", flat=True)) == ["worker_lost"]
    story.run()
    assert story.state == "WAITING_APPROVAL"
    clean()


def test_a_living_lease_and_a_fresh_bell_are_left_alone(engine: Engine, run: Run) -> None:
    claimed(engine.open().task("check"))
    engine.open()
    Task.objects.filter(status="due").update(rung_at=timezone.now())
    ran = run("requeue_tasks", "--json")
    assert (ran.code, ran.json()["found"]) == (0, [])


def test_what_no_worker_has_and_what_stopped_for_good_are_shown_with_what_to_do(engine: Engine, run: Run) -> None:
    foreign, dead = engine.open(), engine.open()
    engine.owner.execute("UPDATE cases_task SET process = 'restore_access:99' WHERE case_id = %s", [foreign.id])
    engine.outside.script("error_before", method="GET", path=f"/subscriptions/{dead.subscription}", status=404)
    dead.run()
    assert dead.standing == ("NEEDS_ATTENTION", "permanent_fault")
    engine.person("operator")
    before = fingerprint()
    ran = run("requeue_tasks", *APPLY)
    assert ran.code == 3
    assert "Start a worker" in ran.out
    assert "ask to check again" in ran.out
    assert fingerprint() == before


def test_the_account_of_the_machine_is_the_real_one_and_not_what_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOGNAME", "somebody-else")
    assert getpass.getuser() == "somebody-else"
    assert os_account().startswith(pwd.getpwuid(os.getuid()).pw_name)


def test_a_repair_is_never_changed(engine: Engine, run: Run) -> None:
    rung_in_vain(engine)
    engine.person("operator")
    run("requeue_tasks", *APPLY)
    repair: Any = Repair.objects.get()
    repair.reason = "another"
    with pytest.raises(Exception, match=r"permission denied|Cannot update"):
        repair.save()
