"""Keeping leases alive: one thread per process renews all of them in one statement, by the database's clock."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import connection

from .stages import LEASE, RENEW_EVERY

if TYPE_CHECKING:
    from .claiming import Lease

log = logging.getLogger("caseflow.leases")

_RENEW = """
UPDATE cases_task t SET leased_until = least(clock_timestamp() + %s * interval '1 second', t.lease_limit_at)
FROM unnest(%s::bigint[], %s::bigint[]) AS held(id, fence)
WHERE t.id = held.id AND t.fence = held.fence AND t.status = 'leased' AND t.lease_limit_at > clock_timestamp()
RETURNING t.id, t.fence
"""

_held: dict[int, int] = {}
_renewed: dict[tuple[int, int], float] = {}  #: (task, fence) → monotonic moment before the newest renewal
_lock = threading.Lock()
_renewer: threading.Thread | None = None


@contextmanager
def held(lease: Lease) -> Iterator[None]:
    """Renew the lease while the block runs, never past the stage's own limit."""
    with _lock:
        _held[lease.task_id] = lease.fence
        _start_renewer()
    try:
        yield
    finally:
        with _lock:
            if _held.get(lease.task_id) == lease.fence:
                del _held[lease.task_id]
            _renewed.pop((lease.task_id, lease.fence), None)


def renew_held() -> int:
    """Renew every lease of this process; the number of leases still held."""
    with _lock:
        leases = dict(_held)
    if not leases:
        return 0
    before = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, [LEASE.total_seconds(), list(leases), list(leases.values())])
        renewed = cursor.fetchall()
    with _lock:
        _renewed.update({(task, fence): before for task, fence in renewed if _held.get(task) == fence})
    return len(renewed)


def sure_until(lease: Lease) -> float:
    """Until which moment of the monotonic clock nobody else can hold the task, as far as this process knows.

    Never later than the lease ends for the database: each part counts from before the statement that began it.
    """
    with _lock:
        renewed = _renewed.get((lease.task_id, lease.fence))
    definition = lease.definition
    ends = lease.taken + definition.lease.total_seconds()
    if renewed is not None:
        ends = max(ends, renewed + LEASE.total_seconds())
    return min(ends, lease.taken + definition.limit.total_seconds())


def _start_renewer() -> None:
    global _renewer
    if _renewer is None or not _renewer.is_alive():
        _renewer = threading.Thread(target=_renew_forever, name="lease-renewal", daemon=True)
        _renewer.start()


def _renew_forever() -> None:
    pause = threading.Event()
    while not pause.wait(RENEW_EVERY.total_seconds()):
        try:
            renew_held()
        except Exception:
            # A lease that is not renewed lapses safely; the next round gets a new connection.
            log.warning("leases could not be renewed", exc_info=True)
            connection.close()
