"""Every kind of fault has its own way on, its own budget, and somebody who can be asked (requirement C)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.template import TemplateDoesNotExist

import actions.notifying
from actions.models import Action
from caseflow.domain.process import Effect, Facts, IntakeBody, Plan
from caseflow.invariants.running import ask_all
from caseflow.processes.restore_access import RestoreAccess
from cases.models import Task
from cases.working import work_on
from tests.driving import Engine, Killed, Story, hooks, processes

SUBSCRIPTIONS = {"team": "Subscriptions", "contact": "subscriptions@example.org"}


class ThreeNotices(RestoreAccess):
    """Three letters to one person; each has a key of its own."""

    slug = "three_notices"

    def plan(self, *, decision: str, facts: Facts, intake: IntakeBody, effects: Sequence[Effect]) -> Plan:
        plan = super().plan(decision=decision, facts=facts, intake=intake, effects=effects)
        return replace(plan, notices=list(plan.notices) * 3)


@pytest.fixture
def with_processes(engine: Engine, settings: Any) -> Iterator[Engine]:
    with processes(settings, "tests.process_hold.Fragile", "tests.actions.test_ways_on.ThreeNotices"):
        yield engine


def clean() -> None:
    broken = {invariant.name: finding.shown for invariant, finding in ask_all("") if finding.violations}
    assert broken == {}


@pytest.mark.parametrize(
    ("status", "reason", "fault"),
    [
        (422, "invalid_data", "invalid_data"),
        (403, "not_permitted", "not_permitted"),
        (410, "effect_refused", "permanent"),
    ],
)
def test_a_refused_change_says_what_to_do_next_and_whom_to_ask(
    status: int, reason: str, fault: str, engine: Engine
) -> None:
    story = engine.approved()
    story.fault("error_before", status=status)
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", reason)
    told = story.told("case.effect_refused")
    assert (told["fault"], told["system"], told["owner"]) == (fault, "subscriptions", SUBSCRIPTIONS)
    assert len(story.writes()) == 1  # only a fault that can pass by itself is tried again


@pytest.mark.parametrize(
    ("status", "reason"), [(422, "invalid_data"), (403, "not_permitted"), (404, "permanent_fault")]
)
def test_a_reading_that_failed_for_good_names_the_owner_of_the_system(status: int, reason: str, engine: Engine) -> None:
    story = engine.open()
    engine.outside.script("error_before", method="GET", path=f"/subscriptions/{story.subscription}", status=status)
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", reason)
    told = story.told("case.exhausted")
    assert (told["system"], told["owner"]) == ("subscriptions", SUBSCRIPTIONS)


def test_a_reading_waits_as_long_as_the_system_asks_for(engine: Engine) -> None:
    story = engine.open()
    engine.outside.script("too_many", method="GET", path=f"/subscriptions/{story.subscription}", retry_after=45)
    story.run()
    wait = (story.task("observe").available_at - engine.now()).total_seconds()
    assert 44 < wait <= 46


def test_a_look_up_waits_as_long_as_the_system_asks_for(engine: Engine) -> None:
    story = engine.approved()
    story.fault("drop_after")
    engine.outside.script("too_many", method="GET", path="/operations/*", retry_after=50)
    story.run()
    story.run_later()
    wait = (story.task("reconcile").available_at - engine.now()).total_seconds()
    assert (story.effect.status, 49 < wait <= 51) == ("UNKNOWN", True)
    story.run_later()
    assert (story.state, len(story.writes())) == ("COMPLETED", 1)


def lose_a_worker(story: Story, stage: str) -> None:
    def die() -> None:
        raise Killed

    hooks.at("after_read", die)
    with pytest.raises(Killed):
        story.run()
    story.engine.lapse_lease(story.task(stage))


def test_a_process_may_allow_fewer_lost_workers_than_the_stage(with_processes: Engine) -> None:
    story = with_processes.open(process="fragile")
    lose_a_worker(story, "observe")
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "worker_lost")
    assert story.task("observe").lost == 1
    clean()


def test_a_lost_worker_takes_nothing_from_the_budget_for_faults_and_the_other_way_round(
    with_processes: Engine,
) -> None:
    story = with_processes.open()
    for _ in range(3):
        lose_a_worker(story, "observe")
    with_processes.outside.script("error_before", method="GET", path=f"/subscriptions/{story.subscription}", times=4)
    story.run()
    for _ in range(3):
        story.run_later()
    task = story.task("observe")
    assert (task.attempt, task.lost, task.status) == (7, 3, "due")
    story.run_later()
    assert story.state == "WAITING_APPROVAL"
    clean()


def test_a_process_may_allow_fewer_faults_than_the_stage(with_processes: Engine) -> None:
    story = with_processes.open(process="fragile")
    with_processes.outside.script("error_before", method="GET", path=f"/subscriptions/{story.subscription}", times=None)
    story.run()
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "attempts_exhausted")
    assert story.task("observe").attempt == 2
    clean()


def test_a_task_whose_data_cannot_even_be_loaded_stops_at_its_limit(engine: Engine) -> None:
    """The plan's own row is gone: no try gets as far as its work, and each of them counts."""
    story = engine.approved()
    task = story.task("execute")
    engine.owner.execute("UPDATE cases_task SET subject = 'A-NOSUCH' WHERE id = %s", [task.pk])
    for _ in range(8):
        story.make_due("execute")
        work_on(task.pk)
    task.refresh_from_db()
    assert (task.status, task.attempt) == ("failed", 6)
    assert story.standing == ("NEEDS_ATTENTION", "attempts_exhausted")
    assert story.writes() == []
    clean()


def test_a_doubt_whose_task_may_not_be_tried_again_stays_a_doubt(engine: Engine) -> None:
    story = engine.approved()
    story.fault("drop_after")
    story.run()
    engine.owner.execute("UPDATE cases_task SET lost = 5, attempt = 5 WHERE stage = 'reconcile'")
    engine.owner.execute(
        "INSERT INTO cases_attempt (task_id, number, fence, worker, begun_at, ended_at, outcome, error, error_text)"
        " SELECT t.id, n, n, 'w', now(), now(), 'worker_lost', '', '' FROM cases_task t, generate_series(1, 5) n"
        " WHERE t.stage = 'reconcile'"
    )
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "unknown_too_long")
    assert (story.effect.status, story.case.effects_open) == ("UNKNOWN", 1)
    assert story.told("case.effect_unknown")["error"] == "worker_lost"
    clean()


def notices(story: Story) -> list[Action]:
    return list(Action.objects.filter(case_id=story.id, kind="notice").order_by("position"))


def test_a_notice_that_ends_its_worker_again_and_again_does_not_stop_the_others(with_processes: Engine) -> None:
    story = with_processes.approved(process="three_notices")

    def die() -> None:
        raise Killed

    hooks.at("after_mail", die)
    with pytest.raises(Killed):
        story.run()
    poison = Task.objects.get(case_id=story.id, stage="notify", status="leased")
    # The bravest worker still dies of it: the last attempt that its budget allows is lost, too.
    with_processes.owner.execute("UPDATE cases_task SET lost = 4 WHERE id = %s", [poison.pk])
    with_processes.lapse_lease(poison)
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "notice_unconfirmed")
    assert sorted(notice.status for notice in notices(story)) == ["CONFIRMED", "CONFIRMED", "UNKNOWN"]
    assert [notice.code for notice in notices(story) if notice.status == "UNKNOWN"] == ["worker_lost"]
    assert len(story.letters()) == 3  # the poisoned one had left, and nobody sent it again
    assert (story.effect.status, story.case.effects_done) == ("CONFIRMED", 1)
    assert story.told("case.notices_unconfirmed")["owner"]["team"] == "Mail"


def test_an_exhausted_first_notice_is_settled_by_a_code_and_the_last_one_moves_the_case(
    with_processes: Engine,
) -> None:
    story = with_processes.approved(process="three_notices")
    order = {
        "match": {"method": "POST", "path": "/mail/messages", "subject": story.email},
        "fault": {"kind": "too_many"},
        "times": 3,
    }
    assert with_processes.outside.ask("POST", "/faults", order).status_code == 201
    story.run()
    assert (story.state, [notice.status for notice in notices(story)]) == ("NOTIFYING", ["PLANNED"] * 3)
    first = Task.objects.filter(case_id=story.id, stage="notify").earliest("id")
    with_processes.owner.execute(
        "UPDATE cases_task SET deadline_at = clock_timestamp(), available_at = clock_timestamp() WHERE id = %s",
        [first.pk],
    )
    story.run()
    assert (story.state, notices(story)[0].status, notices(story)[0].code) == (
        "NOTIFYING",
        "REFUSED",
        "deadline_passed",
    )
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "notice_unconfirmed")
    assert [notice.status for notice in notices(story)] == ["REFUSED", "CONFIRMED", "CONFIRMED"]
    assert len(story.letters()) == 2
    clean()


def test_a_letter_that_cannot_be_written_is_refused_at_its_limit_and_the_case_says_so(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = engine.approved()

    def no_text(*_: object, **__: object) -> None:
        raise TemplateDoesNotExist("gone")

    monkeypatch.setattr(actions.notifying, "notice_text", no_text)
    story.run()
    for _ in range(10):
        story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "notice_unconfirmed")
    assert (story.notice.status, story.letters(), story.effect.status) == ("REFUSED", [], "CONFIRMED")
    clean()
