"""Whether the machine works at all: who lives, and what waits longer than it should."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from cases.beats import BEAT_SILENCE
from cases.models.task import QUICK, SLOW
from cases.publishing import PAUSED

from .scope import Scope, ask, within

LATE = timedelta(seconds=60)  #: a due task that waits for longer says that something is wrong


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """One queue: who lives for it, and what has been due for longer than LATE. What is paused is not late."""

    queue: str
    has_worker: bool
    has_dispatcher: bool
    late: int
    oldest: datetime | None


_HEALTH = f"""
WITH live AS (
  SELECT kind, versions -> 'queues' AS queues FROM cases_workerbeat
  WHERE stopped_at IS NULL AND is_live AND beat_at >= clock_timestamp() - %(silence)s::interval),
waiting AS (
  SELECT queue, organisation_key, process, count(*) AS number, min(available_at) AS oldest FROM cases_task
  WHERE status = 'due' AND rung_at IS NULL AND available_at < now() - %(late)s::interval GROUP BY 1, 2, 3
  UNION ALL
  SELECT queue, organisation_key, process, count(*), min(available_at) FROM cases_task
  WHERE status IN ('due', 'leased') AND rung_at IS NOT NULL AND status = 'due'
    AND available_at < now() - %(late)s::interval GROUP BY 1, 2, 3),
late AS (
  SELECT t.queue, sum(t.number)::bigint AS number, min(t.oldest) AS oldest FROM waiting t
  WHERE {within("t.organisation_key")}
    AND NOT (t.organisation_key <> 0 AND {PAUSED.format(process="t.process", organisation="t.organisation_key")})
  GROUP BY t.queue)
SELECT q.name, EXISTS (SELECT FROM live WHERE kind = 'worker'
                       AND (queues IS NULL OR queues @> to_jsonb(q.name))),
       EXISTS (SELECT FROM live WHERE kind = 'dispatcher'), coalesce(late.number, 0), late.oldest
FROM unnest(%(queues)s::text[]) WITH ORDINALITY q(name, place) LEFT JOIN late ON late.queue = q.name ORDER BY q.place
"""


def measure_health(scope: Scope) -> list[QueueHealth]:
    """Each queue; the numbers are of the scope, who lives is of the platform. One query."""
    rows = ask(_HEALTH, scope, silence=BEAT_SILENCE, late=LATE, queues=[QUICK, SLOW])
    return [QueueHealth(*row) for row in rows]
