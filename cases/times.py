"""The parts of a case's time (design §14) from its rows: transitions, attempts, the undo window of an approval.

They are stored when the case is closed, by the very statement that closes it, so that a million closed cases are added
up without reading their histories; of an open case they are computed up to now. An attempt counts until it is ended:
a worker that was lost counts until another takes over.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from caseflow.domain.lifecycle import State
from caseflow.domain.times import Part, Segment, Stay, TimeParts, Worked, time_segments

from .models import Case

#: Columns of the case row, microseconds, empty until it is closed.
COLUMNS = {part: f"{part.value}_us" for part in Part}

#: The stays and the attempts of the cases in `wanted` (id, until), moments in microseconds. A clock that was set back
#: makes a stay empty, never negative.
_ROWS = """
stays AS (
  SELECT s.id, s.version, s.state, s.begun,
         lead(s.begun, 1, s.until) OVER (PARTITION BY s.id ORDER BY s.version) AS ended, s.undo_until
  FROM (SELECT w.id, w.until, e.version, e.to_state AS state,
               least(max(e.at_us) OVER (PARTITION BY w.id ORDER BY e.version), w.until) AS begun,
               CASE WHEN e.to_state = 'EXECUTING' THEN (extract(epoch FROM
                 (convert_from(e.body, 'UTF8')::jsonb #>> '{facts,undo_until}')::timestamptz) * 1000000)::bigint
               END AS undo_until
        FROM wanted w JOIN audit_auditevent e ON e.case_id = w.id AND e.version IS NOT NULL) s),
worked AS (
  SELECT id, begun, ended FROM (
    SELECT w.id, (extract(epoch FROM a.begun_at) * 1000000)::bigint AS begun,
           coalesce((extract(epoch FROM a.ended_at) * 1000000)::bigint, w.until) AS ended
    FROM wanted w JOIN cases_task t ON t.case_id = w.id JOIN cases_attempt a ON a.task_id = t.id) a
  WHERE begun < ended)"""

#: Ends in the table `parts`: a row per case, the five columns adding up to the time from its first event to `until`.
PARTS = f"""{_ROWS},
busy AS (SELECT id, range_agg(int8range(begun, ended)) AS times FROM worked GROUP BY id),
measured AS (
  SELECT s.id, s.state, s.ended - s.begun AS length,
         least(greatest(coalesce(s.undo_until, s.begun), s.begun), s.ended) - s.begun AS undo,
         CASE WHEN s.state IN ('RECEIVED', 'CHECKING') THEN (
           SELECT coalesce(sum(upper(r) - lower(r)), 0)::bigint
           FROM unnest(b.times * int8multirange(int8range(s.begun, s.ended))) r) END AS held
  FROM stays s LEFT JOIN busy b ON b.id = s.id),
parts AS (
  SELECT id, coalesce(sum(length - held), 0)::bigint AS queue_us, coalesce(sum(held), 0)::bigint AS automatic_us,
         coalesce(sum(CASE WHEN state = 'EXECUTING' THEN undo ELSE length END)
           FILTER (WHERE state IN ('WAITING_DATA', 'WAITING_APPROVAL', 'NEEDS_ATTENTION', 'EXECUTING')), 0)::bigint
           AS person_us,
         coalesce(sum(length - undo) FILTER (WHERE state = 'EXECUTING'), 0)::bigint AS outside_us,
         coalesce(sum(length) FILTER (WHERE state = 'NOTIFYING'), 0)::bigint AS notice_us
  FROM measured GROUP BY id)"""

_WANTED = """
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
wanted AS MATERIALIZED (
  SELECT c.id, (extract(epoch FROM coalesce(c.closed_at, clock.now)) * 1000000)::bigint AS until
  FROM cases_case c, clock WHERE c.id = ANY(%s))"""

_MANY = f"{_WANTED}, {PARTS} SELECT id, {', '.join(COLUMNS.values())} FROM parts"

_ONE = f"""{_WANTED}, {_ROWS}
SELECT 'stay', state, begun, ended, undo_until FROM stays UNION ALL SELECT 'worked', '', begun, ended, NULL FROM worked
ORDER BY 3, 4"""


def stored_parts(case: Case) -> TimeParts | None:
    """What was stored when the case was closed; None while it is open. No query."""
    if case.closed_at is None or case.queue_us is None:
        return None
    return TimeParts(**{part.value: getattr(case, column) for part, column in COLUMNS.items()})


def time_parts_of(case_ids: Sequence[int]) -> dict[int, TimeParts]:
    """The parts of each case up to its end or to now, from its rows; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_MANY, [list(case_ids)])
        return {case_id: TimeParts(*parts) for case_id, *parts in cursor.fetchall()}


def time_segments_of(case_id: int) -> list[Segment]:
    """What followed what, for the time bar of a case: segments in order, without a gap; one query."""
    stays: list[Stay] = []
    worked: list[Worked] = []
    with connection.cursor() as cursor:
        cursor.execute(_ONE, [[case_id]])
        for kind, state, begun, ended, undo_until in cursor.fetchall():
            if kind == "stay":
                stays.append(Stay(State(state), begun, ended, undo_until))
            else:
                worked.append((begun, ended))
    return time_segments(stays, worked)
