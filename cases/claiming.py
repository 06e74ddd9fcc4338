"""Taking the right to settle a task: one statement, judged by the database's clock (design §3).

The attempt is counted before the work, so that a task that kills its process stops at its limit. What is obsolete is
closed, what this worker does not have is handed back for a while, what is paused stays due: none is an attempt.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError

from caseflow.domain.process import Process
from caseflow.statements import Answer, Question, row_of

from .processes import all_processes
from .publishing import CONCERNED, PAUSED, Fresh
from .rows import SELECTED, CaseRow
from .stages import Stage, all_stages, stage_named

log = logging.getLogger("caseflow.claiming")

HAND_BACK = timedelta(seconds=60)  #: until a worker with the right version is likely to come by


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to settle one task, and the case as it was then; `loaded` is what the stage read with the claim.

    `exhausted` names why the task may not be tried again; the holder then only settles. `taken` is a moment of this
    process's monotonic clock before the lease began: what counts from it ends no later than it does for the database.
    """

    task_id: int
    fence: int
    number: int
    spent: int
    stage: str
    subject: str
    generation: int
    queue: str
    deadline_at: datetime | None
    worker: str
    case: CaseRow | None
    exhausted: str = ""
    found: Any = field(default=None, compare=False)
    taken: float = field(default=0.0, compare=False)

    @property
    def loaded(self) -> Any:
        """What the stage needs, as it said in `load`; the meaning of an answer may fail, as a part of the attempt."""
        return self.found.value() if isinstance(self.found, Answer) else self.found

    @property
    def definition(self) -> Stage:
        return stage_named(self.stage)

    @property
    def about(self) -> tuple[str, ...]:
        """What a failpoint may be bound to."""
        case = (self.case.public_id, self.case.external_id) if self.case else ()
        return (*case, self.stage, f"attempt-{self.number}")


#: How long a due task could not be claimed because of pauses: time that counts neither as work nor as patience.
_HELD = f"""coalesce((
    SELECT sum(least(p.ended_at, p.until, clock.at) - greatest(p.at, task.available_at)) FROM cases_pause p
    WHERE least(p.ended_at, p.until, clock.at) > greatest(p.at, task.available_at)
    AND {CONCERNED.format(process="task.process", organisation="task.organisation_key")}), interval '0')"""

_CLAIM = f"""
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS at),
mine AS MATERIALIZED (
  SELECT task.*, clock.at AS now,
         known.stage IS NOT NULL AND (task.process = '' OR task.process = ANY(%(processes)s)) AS known,
         known.span, known.lease,
         coalesce((known.losses ->> task.process)::int, known.infrastructure) AS infrastructure,
         coalesce(CASE WHEN task.deadline_at > clock.at THEN task.deadline_at ELSE task.deadline_at + {_HELD} END,
           clock.at + coalesce((known.patience ->> task.process)::float8, known.usual) * interval '1 second')
           AS patience_ends
  FROM cases_task task CROSS JOIN clock
  LEFT JOIN jsonb_to_recordset(%(stages)s::jsonb)
       AS known(stage text, span float8, lease float8, infrastructure int, losses jsonb, usual float8, patience jsonb)
       ON known.stage = task.stage
  WHERE task.id = %(task)s AND (task.status = 'due' AND task.available_at <= clock.at
                             OR task.status = 'leased' AND task.leased_until < clock.at)
  FOR UPDATE OF task SKIP LOCKED),
judged AS MATERIALIZED (
  SELECT mine.*, CASE
    WHEN mine.case_id IS NOT NULL
     AND mine.generation < (SELECT version FROM cases_case WHERE id = mine.case_id) THEN 'obsolete'
    WHEN NOT mine.known THEN 'foreign'
    WHEN mine.organisation_key <> 0
     AND {PAUSED.format(process="mine.process", organisation="mine.organisation_key")} THEN 'paused'
    WHEN mine.lost + (mine.status = 'leased')::int >= mine.infrastructure THEN 'worker_lost'
    WHEN mine.patience_ends <= mine.now THEN 'deadline_passed'
    ELSE 'claimed' END AS verdict
  FROM mine),
verdict AS MATERIALIZED (
  SELECT judged.*, judged.verdict IN ('claimed', 'worker_lost', 'deadline_passed') AS leases FROM judged),
lost AS (
  UPDATE cases_attempt a SET ended_at = v.now, outcome = 'worker_lost' FROM verdict v
  WHERE a.task_id = v.id AND v.status = 'leased' AND a.ended_at IS NULL),
taken AS (
  UPDATE cases_task task SET
    status = CASE WHEN v.leases THEN 'leased' WHEN v.verdict = 'obsolete' THEN 'obsolete' ELSE 'due' END,
    ended_at = CASE WHEN v.verdict = 'obsolete' THEN v.now END,
    available_at = CASE WHEN v.verdict = 'foreign' THEN v.now + %(hand_back)s * interval '1 second'
                        ELSE task.available_at END,
    attempt = task.attempt + (v.verdict = 'claimed')::int,
    lost = least(task.lost + (v.status = 'leased')::int, greatest(task.lost, v.infrastructure)),
    fence = task.fence + 1,
    deadline_at = CASE WHEN v.verdict = 'claimed' THEN v.patience_ends ELSE task.deadline_at END,
    leased_until = CASE WHEN v.leases THEN v.now + v.lease * interval '1 second' END,
    lease_limit_at = CASE WHEN v.leases THEN v.now + v.span * interval '1 second' END,
    leased_by = CASE WHEN v.leases THEN %(worker)s ELSE '' END,
    rung_at = NULL
  FROM verdict v WHERE task.id = v.id
  RETURNING task.*, v.verdict, v.now),
begun AS (
  INSERT INTO cases_attempt (task_id, number, fence, worker, begun_at, outcome, error, error_text)
  SELECT id, attempt, fence, %(worker)s, now, '', '', '' FROM taken WHERE verdict = 'claimed')
SELECT taken.verdict, taken.fence, taken.attempt, taken.attempt - taken.returned - taken.lost, taken.stage,
       taken.subject, taken.generation, taken.queue, taken.deadline_at, taken.case_id IS NOT NULL, {SELECTED}
FROM taken LEFT JOIN cases_case c ON c.id = taken.case_id
"""


def claim(task_id: int, *, worker: str, load: bool = True) -> Lease | None:
    """The lease of a due or abandoned task, or None. Part of the caller's transaction; nothing of the case changes.

    Without `load` the stage reads nothing yet.
    """
    taken = time.monotonic()
    values = {
        "task": task_id,
        "worker": worker,
        "hand_back": HAND_BACK.total_seconds(),
        "processes": list(all_processes()),
        "stages": _known.text(),
    }
    row = row_of(_CLAIM, values)
    if row is None or row[0] in ("obsolete", "foreign", "paused"):
        return None
    verdict, fence, number, spent, stage, subject, generation, queue, deadline_at, has_case, *case = row
    lease = Lease(
        task_id=task_id,
        fence=fence,
        number=number,
        spent=spent,
        stage=stage,
        subject=subject,
        generation=generation,
        queue=queue,
        deadline_at=deadline_at,
        worker=worker,
        case=CaseRow.of(case) if has_case else None,
        exhausted="" if verdict == "claimed" else verdict,
        taken=taken,
    )
    return loaded(lease) if load and not lease.exhausted else lease


def lease_of(fresh: Fresh, *, case: CaseRow, queue: str, worker: str, taken: float) -> Lease:
    """The lease of a task that was published and claimed in one statement, begun after the moment `taken`."""
    lease = Lease(
        task_id=fresh.task_id,
        fence=1,
        number=1,
        spent=1,
        stage=fresh.stage,
        subject=fresh.subject,
        generation=case.version,
        queue=queue,
        deadline_at=fresh.deadline_at,
        worker=worker,
        case=case,
        taken=taken,
    )
    return loaded(lease)


def loaded(lease: Lease) -> Lease:
    """The lease with what its stage reads in the claim's transaction.

    What cannot be read there must spoil neither the claim, which counts the attempt, nor the settlement before it: the
    worker reads again as part of the attempt, which then fails by itself.
    """
    load = lease.definition.load
    if load is None:
        return lease
    try:
        found = load(lease)
        return replace(lease, found=found.asked() if isinstance(found, Question) else found)
    except DatabaseError:
        raise
    except Exception:
        log.exception("task %s could not read what its stage needs", lease.task_id)
        return lease


class _Known:
    """What this worker has, as JSON: stage, its longest lease, its budgets and those of each process."""

    def __init__(self) -> None:
        self._of: tuple[tuple[Stage, ...], dict[str, Process]] = (), {}
        self._text = "[]"

    def text(self) -> str:
        """Written anew only where other stages or processes are registered than the last time."""
        of = tuple(all_stages().values()), all_processes()
        if of != self._of:
            self._text, self._of = json.dumps([self._known(stage, of[1]) for stage in of[0]]), of
        return self._text

    @staticmethod
    def _known(named: Stage, processes: Mapping[str, Process]) -> dict[str, Any]:
        stage = stage_named(named.becomes or named.name)
        own = {key: process.retry[stage.name] for key, process in processes.items() if stage.name in process.retry}
        return {
            "stage": named.name,
            "span": stage.limit.total_seconds(),
            "lease": stage.lease.total_seconds(),
            "infrastructure": stage.policy.infrastructure_limit,
            "usual": stage.policy.deadline.total_seconds(),
            "patience": {key: policy.deadline.total_seconds() for key, policy in own.items()},
            "losses": {key: policy.infrastructure_limit for key, policy in own.items()},
        }


_known = _Known()
