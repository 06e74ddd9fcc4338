"""What a worker does, one task at a time; what many do at the same instant; and whether anything was written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection, transaction

from cases.claiming import Lease, claim
from cases.models import Task
from cases.working import work_on

_DUE = """
SELECT t.id FROM cases_task t
WHERE (t.status = 'due' AND t.available_at <= clock_timestamp()
    OR t.status = 'leased' AND t.leased_until < clock_timestamp())
  AND t.id <> ALL(%(passed)s)
  AND (%(case)s::bigint IS NULL OR t.case_id = %(case)s) AND (%(stage)s = '' OR t.stage = %(stage)s)
ORDER BY t.available_at, t.id LIMIT 1
"""


def run_due(*, case: int | None = None, stage: str = "", limit: int = 50) -> int:
    """Work on what is due, oldest first, until nothing is left that moves; how many tasks were worked on."""
    passed: list[int] = []
    for done in range(limit):
        with connection.cursor() as cursor:
            cursor.execute(_DUE, {"passed": passed, "case": case, "stage": stage})
            row = cursor.fetchone()
        if row is None:
            return done
        before = Task.objects.get(pk=row[0]).available_at
        work_on(row[0])
        task = Task.objects.get(pk=row[0])
        if task.status == "due" and task.available_at <= before:
            passed.append(row[0])  # paused: it does not move now
    raise AssertionError(f"the engine did not come to rest within {limit} tasks")


def claimed(task: Task | int, worker: str = "first") -> Lease:
    """The lease of a due or abandoned task, committed as a worker would."""
    with transaction.atomic():
        lease = claim(task if isinstance(task, int) else task.pk, worker=worker)
    assert lease is not None
    return lease


def somebody_waits_for_us() -> bool:
    """Another session stands behind a lock of this thread's."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        found: bool = cursor.fetchone()[0]
        return found


def together(*parts: Callable[[], Any]) -> list[Any]:
    """Run the parts at the same instant, each on a connection of its own; results or errors in their order."""
    barrier, results = threading.Barrier(len(parts)), [None] * len(parts)

    def run(place: int, part: Callable[[], Any]) -> None:
        try:
            connection.ensure_connection()
            barrier.wait(30)
            results[place] = part()
        except Exception as error:
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place, part)) for place, part in enumerate(parts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a part did not end"
    return results


def fingerprint() -> dict[str, tuple[int, str]]:
    """Rows and a hash of each table: equal before and after means that nothing was written."""
    found = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'django_migrations'"
        )
        for (table,) in cursor.fetchall():
            cursor.execute(
                f"SELECT count(*), coalesce(md5(string_agg(md5(t::text), '' ORDER BY t::text)), '') FROM \"{table}\" t"
            )
            found[table] = cursor.fetchone()
    return found
