"""Invariant 7: attempts ≤ limit; exhausted means that the case needs attention, in the database."""

from __future__ import annotations

from .finding import Finding, look, registered_stages

_COUNT = "SELECT count(*) FROM cases_task"

_PROBLEMS = """
WITH known AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset(%(stages)s::jsonb)
    AS k(stage text, process text, tries int, losses int, carries boolean)),
tasks AS (
  SELECT t.*, c.public_id, c.version, c.state, c.closed_at, k.tries, k.losses, k.carries
  FROM cases_task t JOIN known k ON k.stage = t.stage AND k.process = t.process
  LEFT JOIN cases_case c ON c.id = t.case_id),
rows AS (SELECT task_id, count(*) AS attempts, count(*) FILTER (WHERE ended_at IS NULL) AS running
         FROM cases_attempt GROUP BY task_id)
SELECT public_id AS case, format('%%s (task %%s) was tried %%s times, the limit is %%s',
                                 stage, id, attempt - returned - lost, tries) AS problem
FROM tasks WHERE attempt - returned - lost > tries
UNION ALL
SELECT public_id, format('%%s (task %%s) lost its worker %%s times, the limit is %%s', stage, id, lost, losses)
FROM tasks WHERE lost > losses
UNION ALL
SELECT public_id, format('%%s (task %%s) counts %%s attempts and has %%s', stage, id, attempt, coalesce(r.attempts, 0))
FROM tasks LEFT JOIN rows r ON r.task_id = id WHERE attempt <> coalesce(r.attempts, 0)
UNION ALL
SELECT public_id, format('an attempt of %%s (task %%s) never ended, and the task is %%s', stage, id, status)
FROM tasks JOIN rows r ON r.task_id = id WHERE r.running > (status = 'leased')::int
UNION ALL
SELECT public_id, format('%%s (task %%s) is exhausted and the case does not need attention', stage, id) FROM tasks
WHERE status = 'failed' AND carries AND generation = version AND closed_at IS NULL AND state <> 'NEEDS_ATTENTION'
"""


def attempts_have_limits() -> Finding:
    """Tasks of stages that this installation has."""
    return look(_COUNT, _PROBLEMS, {"stages": registered_stages()})
