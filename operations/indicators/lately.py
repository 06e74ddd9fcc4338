"""What happened in the last minutes, for `/metrics`: the cost follows the load of now, never the history.

Prometheus keeps the past itself; a number of every attempt there ever was would have to be counted each time.
"""

from __future__ import annotations

from dataclasses import dataclass

from .scope import RECENT, SINCE, Scope, ask, within


@dataclass(frozen=True, slots=True)
class AttemptsLately:
    """Attempts of one stage that began lately, by outcome: done, fault, worker_lost, given_back, late, or `running`."""

    stage: str
    outcome: str
    number: int


@dataclass(frozen=True, slots=True)
class CallsLately:
    """Calls for actions that began lately, by what came of them; `open` for those under way. Seconds of ended ones."""

    system: str
    kind: str  #: perform, lookup, read
    outcome: str
    number: int
    seconds: float
    slowest: float


@dataclass(frozen=True, slots=True)
class MovesLately:
    """Cases of one process that lately were opened, completed, closed_no_change or stopped for a person."""

    process: str
    move: str
    number: int


@dataclass(frozen=True, slots=True)
class DecisionsLately:
    """Decisions of one kind on cases of one process."""

    process: str
    kind: str
    number: int


_ATTEMPTS = f"""
SELECT t.stage, CASE a.outcome WHEN '' THEN 'running' ELSE a.outcome END, count(*)
FROM cases_attempt a JOIN cases_task t ON t.id = a.task_id
WHERE a.begun_at > {SINCE} AND {within("t.organisation_key")} GROUP BY 1, 2 ORDER BY 1, 2
"""

_CALLS = f"""
SELECT a.system, c.kind, CASE c.outcome WHEN '' THEN 'open' ELSE c.outcome END, count(*),
       coalesce(sum(extract(epoch FROM c.ended_at - c.begun_at)), 0)::float8,
       coalesce(max(extract(epoch FROM c.ended_at - c.begun_at)), 0)::float8
FROM actions_externalcall c JOIN actions_action a ON a.id = c.action_id
WHERE c.begun_at > {SINCE} AND {within("a.organisation_id")} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""

#: The condition of the index of milestones, so that nothing else is looked at.
_MOVES = f"""
SELECT c.process, CASE WHEN e.version = 1 THEN 'opened' WHEN e.to_state = 'NEEDS_ATTENTION' THEN 'stopped'
                       ELSE lower(e.to_state) END, count(*)
FROM audit_auditevent e JOIN cases_case c ON c.id = e.case_id
WHERE e.at > {SINCE} AND (e.version = 1 OR e.to_state IN ('CLOSED_NO_CHANGE', 'COMPLETED', 'NEEDS_ATTENTION'))
  AND {within("e.organisation_id")} GROUP BY 1, 2 ORDER BY 1, 2
"""

_DECISIONS = f"""
SELECT c.process, d.kind, count(*) FROM approvals_decision d
JOIN approvals_proposal p ON p.id = d.proposal_id JOIN cases_case c ON c.id = p.case_id
WHERE d.at > {SINCE} AND {within("c.organisation_id")} GROUP BY 1, 2 ORDER BY 1, 2
"""


def count_attempts(scope: Scope) -> list[AttemptsLately]:
    """H3, as it is now."""
    return [AttemptsLately(*row) for row in ask(_ATTEMPTS, scope, RECENT)]


def measure_calls(scope: Scope) -> list[CallsLately]:
    """How outside systems answer."""
    return [CallsLately(*row) for row in ask(_CALLS, scope, RECENT)]


def count_moves(scope: Scope) -> list[MovesLately]:
    """How much comes and goes."""
    return [MovesLately(*row) for row in ask(_MOVES, scope, RECENT)]


def count_decisions(scope: Scope) -> list[DecisionsLately]:
    """What people decide."""
    return [DecisionsLately(*row) for row in ask(_DECISIONS, scope, RECENT)]
