"""How many due tasks one dispatcher marks and rings in a second.

The tasks are rows that lie there before it starts. What is rung is taken away at once, as if a worker had claimed it:
the window of rung and unclaimed tasks stops the dispatcher no longer than the fastest of workers would.
"""

from __future__ import annotations

import time
from typing import Any

import psycopg
import redis

from stand.bench.figures import figure
from stand.system import System

TASKS = 10_000
PATIENCE = 120.0  #: seconds
FIRST = 500  #: tasks that are rung before the clock starts

_FILL = """
INSERT INTO cases_task (case_id, organisation_key, process, stage, subject, generation, queue, status, attempt,
       returned, lost, available_at, last_error, last_error_text, fence, leased_by, created_at)
SELECT NULL, n %% 20, '', 'bench', n::text, 0, 'quick', 'due', 0, 0, 0, clock_timestamp(), '', '', 0, '',
       clock_timestamp() FROM generate_series(1, %s) n
"""
_CLAIM = "DELETE FROM cases_task WHERE stage = 'bench' AND status = 'due' AND rung_at IS NOT NULL"
_LEFT = "DELETE FROM cases_task WHERE stage = 'bench'"


def measure_ringing(system: System, *, rounds: int) -> dict[str, Any]:
    """{"dispatcher_tasks_per_s": …}"""
    return {"dispatcher_tasks_per_s": figure([_one(system) for _ in range(rounds)])}


def _one(system: System) -> float:
    with psycopg.connect(system.administrator_url, autocommit=True) as claiming:
        claiming.execute(_FILL, [TASKS])
        claiming.execute("ANALYZE cases_task")
        system.told["dispatcher"] = {}
        system.start("dispatcher")
        try:
            claimed, began, first, moved = 0, 0.0, 0, time.monotonic()
            while claimed < TASKS:
                found = claiming.execute(_CLAIM).rowcount
                claimed += found
                now = time.monotonic()
                moved = now if found else moved
                if now - moved > PATIENCE:
                    raise TimeoutError(f"{claimed} of {TASKS} tasks were rung")
                if not began and claimed >= FIRST:
                    began, first = now, claimed
                time.sleep(0.001)
            seconds = time.monotonic() - began
            system.wait_ready("dispatcher")
        finally:
            system.stop("dispatcher")
            claiming.execute(_LEFT)
    with redis.Redis.from_url(system.environment["REDIS_URL"], socket_timeout=5) as bells:
        bells.flushdb()
    return (TASKS - first) / seconds
