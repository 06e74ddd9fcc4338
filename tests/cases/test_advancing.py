"""One writer moves a case; everything else is refused, at the latest when it is stored."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from django.db import IntegrityError, connection, transaction

from accounts.principal import SYSTEM
from audit.models import AuditEvent
from caseflow.domain.errors import ForbiddenTransition, StaleCase
from caseflow.domain.lifecycle import Event
from cases.advancing import advance_case, advance_case_soon, record_event, record_event_soon
from cases.claiming import Lease
from cases.settling import settlement
from cases.stages import all_stages
from tests.driving import Engine, Story, claimed, fingerprint, together


def move(story: Story, event: Event, **more: object) -> None:
    with transaction.atomic():
        advance_case(story.row, event, actor=SYSTEM, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        "state = 'CHECKING'",
        "state = 'CHECKING', version = version + 1",
        "version = version + 1",
        "state = 'COMPLETED', version = version + 1, closed_at = now(), outcome = 'done'",
        "state = 'CHECKING', version = version + 2",
        "state = 'CHECKING', version = version + 1, audit_count = audit_count + 1",
        "audit_count = audit_count - 1",
        "audit_head = sha256(audit_head)",
    ],
)
def test_a_state_written_past_the_one_writer_is_refused_when_it_is_stored(change: str, engine: Engine) -> None:
    story = engine.open()
    before = fingerprint()
    refused = pytest.raises(IntegrityError, match=r"unexplained change|change only together|has no event")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE cases_case SET {change} WHERE id = %s", [story.id])
        assert cursor.rowcount == 1  # the statement itself is allowed; storing it is not
    assert fingerprint() == before


def test_a_case_that_no_ticket_opened_is_refused_when_it_is_stored(engine: Engine) -> None:
    story = engine.open()
    with pytest.raises(IntegrityError, match="unexplained change"):
        case = story.case
        case.pk, case.public_id, case.external_id_normal = None, "C-0000000000", "T-other"
        case.save(force_insert=True)
    assert story.history() == ["case.opened"]


def test_two_honest_moves_fit_into_one_transaction(engine: Engine) -> None:
    story = engine.open()
    with transaction.atomic():
        moved = advance_case(story.row, Event.CHECK_STARTED, actor=SYSTEM)
        advance_case(moved.case, Event.PERSON_NEEDED, actor=SYSTEM, sets={"reason": "unclear_facts"})
    assert story.standing == ("NEEDS_ATTENTION", "unclear_facts")
    assert story.case.version == 3


def test_of_fifty_at_the_same_instant_one_moves_the_case(engine: Engine) -> None:
    story = engine.open()
    row = story.row

    def start() -> int:
        with transaction.atomic():
            return advance_case(row, Event.CHECK_STARTED, actor=SYSTEM).case.version

    results = together(*[start] * 50)
    assert [result for result in results if not isinstance(result, StaleCase)] == [2]
    assert story.case.version == 2
    assert story.history() == ["case.opened", "case.check_started"]


def test_whoever_looked_earlier_is_told_which_version_it_is_now(engine: Engine) -> None:
    story = engine.open()
    old = story.row
    move(story, Event.CHECK_STARTED)
    with pytest.raises(StaleCase) as refusal, transaction.atomic():
        advance_case(old, Event.CHECK_STARTED, actor=SYSTEM)
    assert refusal.value.params == {"seen": 1, "current": 2}


def test_a_case_that_came_back_to_the_same_state_is_not_the_case_that_was_looked_at(engine: Engine) -> None:
    story = engine.open()
    move(story, Event.CHECK_STARTED)
    old = story.row
    move(story, Event.PERSON_NEEDED)
    move(story, Event.OBSERVE_AGAIN)
    assert story.state == old.state
    with pytest.raises(StaleCase) as refusal, transaction.atomic():
        advance_case(old, Event.PERSON_NEEDED, actor=SYSTEM)
    assert refusal.value.params == {"seen": 2, "current": 4}
    assert story.state == "CHECKING"


def test_a_case_with_an_effect_in_doubt_cannot_be_closed_by_anybody(engine: Engine) -> None:
    story = engine.open()
    with transaction.atomic():
        record_event(story.row, "action.requested", actor=SYSTEM, adds={"effects_open": 1})
    with pytest.raises(ForbiddenTransition):
        move(story, Event.CLOSED_BY_PERSON)
    move(story, Event.CLOSED_BY_PERSON, adds={"effects_open": -1})
    assert (story.state, story.case.outcome) == ("CLOSED_NO_CHANGE", "no_change")


def test_a_case_with_a_confirmed_effect_is_never_closed_as_unchanged(engine: Engine) -> None:
    story = engine.open()
    with transaction.atomic():
        record_event(story.row, "action.confirmed", actor=SYSTEM, adds={"effects_done": 1})
    with pytest.raises(ForbiddenTransition):
        move(story, Event.CLOSED_BY_PERSON)
    assert story.state == "RECEIVED"


def test_a_plan_that_began_cannot_go_back_to_checking(engine: Engine) -> None:
    story = engine.approved()
    with transaction.atomic():
        record_event(story.row, "action.requested", actor=SYSTEM, sets={"plan_begun": True})
    for event in (Event.WITHDRAWN, Event.FACTS_CHANGED, Event.APPROVAL_LAPSED):
        with pytest.raises(ForbiddenTransition):
            move(story, event)
    assert story.state == "EXECUTING"


def test_a_move_that_is_not_waited_for_is_refused_where_the_case_is_not_as_it_was_held(engine: Engine) -> None:
    story = engine.open()
    old = story.row
    move(story, Event.CHECK_STARTED)
    with pytest.raises(IntegrityError, match="organisation_id"), transaction.atomic():
        advance_case_soon(old, Event.CHECK_STARTED, actor=SYSTEM)
    with pytest.raises(IntegrityError, match="organisation_id"), transaction.atomic():
        record_event_soon(replace(old, id=2**40), "case.noted", actor=SYSTEM)
    assert story.history() == ["case.opened", "case.check_started"]


def test_a_move_that_is_not_waited_for_heeds_the_guards(engine: Engine) -> None:
    story = engine.approved()
    begun = replace(story.row, plan_begun=True)
    for event in (Event.WITHDRAWN, Event.FACTS_CHANGED, Event.APPROVAL_LAPSED):
        with pytest.raises(ForbiddenTransition), transaction.atomic():
            advance_case_soon(begun, event, actor=SYSTEM)
    with pytest.raises(ForbiddenTransition), transaction.atomic():
        advance_case_soon(replace(begun, effects_open=1), Event.EFFECTS_CONFIRMED, actor=SYSTEM)
    assert story.state == "EXECUTING"


def test_a_column_that_no_transition_sets_cannot_be_smuggled_in(engine: Engine) -> None:
    story = engine.open()
    for sets in ({"state": "COMPLETED"}, {"version": 9}, {"organisation_id": 1}, {"outcome = 'done' --": 1}):
        with pytest.raises(ValueError, match="not a column of a transition"):
            move(story, Event.CHECK_STARTED, sets=sets)
    assert story.case.version == 1


def test_a_received_case_cannot_be_completed_and_the_try_is_recorded(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = engine.open()
    task = story.task("check")

    def complete(lease: Lease) -> None:
        with settlement(lease) as settling:
            settling.move(Event.NOTICES_CONFIRMED)

    # A worker of another release whose stage is wrong.
    wrong = {"check": _stage_that(complete)}
    monkeypatch.setattr("cases.stages._stages", all_stages() | wrong)
    story.run()
    monkeypatch.undo()
    assert story.standing == ("NEEDS_ATTENTION", "permanent_fault")
    assert "case.notices_confirmed" not in story.history()
    refused = story.told("transition.refused")
    assert (refused["event"], refused["state"], refused["task"]) == ("notices_confirmed", "RECEIVED", task.pk)
    assert list(task.attempts.values_list("outcome", "error")) == [("fault", "forbidden_transition")]


def _stage_that(run: object) -> object:
    return replace(all_stages()["check"], run=run, begin=None, becomes="")  # type: ignore[arg-type]


def test_every_version_of_a_case_has_one_audit_row_with_its_way(engine: Engine) -> None:
    story = engine.approved()
    story.run()
    rows = AuditEvent.objects.filter(case_id=story.id, version__isnull=False).order_by("version")
    path = [(row.version, row.from_state, row.to_state) for row in rows]
    assert [version for version, _, _ in path] == list(range(1, story.case.version + 1))
    assert all(before[2] == after[1] for before, after in pairwise(path))
    assert path[-1][2] == "COMPLETED"


def test_a_settlement_fires_one_event(engine: Engine) -> None:
    story = engine.open()
    lease = claimed(story.task("check"))
    with pytest.raises(ValueError, match="one event"), settlement(lease) as settling:
        settling.move(Event.CHECK_STARTED)
        settling.move(Event.CHECK_STARTED)
    assert story.case.version == 1
