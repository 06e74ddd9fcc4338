"""How things stand now: cases by state (H1), stopped cases (H4), actions without a known result (H5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .scope import Scope, ask, within


@dataclass(frozen=True, slots=True)
class StateCount:
    """Cases of one process in one state; `oldest` is since when the first of them is there, None where closed."""

    process: str
    state: str
    number: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class StoppedCount:
    """Cases of one process that need attention for one reason."""

    process: str
    reason: str
    number: int
    oldest: datetime


@dataclass(frozen=True, slots=True)
class UnknownCount:
    """UNKNOWN effects or notices of one system; `oldest` is when the first of them was sent."""

    system: str
    kind: str
    number: int
    oldest: datetime


@dataclass(frozen=True, slots=True)
class Totals:
    """The numbers beside the navigation. `oldest_…` is None where there are none."""

    open: int
    decisions: int  #: cases that wait for a decision, whoever may take it
    oldest_decision: datetime | None
    attention: int
    oldest_attention: datetime | None
    unknown: int  #: effects only: a message whose fate is unknown is nobody's emergency
    oldest_unknown: datetime | None


_STATES = f"""
SELECT process, state, count(*), min(state_since) FILTER (WHERE closed_at IS NULL) FROM cases_case
WHERE {within("organisation_id")} AND (%(closed)s OR closed_at IS NULL) GROUP BY process, state ORDER BY 1, 2
"""

_STOPPED = f"""
SELECT process, reason, count(*), min(state_since) FROM cases_case
WHERE {within("organisation_id")} AND closed_at IS NULL AND state = 'NEEDS_ATTENTION'
GROUP BY process, reason ORDER BY 4, 1, 2
"""

_UNKNOWN = f"""
SELECT system, kind, count(*), min(first_sent_at) FROM actions_action
WHERE {within("organisation_id")} AND status = 'UNKNOWN' GROUP BY system, kind ORDER BY 4, 1, 2
"""

_TOTALS = f"""
WITH cases AS (
  SELECT count(*) AS open, count(*) FILTER (WHERE state = 'WAITING_APPROVAL') AS decisions,
         min(state_since) FILTER (WHERE state = 'WAITING_APPROVAL') AS oldest_decision,
         count(*) FILTER (WHERE state = 'NEEDS_ATTENTION') AS attention,
         min(state_since) FILTER (WHERE state = 'NEEDS_ATTENTION') AS oldest_attention
  FROM cases_case WHERE {within("organisation_id")} AND closed_at IS NULL),
doubts AS (
  SELECT count(*) AS unknown, min(first_sent_at) AS oldest_unknown FROM actions_action
  WHERE {within("organisation_id")} AND status = 'UNKNOWN' AND kind = 'effect')
SELECT * FROM cases, doubts
"""


def count_states(scope: Scope, *, closed: bool = False) -> list[StateCount]:
    """H1: cases per process and state; closed ones only when asked for, as they are the many."""
    return [StateCount(*row) for row in ask(_STATES, scope, closed=closed)]


def count_stopped(scope: Scope) -> list[StoppedCount]:
    """H4: NEEDS_ATTENTION by reason, what waits longest first."""
    return [StoppedCount(*row) for row in ask(_STOPPED, scope)]


def count_unknown(scope: Scope) -> list[UnknownCount]:
    """H5: actions whose result nobody knows, the longest in doubt first."""
    return [UnknownCount(*row) for row in ask(_UNKNOWN, scope)]


def count_totals(scope: Scope) -> Totals:
    """What a badge shows; equal to the sums of the lists above at the same moment."""
    return Totals(*ask(_TOTALS, scope)[0])
