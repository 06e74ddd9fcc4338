"""`manage.py requeue_tasks`: tasks that got stuck between the database, the bell and a worker are made due again.

What no worker has, and what stopped for good, is only shown: the first needs an installation, the second a person.
Exit codes: 0 done, 1 failed, 2 usage, 3 something remains.
"""

from __future__ import annotations

from typing import Any

from django.db import connection

from accounts.principal import Actor
from cases.advancing import record_event
from cases.bell import ring_after_commit
from cases.processes import all_processes
from cases.rows import lock_case
from cases.stages import all_stages
from operations.models import Repair
from operations.repairing import Found, RepairCommand

LONG = 60  #: seconds a bell or a lease may be overdue before somebody has to look

#: Why a case stopped that lies in the machinery rather than in its business.
TECHNICAL = ["attempts_exhausted", "deadline_passed", "worker_lost", "internal_error", "permanent_fault"]

_STUCK = """
SELECT t.id, t.case_id, c.public_id, coalesce(c.organisation_id, nullif(t.organisation_key, 0)), t.stage, t.process,
       t.subject, t.attempt, t.lost, t.last_error, CASE
    WHEN t.status = 'failed' THEN 'stopped for good'
    WHEN t.status = 'leased' THEN 'its worker is gone and nobody took over'
    WHEN NOT (t.stage = ANY(%(stages)s) AND (t.process = '' OR t.process = ANY(%(processes)s))) THEN 'no worker has it'
    WHEN t.available_at > clock_timestamp() THEN 'handed back by a worker that did not have it'
    ELSE 'rung and never claimed' END AS problem
FROM cases_task t LEFT JOIN cases_case c ON c.id = t.case_id
WHERE (%(organisations)s::bigint[] IS NULL
       OR coalesce(c.organisation_id, nullif(t.organisation_key, 0)) = ANY(%(organisations)s))
  AND (%(task)s::bigint IS NULL OR t.id = %(task)s)
  AND (t.status = 'failed' AND c.state = 'NEEDS_ATTENTION' AND c.version = t.generation + 1
         AND c.reason = ANY(%(technical)s)
    OR (c.id IS NULL OR c.version = t.generation) AND (
       t.status = 'leased' AND t.leased_until < clock_timestamp() - %(long)s * interval '1 second'
    OR t.status = 'due' AND t.rung_at < clock_timestamp() - %(long)s * interval '1 second'
         AND t.available_at <= clock_timestamp()
    OR t.status = 'due' AND t.fence > 0 AND t.attempt = 0 AND t.available_at > clock_timestamp()
    OR t.status = 'due' AND NOT (t.stage = ANY(%(stages)s) AND (t.process = '' OR t.process = ANY(%(processes)s)))))
ORDER BY t.id
"""

#: Locked without waiting: a claim holds the task first and may want the case next.
_LOCK = "SELECT status FROM cases_task WHERE id = %s FOR UPDATE SKIP LOCKED"

#: As a claim would count it: the attempt is lost, and the late holder's number is too small.
_FREE = """
WITH t AS MATERIALIZED (SELECT clock_timestamp() AS at),
lost AS (
  UPDATE cases_attempt a SET ended_at = t.at, outcome = 'worker_lost'
  FROM t, cases_task k WHERE k.id = %(task)s AND k.status = 'leased' AND a.task_id = k.id AND a.ended_at IS NULL)
UPDATE cases_task k SET status = 'due', lost = lost + (status = 'leased')::int, fence = fence + 1, leased_until = NULL,
       leased_by = '', rung_at = NULL, available_at = least(available_at, t.at)
FROM t WHERE k.id = %(task)s
"""

_ADVICE = {
    "stopped for good": "Open the case: ask to check again when the cause is gone.",
    "no worker has it": "Start a worker that has this stage and this version of the process.",
}


class Command(RepairCommand):
    name = "requeue_tasks"
    looks_at_platform = True
    help = "Makes stuck tasks due again, and shows what no worker has and what stopped for good."

    def find(self, organisations: list[int] | None) -> list[Found]:
        return [_found(row) for row in _ask(organisations)]

    def repair(self, found: Found, repair: Repair, actor: Actor) -> bool:
        task = found.about["task"]
        case = lock_case(found.case_id) if found.case_id else None
        with connection.cursor() as cursor:
            cursor.execute(_LOCK, [task])
            free = cursor.fetchone() is not None
        # Looked at again behind the locks: a worker or the dispatcher may have been first.
        if not free or not any(_found(row).repairable for row in _ask(None, task=task)):
            return False
        with connection.cursor() as cursor:
            cursor.execute(_FREE, {"task": task})
        if case is not None:
            facts = {"task": task, "stage": found.about["stage"], "problem": found.problem}
            record_event(
                case,
                "repair.task_freed",
                actor=actor,
                facts=facts | {"repair": repair.pk, "os_account": repair.os_account},
            )
        ring_after_commit()
        return True


def _ask(organisations: list[int] | None, *, task: int | None = None) -> list[Any]:
    parameters = {
        "organisations": organisations,
        "task": task,
        "stages": list(all_stages()),
        "processes": list(all_processes()),
        "technical": TECHNICAL,
        "long": LONG,
    }
    with connection.cursor() as cursor:
        cursor.execute(_STUCK, parameters)
        rows: list[Any] = cursor.fetchall()
    return rows


def _found(row: Any) -> Found:
    task, case_id, case, organisation, stage, process, subject, attempt, lost, error, problem = row
    about = {
        "task": task,
        "case": case or "",
        "stage": stage,
        "process": process,
        "subject": subject,
        "attempts": attempt,
        "lost": lost,
        "last_error": error,
    }
    return Found(organisation, case_id, problem, about, problem not in _ADVICE, _ADVICE.get(problem, ""))
