"""The dispatcher rings for due tasks (design §3). It knows only Task and Schedule; any number of copies may run.

Rows are selected by status with SKIP LOCKED, never by an id watermark: a slow transaction may commit a lower id later.
Mark, commit, then ring: a crash in between costs one re-ring and loses nothing.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.db import transaction

from caseflow.domain.failpoints import failpoint
from caseflow.statements import rows_of, rows_of_each, run

from .models.task import QUICK

log = logging.getLogger("caseflow.dispatcher")

WINDOW = 64  #: tasks rung and not yet claimed, per queue
RING_AGAIN = timedelta(seconds=5)  #: a bell nobody answered is rung again
IDLE = timedelta(seconds=1)  #: longest sleep after an empty sweep
TOP_UP = timedelta(milliseconds=20)  #: shortest rest while due, unrung rows remain
UNHURRIED = timedelta(milliseconds=160)  #: longest rest behind a full window
IN_VAIN = 2  #: bells in a row that could not be rung: the broker is away
BUNCH = 4  #: tasks of quick work that one bell is rung for behind a full window (ADR 18)

Ring = Callable[..., None]  #: queue, and one task or several; raises NotRung
Rung = list[tuple[str, int]]  #: queue and task

_OPEN_SCHEDULES = """
WITH now AS MATERIALIZED (SELECT clock_timestamp() AS at),
due AS (SELECT s.* FROM cases_schedule s, now WHERE s.is_active AND s.next_at <= now.at FOR UPDATE OF s SKIP LOCKED),
moved AS (UPDATE cases_schedule s SET next_at = s.next_at + due.every * ceil(greatest(1,
            extract(epoch FROM now.at - s.next_at) / extract(epoch FROM due.every)))
          FROM due, now WHERE s.id = due.id)
INSERT INTO cases_task (case_id, organisation_key, process, stage, subject, generation, queue, status, attempt,
       returned, lost, available_at, last_error, last_error_text, fence, leased_by, created_at)
SELECT NULL, coalesce(organisation_id, 0), '', stage, subject, 0, queue, 'due', 0, 0, 0, due.next_at, '', '', 0, '',
       now.at
FROM due, now
ON CONFLICT (case_id, organisation_key, stage, subject, generation) WHERE status IN ('due', 'leased') DO NOTHING
"""

#: Bells that were rung long ago, and leases that lapsed: their worker or their message is gone.
_RING_AGAIN = """
WITH stale AS (
  SELECT id FROM cases_task
  WHERE queue = %(queue)s AND (
        status = 'due' AND rung_at < clock_timestamp() - %(again)s * interval '1 second'
     OR status = 'leased' AND leased_until < clock_timestamp()
        AND (rung_at IS NULL OR rung_at < clock_timestamp() - %(again)s * interval '1 second'))
  ORDER BY rung_at NULLS FIRST, id LIMIT %(window)s FOR UPDATE SKIP LOCKED)
UPDATE cases_task t SET rung_at = clock_timestamp() FROM stale WHERE t.id = stale.id RETURNING t.queue, t.id
"""

#: The heads of every organisation's own line, dealt round-robin, so that one flood does not starve the others. What
#: is paused is gathered once a line: asked of every row, a flood that waits would cost the others their sweep. All
#: queues in one statement, each with its own room: most of what a sweep costs is the statement, not its rows. A line
#: begins at its organisation and is bounded by a pair, so that only the index of lines has its order: by the index of
#: moments alone the line of one would be found by walking through the flood of another.
RING_NEW = """
WITH RECURSIVE now AS MATERIALIZED (SELECT clock_timestamp() AS at),
room AS MATERIALIZED (
  SELECT queue, greatest(0, %(window)s - (
           SELECT count(*) FROM cases_task t
           WHERE t.queue = wanted.queue AND t.status IN ('due', 'leased') AND t.rung_at IS NOT NULL)) AS free
  FROM unnest(%(queues)s::text[]) AS wanted(queue)),
lines(queue, organisation_key) AS (
  SELECT queue, (SELECT t.organisation_key FROM cases_task t
                 WHERE t.queue = room.queue AND t.status = 'due' AND t.rung_at IS NULL
                 ORDER BY t.organisation_key LIMIT 1)
  FROM room
  UNION ALL
  SELECT queue, (SELECT t.organisation_key FROM cases_task t
                 WHERE t.queue = lines.queue AND t.status = 'due' AND t.rung_at IS NULL
                 AND t.organisation_key > lines.organisation_key ORDER BY t.organisation_key LIMIT 1)
  FROM lines WHERE lines.organisation_key IS NOT NULL),
heads AS (
  SELECT head.*, room.queue,
         row_number() OVER (PARTITION BY room.queue, head.organisation_key ORDER BY head.available_at, head.id) AS turn
  FROM lines JOIN room ON room.queue = lines.queue CROSS JOIN now CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(p.key) FILTER (WHERE p.kind = 'process'), '{}') AS processes,
           coalesce(bool_or(p.kind IN ('organisation', 'all')), false) AS wholly
    FROM cases_pause p
    WHERE lines.organisation_key <> 0 AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now.at)
      AND (p.organisation_id IS NULL OR p.organisation_id = lines.organisation_key)) paused CROSS JOIN LATERAL (
    SELECT t.id, t.organisation_key, t.available_at FROM cases_task t
    WHERE t.queue = lines.queue AND t.status = 'due' AND t.rung_at IS NULL
      AND t.organisation_key >= lines.organisation_key
      AND (t.organisation_key, t.available_at) <= (lines.organisation_key, now.at)
      AND NOT paused.wholly AND split_part(t.process, ':', 1) <> ALL(paused.processes)
    ORDER BY t.organisation_key, t.available_at, t.id LIMIT room.free FOR UPDATE SKIP LOCKED) head
  WHERE lines.organisation_key IS NOT NULL),
chosen AS (
  SELECT first.id FROM room CROSS JOIN LATERAL (
    SELECT id FROM heads WHERE heads.queue = room.queue ORDER BY turn, available_at, id LIMIT room.free) first),
rung AS (
  UPDATE cases_task t SET rung_at = clock_timestamp() FROM chosen WHERE t.id = chosen.id RETURNING t.queue, t.id)
SELECT room.queue, room.free, ARRAY(SELECT rung.id FROM rung WHERE rung.queue = room.queue) FROM room
"""

#: Each part is the first entry of an index over what is open: it costs the same however much is done. Were it asked
#: whether there is one at all, a table with many open rows would be walked through, and wholly where there is none.
LOOK = """
WITH now AS MATERIALIZED (SELECT clock_timestamp() AS at)
SELECT coalesce((SELECT min(available_at) FROM cases_task WHERE status = 'due' AND rung_at IS NULL) <= now.at, false),
       coalesce((SELECT min(longest.rung_at) FROM unnest(%(queues)s::text[]) AS wanted(queue) CROSS JOIN LATERAL (
                   SELECT t.rung_at FROM cases_task t
                   WHERE t.queue = wanted.queue AND t.status = 'due' AND t.rung_at IS NOT NULL
                   ORDER BY t.rung_at LIMIT 1) longest) < now.at - %(again)s * interval '1 second', false)
       OR coalesce((SELECT min(leased_until) FROM cases_task WHERE status = 'leased') < now.at, false),
       EXISTS (SELECT FROM cases_schedule WHERE is_active AND next_at <= now.at),
       extract(epoch FROM least(
         (SELECT min(available_at) FROM cases_task
          WHERE status = 'due' AND rung_at IS NULL AND available_at > now.at),
         (SELECT min(next_at) FROM cases_schedule WHERE is_active AND next_at > now.at)) - now.at)::float8
FROM now
"""


class NotRung(Exception):
    """The broker did not take the bell."""


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to do for the dispatcher, and in how many seconds the next task or schedule falls due."""

    due: bool  #: tasks nobody was rung for
    stale: bool  #: bells nobody answered, leases that lapsed
    scheduled: bool
    seconds_to_next: float  #: at most IDLE

    def __bool__(self) -> bool:
        return self.due or self.stale or self.scheduled


EVERYTHING = Look(due=True, stale=True, scheduled=True, seconds_to_next=IDLE.total_seconds())
ONLY_NEW = replace(EVERYTHING, stale=False, scheduled=False)


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did."""

    rung: Rung = field(default_factory=list)
    free: dict[str, int] = field(default_factory=dict)  #: places in each queue's window when the sweep began
    full: frozenset[str] = frozenset()  #: queues whose window has no place left


def rest_behind_a_full_window(taken: int, seconds: float, window: int = WINDOW) -> float:
    """Seconds in which workers will take a quarter of the window, if they took so many of it in the last `seconds`.

    They have work, and a sweep costs nearly the same for one task as for many. Workers that took more than half of it
    are faster than they were; nobody waits for them to run dry.
    """
    shortest, longest = TOP_UP.total_seconds(), UNHURRIED.total_seconds()
    if taken > window // 2:
        return shortest
    return min(longest, max(shortest, seconds * window / 4 / max(taken, 1)))


def look(queues: list[str]) -> Look:
    """One statement, so that an idle dispatcher asks little."""
    ((due, stale, scheduled, soon),) = rows_of(LOOK, {"queues": queues, "again": RING_AGAIN.total_seconds()})
    return Look(due, stale, scheduled, min(IDLE.total_seconds(), soon if soon is not None else math.inf))


def sweep(queues: list[str], ring: Ring, *, window: int = WINDOW, wanted: Look = EVERYTHING) -> Swept:
    """Open due schedules, ring again what nobody answered, fill each queue's window.

    Schedules and unanswered bells are looked after where they are `wanted`, new tasks always.
    """
    if wanted.scheduled:
        run(_OPEN_SCHEDULES)
    told: dict[str, Any] = {"window": window, "again": RING_AGAIN.total_seconds()}
    marking = [(_RING_AGAIN, told | {"queue": queue}) for queue in queues if wanted.stale]
    marking.append((RING_NEW, told | {"queues": queues}))
    with transaction.atomic():
        *again, new = rows_of_each(*marking)
        anew = [(queue, task_id) for marked in again for queue, task_id in marked]
        rung = anew + [(queue, task_id) for queue, _, marked in new for task_id in marked]
        failpoint("dispatch.before_commit", *(str(task_id) for _, task_id in rung))
    failpoint("dispatch.marked", *(str(task_id) for _, task_id in rung))
    free = {queue: places for queue, places, _ in new}
    full = frozenset(queue for queue, places, marked in new if len(marked) >= places)
    bells = [(queue, [task_id]) for queue, task_id in anew]
    bells += [(queue, bunch) for queue, _, marked in new for bunch in _bunches(queue, marked, full)]
    _ring_each(bells, ring)
    return Swept(rung, free, full)


def _bunches(queue: str, tasks: list[int], full: Container[str]) -> list[list[int]]:
    """Behind a full window every worker has work, and most of what a bell costs is the bell. What nobody answered, and
    slow work, are rung for one by one: a bunch waits for its first."""
    size = BUNCH if queue == QUICK and queue in full else 1
    return [tasks[at : at + size] for at in range(0, len(tasks), size)]


def _ring_each(bells: list[tuple[str, list[int]]], ring: Ring) -> None:
    in_vain = 0
    for queue, tasks in bells:
        try:
            ring(queue, *tasks)
        except NotRung:
            in_vain += 1
            if in_vain == IN_VAIN:
                return  # the others would wait for the broker as long; all of them are rung again after the interval
            continue
        in_vain = 0
        failpoint("dispatch.rung_one", *(str(task_id) for task_id in tasks))
