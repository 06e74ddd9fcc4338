"""How the machine works: what waits (H2), what was tried again and why (H3), what was given up (H4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .scope import SINCE, Scope, Window, ask, within


@dataclass(frozen=True, slots=True)
class QueueNow:
    """Tasks of one queue at this moment. `oldest_due` is since when the first of the due ones waits."""

    queue: str
    due: int
    oldest_due: datetime | None
    later: int  #: due at a moment to come: retries, deadlines, timers
    leased: int
    oldest_lease: datetime | None  #: when the first of the present attempts began


@dataclass(frozen=True, slots=True)
class StageRetries:
    """Tasks of one stage, published within the window, that were tried at all, and those tried more than once."""

    stage: str
    tried: int
    retried: int

    @property
    def share(self) -> float:
        """0…1"""
        return self.retried / self.tried if self.tried else 0.0


@dataclass(frozen=True, slots=True)
class RetryCause:
    """Attempts of one stage that did not reach their result, by what was said. A lost worker says nothing."""

    stage: str
    outcome: str  #: fault, worker_lost
    error: str
    attempts: int
    newest: datetime


@dataclass(frozen=True, slots=True)
class ExhaustedCount:
    """Tasks given up within the window."""

    stage: str
    error: str
    number: int
    newest: datetime


#: Each lot is found by an index of just that lot; of the timers, which are the many, by the index alone.
_QUEUES = f"""
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
lots AS (
  SELECT queue, count(*) FILTER (WHERE available_at <= (SELECT now FROM clock)) AS due, min(available_at) AS first,
         count(*) AS number, 0 AS leased, NULL::timestamptz AS begun_at
  FROM cases_task WHERE status = 'due' AND rung_at IS NULL AND {within("organisation_key")} GROUP BY queue
  UNION ALL
  SELECT queue, count(*) FILTER (WHERE available_at <= (SELECT now FROM clock)), min(available_at), count(*), 0, NULL
  FROM cases_task WHERE status IN ('due', 'leased') AND rung_at IS NOT NULL AND status = 'due'
    AND {within("organisation_key")} GROUP BY queue
  UNION ALL
  SELECT queue, 0, NULL, 0, count(*), min((SELECT a.begun_at FROM cases_attempt a
                                           WHERE a.task_id = t.id AND a.number = t.attempt))
  FROM cases_task t WHERE status = 'leased' AND {within("organisation_key")} GROUP BY queue)
SELECT queue, sum(due)::bigint, min(first) FILTER (WHERE first <= (SELECT now FROM clock)),
       sum(number - due)::bigint, sum(leased)::bigint, min(begun_at)
FROM lots GROUP BY queue ORDER BY queue
"""

#: An attempt that was given back tried nothing.
_RETRIES = f"""
SELECT stage, count(*) FILTER (WHERE attempt > returned), count(*) FILTER (WHERE attempt - returned > 1)
FROM cases_task WHERE created_at > {SINCE} AND {within("organisation_key")}
GROUP BY stage HAVING count(*) FILTER (WHERE attempt > returned) > 0 ORDER BY 3 DESC, 2 DESC, 1
"""

_CAUSES = f"""
SELECT t.stage, a.outcome, a.error, count(*), max(a.ended_at)
FROM cases_attempt a JOIN cases_task t ON t.id = a.task_id
WHERE a.begun_at > {SINCE} AND a.outcome IN ('fault', 'worker_lost') AND {within("t.organisation_key")}
GROUP BY t.stage, a.outcome, a.error ORDER BY 4 DESC, 1, 2, 3
"""

_EXHAUSTED = f"""
SELECT stage, last_error, count(*), max(ended_at) FROM cases_task
WHERE status = 'failed' AND ended_at > {SINCE} AND {within("organisation_key")}
GROUP BY stage, last_error ORDER BY 3 DESC, 1, 2
"""


def measure_queues(scope: Scope) -> list[QueueNow]:
    """H2 at this moment; over the closed cases `measure_times` says it."""
    return [QueueNow(*row) for row in ask(_QUEUES, scope)]


def measure_retries(scope: Scope, window: Window) -> list[StageRetries]:
    """H3: how many of the tasks had to be tried again."""
    return [StageRetries(*row) for row in ask(_RETRIES, scope, window)]


def count_retry_causes(scope: Scope, window: Window) -> list[RetryCause]:
    """H3: why, the most frequent first."""
    return [RetryCause(*row) for row in ask(_CAUSES, scope, window)]


def count_exhausted(scope: Scope, window: Window) -> list[ExhaustedCount]:
    """H4: what a broker would call dead letters; here each is a row, and its case needs attention."""
    return [ExhaustedCount(*row) for row in ask(_EXHAUSTED, scope, window)]
