"""Who may work on a task: one worker at a time, counted before the work, judged by the database's clock."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.principal import SYSTEM
from accounts.services import create_organisation
from caseflow.domain.errors import LeaseLost
from caseflow.domain.lifecycle import Event, Start, Table
from cases.actors import run_task
from cases.advancing import advance_case
from cases.claiming import Lease, claim
from cases.leases import held, renew_held
from cases.models import Pause, Task
from cases.processes import all_processes, get_process
from cases.publishing import Ending, NewTask, publish
from cases.settling import settlement
from cases.stages import all_stages
from cases.working import work_on
from tests.driving import Engine, Killed, Story, claimed, fingerprint, hooks, processes, run_due, together
from tests.pauses import pause, pause_work, resume


def attempts(task: Task) -> list[tuple[int, str]]:
    """(number, outcome) of every attempt, the living one with an empty outcome."""
    return list(task.attempts.order_by("number").values_list("number", "outcome"))


def seconds_until(task: Task) -> float:
    task.refresh_from_db()
    return (task.available_at - timezone.now()).total_seconds()


def test_the_attempt_is_counted_before_the_work_begins(engine: Engine) -> None:
    story = engine.open()
    seen: list[tuple[int, list[tuple[int, str]]]] = []

    def look() -> None:
        observe = story.task("observe")
        seen.append((observe.attempt, attempts(observe)))

    hooks.at("after_read", look)
    story.run()
    assert seen == [(1, [(1, "")])]
    assert attempts(story.task("observe")) == [(1, "done")]


def test_no_transaction_is_open_while_the_outside_world_is_asked(engine: Engine) -> None:
    story = engine.open()
    seen: list[bool] = []
    hooks.at("after_read", lambda: seen.append(connection.in_atomic_block))
    story.run()
    assert seen == [False]


def test_a_message_delivered_five_times_at_once_is_one_transition_and_four_times_nothing(engine: Engine) -> None:
    story = engine.open()
    task = story.task("check")
    together(*[lambda: run_task(task.pk)] * 5)
    assert story.history().count("case.check_started") == 1
    assert attempts(task) == [(1, "done")]
    assert story.history().count("case.proposal_ready") == 1


def test_the_order_to_send_delivered_five_times_at_once_is_one_effect(engine: Engine) -> None:
    story = engine.approved()
    task = story.task("execute")
    together(*[lambda: run_task(task.pk)] * 5)
    run_due(case=story.id)
    assert story.state == "COMPLETED"
    assert len(story.activations()) == len(story.writes()) == 1
    assert len(story.letters()) == 1


def test_a_message_for_finished_work_moves_nothing(engine: Engine) -> None:
    story = engine.approved()
    story.run()
    before = fingerprint()
    for task in Task.objects.filter(case_id=story.id):
        run_task(task.pk)
    assert fingerprint() == before


def test_a_bunch_is_worked_on_one_after_the_other_and_what_is_wrong_in_it_stops_nothing(engine: Engine) -> None:
    stories = [engine.open() for _ in range(2)]
    first, second = (story.task("check").pk for story in stories)
    run_task([first, "nobody", -1, second])
    assert [story.state for story in stories] == ["WAITING_APPROVAL"] * 2


def test_a_forged_bunch_of_very_many_is_not_begun(engine: Engine) -> None:
    task = engine.open().task("check")
    before = fingerprint()
    run_task([task.pk] * 5)
    assert fingerprint() == before


@pytest.mark.parametrize("forged", [0, -1, True, False, 2**63, 10**30, 999_999_999, "1", 1.0, None, [0], [[1]], [True]])
def test_a_forged_or_unknown_id_moves_nothing(forged: Any, engine: Engine) -> None:
    engine.open()
    before = fingerprint()
    run_task(forged)
    assert fingerprint() == before


def test_a_message_that_comes_before_its_time_moves_nothing(engine: Engine) -> None:
    story = engine.open()
    Task.objects.update(available_at=timezone.now() + timedelta(seconds=30))
    before = fingerprint()
    run_task(story.task("check").pk)
    assert fingerprint() == before


def test_a_check_goes_on_as_the_task_that_reads(engine: Engine) -> None:
    story = engine.open()
    task = story.task("check")
    story.run()
    task.refresh_from_db()
    assert (task.stage, task.generation, task.status) == ("observe", 2, "done")
    assert attempts(task) == [(1, "done")]
    assert story.history() == ["case.opened", "case.check_started", "facts.observed", "case.proposal_ready"]


def test_a_check_that_cannot_begin_with_its_claim_is_counted_and_carried_out_by_itself(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(lease: Lease) -> Lease:
        raise ValueError("not now")

    broken = {"check": replace(all_stages()["check"], begin=fail)}
    monkeypatch.setattr("cases.stages._stages", all_stages() | broken)
    story = engine.open()
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert attempts(story.task("check")) == attempts(story.task("observe")) == [(1, "done")]


def test_a_check_after_which_a_process_wants_something_else_settles_by_itself(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = get_process("restore_access", 1)
    other = (Start("recheck"),)
    rows = [replace(row, starts=other) if row.event is Event.CHECK_STARTED else row for row in process.table]
    monkeypatch.setattr(process, "table", Table(rows))
    story = engine.open()
    work_on(story.task("check").pk)
    assert story.history()[:2] == ["case.opened", "case.check_started"]
    assert [task.stage for task in Task.objects.filter(case_id=story.id).order_by("id")] == ["check", "recheck"]


def test_a_living_lease_is_not_taken(engine: Engine) -> None:
    task = engine.open().task("check")
    claimed(task)
    before = fingerprint()
    with transaction.atomic():
        assert claim(task.pk, worker="second") is None
    assert fingerprint() == before


def test_the_task_of_a_silent_worker_is_taken_over_and_its_attempt_counts_as_lost(engine: Engine) -> None:
    story = engine.open()
    task = story.task("check")
    first = claimed(task)
    engine.lapse_lease(task)

    second = claimed(task, "second")

    assert second.fence > first.fence
    assert (second.number, second.spent) == (2, 1)
    assert attempts(task) == [(1, "worker_lost"), (2, "")]


def test_what_a_silent_worker_settles_after_it_was_replaced_changes_nothing(engine: Engine) -> None:
    story = engine.open()
    task = story.task("check")
    zombie = claimed(task)
    engine.lapse_lease(task)
    work_on(task.pk, worker="second")
    assert story.state == "WAITING_APPROVAL"
    before = fingerprint()
    reached = []
    with pytest.raises(LeaseLost), settlement(zombie) as settling:
        reached.append(settling)
    assert reached == []
    assert fingerprint() == before


def test_a_lease_that_lapsed_but_that_nobody_took_may_still_settle(engine: Engine) -> None:
    story = engine.open()
    lease = claimed(story.task("check"))
    engine.lapse_lease(lease.task_id)
    with settlement(lease) as settling:
        settling.move(Event.CHECK_STARTED)
    assert story.state == "CHECKING"


def test_a_task_of_an_older_version_of_the_case_is_closed_without_an_attempt(engine: Engine) -> None:
    story = engine.open()
    task = story.task("check")
    with transaction.atomic():
        advance_case(story.row, Event.CLOSED_BY_PERSON, actor=SYSTEM)
    work_on(task.pk)
    task.refresh_from_db()
    assert (task.status, task.attempt, attempts(task)) == ("obsolete", 0, [])
    assert story.state == "CLOSED_NO_CHANGE"


def test_a_stage_that_this_worker_does_not_have_is_handed_back_for_a_minute(engine: Engine) -> None:
    story = engine.open()
    task = story.task("check")
    Task.objects.filter(pk=task.pk).update(stage="stage_of_the_next_release")
    work_on(task.pk)
    assert 58 < seconds_until(task) <= 60
    assert (task.status, task.attempt, attempts(task)) == ("due", 0, [])


def test_a_process_version_that_this_worker_does_not_have_is_handed_back_for_a_minute(
    engine: Engine, settings: Any
) -> None:
    with processes(settings, "tests.process_examples.NoApproval"):
        story = engine.open(process="no_approval")
    task = story.task("check")
    assert "no_approval:1" not in all_processes()
    work_on(task.pk)
    assert 58 < seconds_until(task) <= 60
    assert (task.status, task.attempt, attempts(task)) == ("due", 0, [])


@pytest.mark.parametrize("kind", ["process", "organisation", "all"])
def test_the_work_of_a_paused_process_or_organisation_is_not_begun(kind: str, engine: Engine) -> None:
    story = engine.open()
    stopped = pause_work(kind, engine.organisation)
    task = story.task("check")
    work_on(task.pk)
    task.refresh_from_db()
    assert (task.status, task.attempt, story.state) == ("due", 0, "RECEIVED")
    resume(stopped)
    story.run()
    assert story.state == "WAITING_APPROVAL"


def test_a_pause_past_its_end_and_a_pause_of_somebody_else_hold_nothing(engine: Engine) -> None:
    story = engine.open()
    over = pause("process", "restore_access", until=engine.now() + timedelta(hours=1))
    Pause.objects.filter(pk=over.pk).update(until=engine.now())
    other = create_organisation(slug="globex", name="Globex")
    pause("organisation", organisation=other)
    pause("process", "restore_access", other)
    pause("process", "restore")
    story.run()
    assert story.state == "WAITING_APPROVAL"


def test_a_task_that_kills_its_worker_five_times_stops_and_asks_for_a_person(engine: Engine) -> None:
    story = engine.open()
    deaths = 0

    def die() -> None:
        nonlocal deaths
        deaths += 1
        raise Killed

    for _ in range(20):
        hooks.at("after_read", die)
        try:
            story.run()
        except Killed:
            engine.lapse_lease(story.task("observe"))
        else:
            break
    hooks.clear()
    assert deaths == 5
    assert story.standing == ("NEEDS_ATTENTION", "worker_lost")
    assert attempts(story.task("observe")) == [(number, "worker_lost") for number in range(1, 6)]


def test_a_task_whose_time_ran_out_is_not_tried_again(engine: Engine) -> None:
    story = engine.open()
    task = story.task("check")
    Task.objects.filter(pk=task.pk).update(deadline_at=timezone.now() - timedelta(seconds=1))
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "deadline_passed")
    assert attempts(task) == []


def test_a_living_worker_renews_its_lease_but_never_past_the_limit_of_the_stage(engine: Engine) -> None:
    task = engine.open().task("check")
    lease = claimed(task)
    now = engine.now()
    Task.objects.update(leased_until=now + timedelta(seconds=1))
    with held(lease):
        assert renew_held() == 1
        task.refresh_from_db()
        assert task.leased_until is not None and task.leased_until > now + timedelta(seconds=9)
        limit = now + timedelta(seconds=2)
        Task.objects.update(leased_until=now + timedelta(seconds=1), lease_limit_at=limit)
        renew_held()
        task.refresh_from_db()
        assert task.leased_until == limit
        Task.objects.update(lease_limit_at=now - timedelta(seconds=1), leased_until=now - timedelta(seconds=1))
        assert renew_held() == 0
    assert renew_held() == 0


def test_nobody_renews_a_lease_that_another_took_over(engine: Engine) -> None:
    task = engine.open().task("check")
    first = claimed(task)
    engine.lapse_lease(task)
    claimed(task, "second")
    before = Task.objects.get(pk=task.pk).leased_until
    with held(first):
        assert renew_held() == 0
    assert Task.objects.get(pk=task.pk).leased_until == before


def checking(engine: Engine) -> tuple[Story, Ending]:
    """A case in CHECKING whose `observe` this worker holds, and the end of that task."""
    story = engine.open()
    with transaction.atomic():
        moved = advance_case(story.row, Event.CHECK_STARTED, actor=SYSTEM)
        publish(moved.case, [NewTask("observe")])
    lease = claimed(story.task("observe"))
    return story, Ending(lease.task_id, lease.fence, lease.number, "done", "done")


def test_a_worker_takes_the_next_task_of_its_own_queue_with_it(engine: Engine) -> None:
    story, ending = checking(engine)
    published = publish(story.row, [NewTask("propose"), NewTask("recheck")], ending=ending, claim_for="first")
    assert [(fresh.stage, fresh.claimed) for fresh in published] == [("propose", True), ("recheck", False)]
    taken = story.task("propose")
    assert (taken.status, taken.leased_by, taken.attempt, attempts(taken)) == ("leased", "first", 1, [(1, "")])


def test_a_worker_leaves_the_next_task_of_another_queue_alone(engine: Engine) -> None:
    story, ending = checking(engine)
    published = publish(story.row, [NewTask("propose")], ending=ending, claim_for="first", claim_queue="slow")
    assert [fresh.claimed for fresh in published] == [False]
    assert (story.task("propose").status, attempts(story.task("propose"))) == ("due", [])


def test_a_worker_takes_nothing_that_is_paused_or_due_later(engine: Engine) -> None:
    story, ending = checking(engine)
    later = publish(story.row, [NewTask("propose", delay=timedelta(seconds=5))], ending=ending, claim_for="first")
    assert [fresh.claimed for fresh in later] == [False]
    story, ending = checking(engine)
    pause("process", "restore_access")
    paused = publish(story.row, [NewTask("propose")], ending=ending, claim_for="first")
    assert [fresh.claimed for fresh in paused] == [False]
    assert story.task("propose").status == "due"


def test_one_piece_of_work_is_published_once(engine: Engine) -> None:
    story = engine.open()
    assert publish(story.row, [NewTask("check")]) == []
    assert publish(story.row, []) == []
    assert len(publish(story.row, [NewTask("observe", subject=uuid.uuid4().hex[:8])])) == 1
    assert Task.objects.filter(case_id=story.id, stage="check").count() == 1
