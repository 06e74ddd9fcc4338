"""Writing tasks: the intent to work is stored with what caused it, in one transaction (requirement A8).

One statement ends the present task, inserts the next ones and, within one queue, claims the first of them for the same
worker, so that a case does not pay a broker hop per stage.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from caseflow.statements import rows_of, soon

from .advancing import Beside
from .models.task import QUICK
from .rows import CaseRow
from .stages import deadline_of, stage_named


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to publish: due `at`, or `delay` from now."""

    stage: str
    subject: str = ""
    at: datetime | None = None
    delay: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Ending:
    """How the present task and its attempt end."""

    task_id: int
    fence: int
    number: int
    status: str
    outcome: str
    error: str = ""
    error_text: str = ""


@dataclass(frozen=True, slots=True)
class Fresh:
    """A published task as the database has it; `claimed` when this worker took it in the same statement."""

    task_id: int
    stage: str
    subject: str
    claimed: bool
    deadline_at: datetime | None


#: A pause of a task's process or organisation; what a system's pause holds up is known to `begin_call` only.
CONCERNED = """(p.organisation_id IS NULL OR p.organisation_id = {organisation})
  AND (p.kind IN ('organisation', 'all') OR p.kind = 'process' AND p.key = split_part({process}, ':', 1))"""
PAUSED = (
    "EXISTS (SELECT 1 FROM cases_pause p"
    " WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > clock_timestamp()) AND " + CONCERNED + ")"
)

#: Leased by what the table's constraint says of it: `status` would offer the index of leases, which are few but change
#: all the time, so that more of it is dead than alive.
_END = """
done AS (
  UPDATE cases_task SET status = %(status)s, ended_at = t.at, leased_until = NULL, rung_at = NULL,
         last_error = %(error)s, last_error_text = %(error_text)s
  FROM t WHERE id = %(task_id)s AND fence = %(fence)s AND leased_until IS NOT NULL),
ended AS (
  UPDATE cases_attempt SET ended_at = t.at, outcome = %(outcome)s, error = %(error)s, error_text = %(error_text)s
  FROM t WHERE task_id = %(task_id)s AND number = %(number)s AND ended_at IS NULL)"""

_PUBLISH = """
n AS (SELECT n.*, {mine} AS mine, t.at AS now,
             coalesce(n.at, t.at + n.delay * interval '1 second') AS due
      FROM t, jsonb_to_recordset(%(tasks)s::jsonb)
           AS n(stage text, subject text, queue text, at timestamptz, delay float8, claim boolean, lease float8,
                span float8, patience float8)),
fresh AS (
  INSERT INTO cases_task (case_id, organisation_key, process, stage, subject, generation, queue, status, attempt,
         returned, lost, available_at, deadline_at, last_error, last_error_text, fence, leased_until, lease_limit_at,
         leased_by, created_at)
  SELECT %(case_id)s, %(organisation)s, %(process)s, stage, subject, %(generation)s, queue,
         CASE WHEN mine THEN 'leased' ELSE 'due' END, mine::int, 0, 0, due,
         CASE WHEN mine THEN now + patience * interval '1 second' END, '', '', mine::int,
         CASE WHEN mine THEN now + lease * interval '1 second' END,
         CASE WHEN mine THEN now + span * interval '1 second' END, CASE WHEN mine THEN %(worker)s ELSE '' END, now
  FROM n
  ON CONFLICT (case_id, organisation_key, stage, subject, generation) WHERE status IN ('due', 'leased') DO NOTHING
  RETURNING id, stage, subject, status, status = 'leased' AS claimed, deadline_at, created_at)"""

_MINE = "n.claim AND NOT {paused}".format(paused=PAUSED.format(process="%(process)s", organisation="%(organisation)s"))

_BEGIN = """
begun AS (
  INSERT INTO cases_attempt (task_id, number, fence, worker, begun_at, outcome, error, error_text)
  SELECT id, 1, 1, %(worker)s, created_at, '', '', '' FROM fresh WHERE status = 'leased')"""


@cache
def _parts(*, ends: bool, publishes: bool, claims: bool) -> str:
    """Only what this publication needs: PostgreSQL makes ready every part of a statement, also one without rows."""
    publishing = _PUBLISH.format(mine=_MINE if claims else "false")
    parts = [(_END, ends), (publishing, publishes), (_BEGIN, claims)]
    return ",".join(part for part, wanted in parts if wanted)


_CLOCK = "WITH t AS MATERIALIZED (SELECT clock_timestamp() AS at),"
_FRESH = ("id", "stage", "subject", "claimed", "deadline_at")  #: the fields of Fresh, as the statement names them


def publish(
    case: CaseRow,
    tasks: Sequence[NewTask],
    *,
    ending: Ending | None = None,
    claim_for: str = "",
    claim_queue: str = QUICK,
) -> list[Fresh]:
    """Insert `tasks` for `case` in its present version. `claim_for` names the worker that takes the first due one of
    `claim_queue` for itself; empty: nobody does."""
    if not tasks:
        if ending is not None:
            raise ValueError("a task that nothing follows ends alone")
        return []
    with_event = publication(case, tasks, ending=ending, claim_for=claim_for, claim_queue=claim_queue)
    return published(rows_of(f"{_CLOCK}{with_event.parts} SELECT {', '.join(_FRESH)} FROM fresh", with_event.values))


def publish_soon(case: CaseRow, tasks: Sequence[NewTask]) -> None:
    """The same for whoever claims none of them: they leave with the next statement, or with COMMIT."""
    if not tasks:
        return
    with_event = publication(case, tasks)
    soon(f"{_CLOCK}{with_event.parts} SELECT FROM fresh", with_event.values)


def published(rows: Iterable[tuple[Any, ...]]) -> list[Fresh]:
    """What became of a publication, from the rows of the statement it was part of."""
    return [Fresh(*row) for row in rows]


def publication(
    case: CaseRow,
    tasks: Sequence[NewTask],
    *,
    ending: Ending | None = None,
    claim_for: str = "",
    claim_queue: str = QUICK,
) -> Beside:
    """The same as a part of an event's statement; `case` has the version it will have then. Rows come back only where
    one of the tasks is claimed."""
    records: list[dict[str, Any]] = []
    for task in tasks:
        stage = stage_named(task.stage)
        claim = bool(claim_for) and task.at is None and not task.delay and stage.queue == claim_queue
        claim = claim and not any(record["claim"] for record in records)
        records.append(
            {
                "stage": task.stage,
                "subject": task.subject,
                "queue": stage.queue,
                "at": task.at.isoformat() if task.at else None,
                "delay": task.delay.total_seconds(),
                "claim": claim,
                "lease": stage.lease.total_seconds(),
                "span": stage.limit.total_seconds(),
                "patience": deadline_of(stage, case).total_seconds(),
            }
        )
    parameters: dict[str, Any] = {
        "tasks": json.dumps(records),
        "case_id": case.id,
        "organisation": case.organisation_id,
        "process": case.process_key,
        "generation": case.version,
        "worker": claim_for,
    }
    if ending is not None:
        parameters |= {name: getattr(ending, name) for name in Ending.__slots__}
    claims = any(record["claim"] for record in records)
    parts = _parts(ends=ending is not None, publishes=bool(records), claims=claims)
    return Beside(parts, parameters, rows="fresh", returned=_FRESH) if claims else Beside(parts, parameters)
