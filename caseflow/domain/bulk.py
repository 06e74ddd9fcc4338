"""What a person may order for many cases at once: nothing that changes an outside system, and no approval.

Pure: which kinds there are, who may order them, how fast they run, and why a case of the list is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from .lifecycle import CLOSED, Guard, State, Table
from .recovery import Kind, Standing, obstacle
from .roles import Right


class BulkKind(StrEnum):
    OBSERVE_AGAIN = "observe_again"
    RECONCILE = "reconcile"
    ASK_DATA = "ask_data"
    HAND_OVER = "hand_over"


#: Asked for again when the turn of each case comes. Asking for data is what a decider says of a proposal.
RIGHTS: Mapping[BulkKind, tuple[Right, ...]] = {
    BulkKind.OBSERVE_AGAIN: (Right.RECOVER,),
    BulkKind.RECONCILE: (Right.RECOVER,),
    BulkKind.ASK_DATA: (Right.RECOVER, Right.DECIDE),
    BulkKind.HAND_OVER: (Right.RECOVER, Right.SUPPLY_DATA),
}

#: The kinds that are recoveries of single cases.
RECOVERIES: Mapping[BulkKind, Kind] = {
    BulkKind.OBSERVE_AGAIN: Kind.OBSERVE_AGAIN,
    BulkKind.RECONCILE: Kind.RECONCILE,
}

MAX_CASES = 2_000  #: of one bulk; a longer list is narrowed first
RATES = (10, 30, 60, 300, 600)  #: cases a minute
USUAL_RATE = 60  #: cases a minute
PREVIEW_LIFE = timedelta(hours=1)  #: a list that was looked at longer ago is looked at anew


class Skip(StrEnum):
    """Why nothing was ordered for a case of the list."""

    CLOSED = "closed"
    CHECKING = "checking"
    NOT_STOPPED = "not_stopped"
    IN_DOUBT = "in_doubt"
    NOTHING_IN_DOUBT = "nothing_in_doubt"
    ANSWERED = "no_answer_is_missing"
    NOT_WAITING = "not_waiting"
    EXPIRED = "expired"
    CAUSER = "causer"
    NOT_THEIRS = "not_theirs"  #: whom it was to be given to has no right there
    NOT_PERMITTED = "not_permitted"
    NO_PROCESS = "process_missing"
    MOVED_ON = "moved_on"  #: between the preview and its turn
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Pace:
    """So many cases at once, then a break."""

    cases: int
    every: timedelta


def pace_of(rate: int) -> Pace:
    """`rate` cases a minute, spread over it: a tick a second, or slower than that one case a tick."""
    cases = max(1, rate // 60)
    return Pace(cases, timedelta(seconds=60 * cases / rate))


def why_skipped(kind: Kind, standing: Standing, table: Table) -> Skip | None:
    """Why this recovery would not be accepted for a case now; None where it would."""
    found = obstacle(kind, standing, table)
    if found is None:
        return None
    if standing.state in CLOSED:
        return Skip.CLOSED
    if standing.state in (State.RECEIVED, State.CHECKING):
        return Skip.CHECKING
    if Guard.NO_EFFECTS_OPEN in found.guards:
        return Skip.IN_DOUBT
    if kind is Kind.RECONCILE:
        return Skip.ANSWERED if found.code == Skip.ANSWERED else Skip.NOTHING_IN_DOUBT
    return Skip.NOT_STOPPED
