"""Where a case may stand, what may happen, and what follows (design §4). The table alone joins events and states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from .errors import ForbiddenTransition


class State(StrEnum):
    RECEIVED = "RECEIVED"
    CHECKING = "CHECKING"
    WAITING_DATA = "WAITING_DATA"
    WAITING_APPROVAL = "WAITING_APPROVAL"
    EXECUTING = "EXECUTING"
    NOTIFYING = "NOTIFYING"
    NEEDS_ATTENTION = "NEEDS_ATTENTION"
    COMPLETED = "COMPLETED"
    CLOSED_NO_CHANGE = "CLOSED_NO_CHANGE"


CLOSED = frozenset({State.COMPLETED, State.CLOSED_NO_CHANGE})
OPEN = frozenset(State) - CLOSED


class Event(StrEnum):
    CHECK_STARTED = "check_started"
    PROPOSAL_READY = "proposal_ready"
    PLAN_READY = "plan_ready"
    NOTHING_TO_DO = "nothing_to_do"
    CLOSING_NOTICE_DUE = "closing_notice_due"
    DATA_MISSING = "data_missing"
    NOT_YET = "not_yet"
    PERSON_NEEDED = "person_needed"
    DATA_RECEIVED = "data_received"
    RECHECK_DUE = "recheck_due"
    WAITED_TOO_LONG = "waited_too_long"
    QUORUM_REACHED = "quorum_reached"
    REJECTED_TO_CLOSE = "rejected_to_close"
    REJECTED_TO_CLOSE_WITH_NOTICE = "rejected_to_close_with_notice"
    REJECTED_TO_HAND = "rejected_to_hand"
    DATA_ASKED = "data_asked"
    RETURNED = "returned"
    RETURNED_TOO_OFTEN = "returned_too_often"
    ASKED_AGAIN = "asked_again"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    FACTS_CHANGED = "facts_changed"
    APPROVAL_LAPSED = "approval_lapsed"
    PARTLY_DONE = "partly_done"
    EFFECTS_CONFIRMED = "effects_confirmed"
    EFFECTS_CONFIRMED_WITHOUT_NOTICES = "effects_confirmed_without_notices"
    UNDONE = "undone"
    UNDONE_WITHOUT_NOTICES = "undone_without_notices"
    EFFECT_REFUSED = "effect_refused"
    EFFECT_UNKNOWN = "effect_unknown"
    EFFECT_NOT_APPLIED = "effect_not_applied"
    NOTICES_CONFIRMED = "notices_confirmed"
    CLOSING_NOTICES_CONFIRMED = "closing_notices_confirmed"
    UNDOING_NOTICES_CONFIRMED = "undoing_notices_confirmed"
    NOTICES_UNCONFIRMED = "notices_unconfirmed"
    OBSERVE_AGAIN = "observe_again"
    INPUT_CORRECTED = "input_corrected"
    RECONCILE_ORDERED = "reconcile_ordered"
    REPEAT_ORDERED = "repeat_ordered"
    RESULT_BY_HAND = "result_by_hand"
    NOTICE_ORDERED = "notice_ordered"
    FINISHED_WITHOUT_NOTICE = "finished_without_notice"
    FINISHED_WITHOUT_CLOSING_NOTICE = "finished_without_closing_notice"
    FINISHED_BY_HAND = "finished_by_hand"
    CLOSED_BY_PERSON = "closed_by_person"
    EXHAUSTED = "exhausted"


class Guard(StrEnum):
    """A condition on the columns of the case row, tested in the statement that moves the case."""

    PLAN_NOT_BEGUN = "plan_not_begun"
    PLAN_BEGUN = "plan_begun"
    NO_EFFECTS_OPEN = "no_effects_open"
    NO_EFFECTS_DONE = "no_effects_done"


class Outcome(StrEnum):
    """What a closed case achieved."""

    DONE = "done"
    PARTIAL = "partial"
    BY_HAND = "by_hand"
    UNDONE = "undone"
    NO_CHANGE = "no_change"


class When(StrEnum):
    """When a started stage is due."""

    NOW = "now"
    GIVEN = "given"  #: the caller names the moment, or the stage is not started


@dataclass(frozen=True, slots=True)
class Start:
    """A stage that a transition publishes as a task."""

    stage: str
    when: When = When.NOW


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table."""

    source: State
    event: Event
    target: State
    starts: tuple[Start, ...] = ()
    guards: frozenset[Guard] = frozenset()
    outcome: Outcome | None = None


class Table:
    """The transitions of one process. Raises ValueError when an event is ambiguous or leaves a closed state."""

    def __init__(self, rows: Iterable[Transition]) -> None:
        self._rows: dict[tuple[State, Event], Transition] = {}
        for row in rows:
            if row.source in CLOSED:
                raise ValueError(f"{row.source} is closed and has no exit, but {row.event} leaves it")
            if (row.source, row.event) in self._rows:
                raise ValueError(f"{row.event} in {row.source} is ambiguous")
            self._rows[row.source, row.event] = row

    def __iter__(self) -> Iterator[Transition]:
        return iter(self._rows.values())

    def find(self, state: State, event: Event) -> Transition | None:
        return self._rows.get((state, event))

    def get(self, state: State, event: Event) -> Transition:
        """Raises ForbiddenTransition where the table has no such row."""
        row = self.find(state, event)
        if row is None:
            raise ForbiddenTransition(state=state, event=event)
        return row

    def unreachable(self) -> set[State]:
        """States that no path from RECEIVED reaches."""
        reached, frontier = {State.RECEIVED}, [State.RECEIVED]
        while frontier:
            here = frontier.pop()
            for row in self:
                if row.source is here and row.target not in reached:
                    reached.add(row.target)
                    frontier.append(row.target)
        return set(State) - reached


def _given(*stages: str) -> tuple[Start, ...]:
    return tuple(Start(stage, When.GIVEN) for stage in stages)


_OBSERVE = (Start("observe"),)
_WAIT_FOR_PERSON = _given("expire")
_BEFORE_SENDING = frozenset({Guard.PLAN_NOT_BEGUN, Guard.NO_EFFECTS_OPEN})
_SETTLED = frozenset({Guard.NO_EFFECTS_OPEN})
_UNTOUCHED = frozenset({Guard.NO_EFFECTS_OPEN, Guard.NO_EFFECTS_DONE})

_S, _E, _T = State, Event, Transition

_ROWS = [
    _T(_S.RECEIVED, _E.CHECK_STARTED, _S.CHECKING, _OBSERVE),
    _T(_S.CHECKING, _E.PROPOSAL_READY, _S.WAITING_APPROVAL, _WAIT_FOR_PERSON, _SETTLED),
    _T(_S.CHECKING, _E.PLAN_READY, _S.EXECUTING, _given("execute"), _SETTLED),
    _T(_S.CHECKING, _E.NOTHING_TO_DO, _S.CLOSED_NO_CHANGE, (), _SETTLED, Outcome.NO_CHANGE),
    _T(_S.CHECKING, _E.CLOSING_NOTICE_DUE, _S.NOTIFYING, _given("notify"), _SETTLED),
    _T(_S.CHECKING, _E.DATA_MISSING, _S.WAITING_DATA, _given("notify", "data_due")),
    _T(_S.CHECKING, _E.NOT_YET, _S.WAITING_DATA, _given("recheck", "data_due")),
    _T(_S.CHECKING, _E.PERSON_NEEDED, _S.NEEDS_ATTENTION),
    _T(_S.WAITING_DATA, _E.DATA_RECEIVED, _S.CHECKING, _OBSERVE),
    _T(_S.WAITING_DATA, _E.RECHECK_DUE, _S.CHECKING, _OBSERVE),
    _T(_S.WAITING_DATA, _E.WAITED_TOO_LONG, _S.NEEDS_ATTENTION),
    _T(_S.WAITING_APPROVAL, _E.QUORUM_REACHED, _S.EXECUTING, _given("execute"), _SETTLED),
    _T(_S.WAITING_APPROVAL, _E.REJECTED_TO_CLOSE, _S.CLOSED_NO_CHANGE, (), _UNTOUCHED, Outcome.NO_CHANGE),
    _T(_S.WAITING_APPROVAL, _E.REJECTED_TO_CLOSE_WITH_NOTICE, _S.NOTIFYING, _given("notify"), _UNTOUCHED),
    _T(_S.WAITING_APPROVAL, _E.REJECTED_TO_HAND, _S.NEEDS_ATTENTION),
    _T(_S.WAITING_APPROVAL, _E.DATA_ASKED, _S.WAITING_DATA, _given("notify", "data_due")),
    _T(_S.WAITING_APPROVAL, _E.RETURNED, _S.CHECKING, _OBSERVE),
    _T(_S.WAITING_APPROVAL, _E.RETURNED_TOO_OFTEN, _S.NEEDS_ATTENTION),
    _T(_S.WAITING_APPROVAL, _E.ASKED_AGAIN, _S.CHECKING, _OBSERVE, _SETTLED),
    _T(_S.WAITING_APPROVAL, _E.DATA_RECEIVED, _S.CHECKING, _OBSERVE),
    _T(_S.WAITING_APPROVAL, _E.EXPIRED, _S.NEEDS_ATTENTION),
    # Too few people are left who may decide (ADR 0004).
    _T(_S.WAITING_APPROVAL, _E.PERSON_NEEDED, _S.NEEDS_ATTENTION),
    _T(_S.EXECUTING, _E.WITHDRAWN, _S.WAITING_APPROVAL, _WAIT_FOR_PERSON, _BEFORE_SENDING),
    _T(_S.EXECUTING, _E.FACTS_CHANGED, _S.CHECKING, _OBSERVE, _BEFORE_SENDING),
    _T(_S.EXECUTING, _E.APPROVAL_LAPSED, _S.CHECKING, _OBSERVE, _BEFORE_SENDING),
    _T(_S.EXECUTING, _E.RETURNED_TOO_OFTEN, _S.NEEDS_ATTENTION, (), _BEFORE_SENDING),
    _T(_S.EXECUTING, _E.PARTLY_DONE, _S.NEEDS_ATTENTION, (), frozenset({Guard.PLAN_BEGUN})),
    _T(_S.EXECUTING, _E.EFFECTS_CONFIRMED, _S.NOTIFYING, _given("notify"), _SETTLED),
    _T(_S.EXECUTING, _E.EFFECTS_CONFIRMED_WITHOUT_NOTICES, _S.COMPLETED, (), _SETTLED, Outcome.DONE),
    # A plan of nothing but compensations ends in another outcome than the plan it undoes.
    _T(_S.EXECUTING, _E.UNDONE, _S.NOTIFYING, _given("notify"), _SETTLED),
    _T(_S.EXECUTING, _E.UNDONE_WITHOUT_NOTICES, _S.COMPLETED, (), _SETTLED, Outcome.UNDONE),
    _T(_S.EXECUTING, _E.EFFECT_REFUSED, _S.NEEDS_ATTENTION),
    _T(_S.EXECUTING, _E.EFFECT_UNKNOWN, _S.NEEDS_ATTENTION),
    _T(_S.EXECUTING, _E.EFFECT_NOT_APPLIED, _S.NEEDS_ATTENTION),
    _T(_S.NOTIFYING, _E.NOTICES_CONFIRMED, _S.COMPLETED, (), _SETTLED, Outcome.DONE),
    _T(_S.NOTIFYING, _E.CLOSING_NOTICES_CONFIRMED, _S.CLOSED_NO_CHANGE, (), _SETTLED, Outcome.NO_CHANGE),
    _T(_S.NOTIFYING, _E.UNDOING_NOTICES_CONFIRMED, _S.COMPLETED, (), _SETTLED, Outcome.UNDONE),
    _T(_S.NOTIFYING, _E.NOTICES_UNCONFIRMED, _S.NEEDS_ATTENTION),
    _T(_S.NEEDS_ATTENTION, _E.OBSERVE_AGAIN, _S.CHECKING, _OBSERVE, _SETTLED),
    _T(_S.NEEDS_ATTENTION, _E.INPUT_CORRECTED, _S.CHECKING, _OBSERVE, _SETTLED),
    _T(_S.NEEDS_ATTENTION, _E.RECONCILE_ORDERED, _S.EXECUTING, _given("reconcile"), frozenset({Guard.PLAN_BEGUN})),
    _T(_S.NEEDS_ATTENTION, _E.REPEAT_ORDERED, _S.EXECUTING, _given("execute"), frozenset({Guard.PLAN_BEGUN})),
    _T(_S.NEEDS_ATTENTION, _E.RESULT_BY_HAND, _S.EXECUTING, _given("execute"), frozenset({Guard.PLAN_BEGUN})),
    _T(_S.NEEDS_ATTENTION, _E.NOTICE_ORDERED, _S.NOTIFYING, _given("notify"), _SETTLED),
    _T(_S.NEEDS_ATTENTION, _E.FINISHED_WITHOUT_NOTICE, _S.COMPLETED, (), _SETTLED, Outcome.PARTIAL),
    _T(_S.NEEDS_ATTENTION, _E.FINISHED_WITHOUT_CLOSING_NOTICE, _S.CLOSED_NO_CHANGE, (), _UNTOUCHED, Outcome.NO_CHANGE),
    _T(_S.NEEDS_ATTENTION, _E.FINISHED_BY_HAND, _S.COMPLETED, (), _SETTLED, Outcome.BY_HAND),
]
_ROWS += [
    _T(state, _E.CLOSED_BY_PERSON, _S.CLOSED_NO_CHANGE, (), _UNTOUCHED, Outcome.NO_CHANGE) for state in sorted(OPEN)
]
_ROWS += [_T(state, _E.EXHAUSTED, _S.NEEDS_ATTENTION) for state in sorted(OPEN - {_S.NEEDS_ATTENTION})]

STANDARD = Table(_ROWS)
