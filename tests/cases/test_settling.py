"""How an attempt ends: a result, another try, a person, or a result that comes too late."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.principal import SYSTEM
from approvals.models import Proposal
from caseflow.domain.lifecycle import Event
from caseflow.domain.outcomes import Fact
from caseflow.statements import rows_of, rows_of_each
from cases.advancing import advance_case
from cases.models import Observation, Task
from cases.observing import Readings, storing_readings
from cases.personal import Sealer
from cases.publishing import NewTask, publish
from cases.settling import settlement
from tests.driving import Engine, claimed, hooks


def pause_before_next(task: Task) -> float:
    """Seconds from the end of the newest attempt to the next one."""
    task.refresh_from_db()
    last = task.attempts.latest("number")
    assert last.ended_at is not None
    return (task.available_at - last.ended_at).total_seconds()


def test_a_time_out_is_tried_again_after_5_10_20_40_60_seconds_and_then_a_person_is_asked(
    engine: Engine, settings: Any
) -> None:
    settings.ADAPTER_OPTIONS = {"payments": {"deadline": timedelta(milliseconds=150)}}
    story = engine.open()
    engine.outside.script("delay", method="GET", path=f"/payments/{story.payment}", times=None, seconds=1)
    story.run()
    pauses = []
    for _ in range(5):
        pauses.append(pause_before_next(story.task("observe")))
        assert story.state == "CHECKING"
        story.run_later("observe")
    assert all(bare <= pause <= bare * 1.1 for bare, pause in zip((5, 10, 20, 40, 60), pauses, strict=True))
    assert story.standing == ("NEEDS_ATTENTION", "attempts_exhausted")
    task = story.task("observe")
    assert (task.status, task.attempt, task.last_error) == ("failed", 6, "timeout")
    assert not Observation.objects.filter(case_id=story.id).exists()


def test_a_system_that_comes_back_is_asked_again_and_the_case_goes_on(engine: Engine) -> None:
    story = engine.open()
    engine.outside.script("drop_before", method="GET", path=f"/payments/{story.payment}", times=2)
    story.run()
    story.run_later()
    assert story.state == "CHECKING"
    story.run_later()
    assert story.state == "WAITING_APPROVAL"
    ended = story.task("observe").attempts.order_by("number").values_list("outcome", "error")
    assert list(ended) == [("fault", "connection_lost"), ("fault", "connection_lost"), ("done", "")]


def test_the_wait_that_a_busy_system_asks_for_is_kept(engine: Engine) -> None:
    story = engine.open()
    engine.outside.script("too_many", method="GET", path=f"/payments/{story.payment}", retry_after=45)
    story.run()
    assert 45 <= pause_before_next(story.task("observe")) < 46


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"kind": "error_before", "status": 422}, "invalid_data"),
        ({"kind": "error_before", "status": 403}, "not_permitted"),
        ({"kind": "error_before", "status": 404}, "permanent_fault"),
        ({"kind": "garbage"}, "permanent_fault"),
    ],
)
def test_a_fault_that_does_not_pass_by_itself_asks_for_a_person_at_once(
    fault: dict[str, Any], reason: str, engine: Engine
) -> None:
    story = engine.open()
    engine.outside.script(method="GET", path=f"/payments/{story.payment}", times=None, **fault)
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", reason)
    assert story.task("observe").attempt == 1


def test_an_error_of_our_own_is_tried_again_and_named(engine: Engine) -> None:
    story = engine.open()

    def fail() -> None:
        raise RuntimeError("no such luck")

    hooks.at("after_read", fail)
    story.run()
    task = story.task("observe")
    assert (task.status, task.last_error, task.last_error_text) == (
        "due",
        "internal_error",
        "RuntimeError: no such luck",
    )
    story.run_later()
    assert story.state == "WAITING_APPROVAL"


def test_a_result_that_comes_after_the_case_moved_on_is_kept_and_moves_nothing(engine: Engine) -> None:
    story = engine.open()

    def close() -> None:
        with transaction.atomic():
            advance_case(story.row, Event.CLOSED_BY_PERSON, actor=SYSTEM)

    hooks.at("after_read", close)
    story.run()
    assert story.state == "CLOSED_NO_CHANGE"
    assert Observation.objects.filter(case_id=story.id).count() == 3
    assert story.task("observe").status == "done"
    assert not Task.objects.filter(case_id=story.id, stage="propose").exists()


def test_an_event_that_comes_after_the_case_moved_on_is_recorded_as_late(engine: Engine) -> None:
    story = engine.open()
    lease = claimed(story.task("check"))
    with transaction.atomic():
        advance_case(story.row, Event.CLOSED_BY_PERSON, actor=SYSTEM)
    with settlement(lease) as settling:
        assert settling.late
        settling.move(Event.CHECK_STARTED)
    assert settling.next_lease is None
    assert story.state == "CLOSED_NO_CHANGE"
    assert story.told("settlement.late") == {"event": "check_started", "stage": "check"}
    assert not Task.objects.filter(case_id=story.id, stage="observe").exists()


def test_facts_read_while_a_person_decides_are_stored_and_move_nothing(engine: Engine) -> None:
    story = engine.proposed()
    version = story.case.version
    publish(story.row, [NewTask("observe")])
    story.run()
    assert (story.state, story.case.version) == ("WAITING_APPROVAL", version)
    assert Observation.objects.filter(case_id=story.id).count() == 6
    assert Proposal.objects.filter(case_id=story.id).count() == 1
    assert not Task.objects.filter(case_id=story.id, stage="propose").exists()


def test_a_payment_that_is_not_confirmed_yet_is_read_every_15_minutes_until_one_end(engine: Engine) -> None:
    story = engine.open(payment={"status": "pending"})
    story.run()
    assert story.standing == ("WAITING_DATA", "payment_pending")
    until = story.case.wait_until
    assert until is not None and 86_390 < (until - timezone.now()).total_seconds() <= 86_400
    assert 890 < (story.task("recheck").available_at - timezone.now()).total_seconds() <= 900
    for _ in range(3):
        story.run_later("recheck")
        assert (story.standing, story.case.wait_until) == (("WAITING_DATA", "payment_pending"), until)
    assert Task.objects.filter(case_id=story.id, stage="data_due", status="due").values_list("available_at").last() == (
        until,
    )
    story.change("payments", status="confirmed")
    story.run_later("recheck")
    assert story.state == "WAITING_APPROVAL"
    assert story.case.wait_until is None


def test_a_wait_that_lasts_too_long_asks_for_a_person(engine: Engine) -> None:
    story = engine.open(payment={"status": "pending"})
    story.run()
    story.run_later("data_due")
    assert story.standing == ("NEEDS_ATTENTION", "waited_too_long")
    story.run_later("recheck")
    assert story.state == "NEEDS_ATTENTION"


@pytest.mark.parametrize(
    ("ticket", "state", "reason", "ending"),
    [
        ({"missing": ["payments"]}, "WAITING_DATA", "payment_not_found", "payment_not_found"),
        ({"missing": ["customers"]}, "WAITING_DATA", "customer_unknown", "customer_unknown"),
        ({"missing": ["subscriptions"]}, "WAITING_DATA", "subscription_not_found", "subscription_not_found"),
        ({"payment": {"status": "refunded"}}, "CLOSED_NO_CHANGE", "", "payment_refunded"),
        ({"payment": {"status": "failed"}}, "CLOSED_NO_CHANGE", "", "payment_failed"),
        ({"subscription": {"status": "active"}}, "CLOSED_NO_CHANGE", "", "already_active"),
        ({"payment": {"amount": "1.00"}}, "NEEDS_ATTENTION", "amount_differs", "amount_differs"),
        ({"payment": {"customer_id": "U-other"}}, "NEEDS_ATTENTION", "another_account", "another_account"),
        ({"subscription": {"customer_id": "U-other"}}, "NEEDS_ATTENTION", "another_account", "another_account"),
    ],
)
def test_each_ending_leads_where_the_process_says(
    ticket: dict[str, Any], state: str, reason: str, ending: str, engine: Engine
) -> None:
    story = engine.open(**ticket)
    story.run()
    case = story.case
    assert (case.state, case.reason, case.ending) == (state, reason, ending)
    assert story.writes() == []
    told = state == "CLOSED_NO_CHANGE" or ending in ("payment_not_found", "subscription_not_found")
    assert len(story.letters()) == told
    if state == "CLOSED_NO_CHANGE":
        assert case.outcome == "no_change"
        assert case.closed_at is not None


def test_a_reading_stored_with_the_lock_is_as_old_as_when_its_transaction_began(engine: Engine) -> None:
    story = engine.open()
    with transaction.atomic():
        ((began,),) = rows_of("SELECT now()")
        read = Fact("payment", {}, "payments", datetime.now(UTC), "call-1")
        storing = storing_readings(story.id, Readings({}, {}, (read,), 1), lambda: Sealer.of_case(story.id))
        (((_name, pk),),) = rows_of_each(*storing)
    assert Observation.objects.get(pk=pk).observed_at <= began, "the wait for the lock made it younger"
