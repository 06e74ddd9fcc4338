"""Where a case may stand and what may happen to it: the table of design §4, row by row."""

from __future__ import annotations

import pytest

from caseflow.domain.errors import ForbiddenTransition
from caseflow.domain.lifecycle import CLOSED, OPEN, STANDARD, Event, Guard, State, Table, Transition

S, E = State, Event

#: The business rule, written down a second time: (from, event) → (to, the guards that must hold).
ALLOWED = {
    (S.RECEIVED, E.CHECK_STARTED): (S.CHECKING, ""),
    (S.CHECKING, E.PROPOSAL_READY): (S.WAITING_APPROVAL, "open"),
    (S.CHECKING, E.PLAN_READY): (S.EXECUTING, "open"),
    (S.CHECKING, E.NOTHING_TO_DO): (S.CLOSED_NO_CHANGE, "open"),
    (S.CHECKING, E.CLOSING_NOTICE_DUE): (S.NOTIFYING, "open"),
    (S.CHECKING, E.DATA_MISSING): (S.WAITING_DATA, ""),
    (S.CHECKING, E.NOT_YET): (S.WAITING_DATA, ""),
    (S.CHECKING, E.PERSON_NEEDED): (S.NEEDS_ATTENTION, ""),
    (S.WAITING_DATA, E.DATA_RECEIVED): (S.CHECKING, ""),
    (S.WAITING_DATA, E.RECHECK_DUE): (S.CHECKING, ""),
    (S.WAITING_DATA, E.WAITED_TOO_LONG): (S.NEEDS_ATTENTION, ""),
    (S.WAITING_APPROVAL, E.QUORUM_REACHED): (S.EXECUTING, "open"),
    (S.WAITING_APPROVAL, E.REJECTED_TO_CLOSE): (S.CLOSED_NO_CHANGE, "open done"),
    (S.WAITING_APPROVAL, E.REJECTED_TO_CLOSE_WITH_NOTICE): (S.NOTIFYING, "open done"),
    (S.WAITING_APPROVAL, E.REJECTED_TO_HAND): (S.NEEDS_ATTENTION, ""),
    (S.WAITING_APPROVAL, E.DATA_ASKED): (S.WAITING_DATA, ""),
    (S.WAITING_APPROVAL, E.RETURNED): (S.CHECKING, ""),
    (S.WAITING_APPROVAL, E.RETURNED_TOO_OFTEN): (S.NEEDS_ATTENTION, ""),
    (S.WAITING_APPROVAL, E.ASKED_AGAIN): (S.CHECKING, "open"),
    (S.WAITING_APPROVAL, E.DATA_RECEIVED): (S.CHECKING, ""),
    (S.WAITING_APPROVAL, E.EXPIRED): (S.NEEDS_ATTENTION, ""),
    (S.WAITING_APPROVAL, E.PERSON_NEEDED): (S.NEEDS_ATTENTION, ""),
    (S.EXECUTING, E.WITHDRAWN): (S.WAITING_APPROVAL, "not_begun open"),
    (S.EXECUTING, E.FACTS_CHANGED): (S.CHECKING, "not_begun open"),
    (S.EXECUTING, E.APPROVAL_LAPSED): (S.CHECKING, "not_begun open"),
    (S.EXECUTING, E.RETURNED_TOO_OFTEN): (S.NEEDS_ATTENTION, "not_begun open"),
    (S.EXECUTING, E.PARTLY_DONE): (S.NEEDS_ATTENTION, "begun"),
    (S.EXECUTING, E.EFFECTS_CONFIRMED): (S.NOTIFYING, "open"),
    (S.EXECUTING, E.EFFECTS_CONFIRMED_WITHOUT_NOTICES): (S.COMPLETED, "open"),
    (S.EXECUTING, E.UNDONE): (S.NOTIFYING, "open"),
    (S.EXECUTING, E.UNDONE_WITHOUT_NOTICES): (S.COMPLETED, "open"),
    (S.EXECUTING, E.EFFECT_REFUSED): (S.NEEDS_ATTENTION, ""),
    (S.EXECUTING, E.EFFECT_UNKNOWN): (S.NEEDS_ATTENTION, ""),
    (S.EXECUTING, E.EFFECT_NOT_APPLIED): (S.NEEDS_ATTENTION, ""),
    (S.NOTIFYING, E.NOTICES_CONFIRMED): (S.COMPLETED, "open"),
    (S.NOTIFYING, E.CLOSING_NOTICES_CONFIRMED): (S.CLOSED_NO_CHANGE, "open"),
    (S.NOTIFYING, E.UNDOING_NOTICES_CONFIRMED): (S.COMPLETED, "open"),
    (S.NOTIFYING, E.NOTICES_UNCONFIRMED): (S.NEEDS_ATTENTION, ""),
    (S.NEEDS_ATTENTION, E.OBSERVE_AGAIN): (S.CHECKING, "open"),
    (S.NEEDS_ATTENTION, E.INPUT_CORRECTED): (S.CHECKING, "open"),
    (S.NEEDS_ATTENTION, E.RECONCILE_ORDERED): (S.EXECUTING, "begun"),
    (S.NEEDS_ATTENTION, E.REPEAT_ORDERED): (S.EXECUTING, "begun"),
    (S.NEEDS_ATTENTION, E.RESULT_BY_HAND): (S.EXECUTING, "begun"),
    (S.NEEDS_ATTENTION, E.NOTICE_ORDERED): (S.NOTIFYING, "open"),
    (S.NEEDS_ATTENTION, E.FINISHED_WITHOUT_NOTICE): (S.COMPLETED, "open"),
    (S.NEEDS_ATTENTION, E.FINISHED_WITHOUT_CLOSING_NOTICE): (S.CLOSED_NO_CHANGE, "open done"),
    (S.NEEDS_ATTENTION, E.FINISHED_BY_HAND): (S.COMPLETED, "open"),
}
ALLOWED |= {(state, E.CLOSED_BY_PERSON): (S.CLOSED_NO_CHANGE, "open done") for state in OPEN}
ALLOWED |= {(state, E.EXHAUSTED): (S.NEEDS_ATTENTION, "") for state in OPEN - {S.NEEDS_ATTENTION}}

GUARDS = {
    "open": Guard.NO_EFFECTS_OPEN,
    "done": Guard.NO_EFFECTS_DONE,
    "begun": Guard.PLAN_BEGUN,
    "not_begun": Guard.PLAN_NOT_BEGUN,
}


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("event", list(Event))
def test_an_event_moves_a_case_exactly_where_the_table_says_so(state: State, event: Event) -> None:
    if (state, event) not in ALLOWED:
        with pytest.raises(ForbiddenTransition):
            STANDARD.get(state, event)
        return

    row = STANDARD.get(state, event)

    target, guards = ALLOWED[state, event]
    assert row.target is target
    assert row.guards == {GUARDS[name] for name in guards.split()}


@pytest.mark.parametrize("state", sorted(CLOSED))
def test_nothing_leaves_a_closed_state(state: State) -> None:
    assert [event for event in Event if STANDARD.find(state, event)] == []


def test_every_way_into_a_closed_state_says_what_was_achieved() -> None:
    assert all((row.outcome is not None) == (row.target in CLOSED) for row in STANDARD)


def test_every_state_can_be_reached() -> None:
    assert STANDARD.unreachable() == set()


def test_a_received_case_cannot_be_completed_by_any_event() -> None:
    assert State.COMPLETED not in {row.target for row in STANDARD if row.source is State.RECEIVED}


def test_a_table_with_an_exit_from_a_closed_state_is_refused() -> None:
    with pytest.raises(ValueError, match="has no exit"):
        Table([Transition(State.COMPLETED, Event.OBSERVE_AGAIN, State.CHECKING)])


def test_a_table_in_which_one_event_has_two_targets_is_refused() -> None:
    row = Transition(State.RECEIVED, Event.CHECK_STARTED, State.CHECKING)
    with pytest.raises(ValueError, match="ambiguous"):
        Table([row, Transition(State.RECEIVED, Event.CHECK_STARTED, State.NEEDS_ATTENTION)])
