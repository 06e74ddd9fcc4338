"""Heartbeats: one row per process that works or rings, written by the process itself and dated by the database's clock.

Ages are measured by the process's monotonic clock; a clock an hour off changes nothing.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import time
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib.metadata import version
from typing import Any

from django.conf import settings
from django.db import connection

from .processes import all_processes

BEAT_EVERY = timedelta(seconds=5)
BEAT_SILENCE = timedelta(seconds=20)  #: a process that is silent for longer does not live
KEEP_BEATS = timedelta(days=1)
FORGET_EVERY = timedelta(hours=1)

WORKER, DISPATCHER = "worker", "dispatcher"

_BEAT = """
INSERT INTO cases_workerbeat (kind, name, host, pid, booted_at, beat_at, last_fetch_at, live_since, is_live, reason,
       stopped_at, versions)
SELECT %(kind)s, %(name)s, %(host)s, %(pid)s, now.at - %(booted)s * interval '1 second', now.at,
       now.at - %(fetched)s::float8 * interval '1 second', now.at - %(live)s::float8 * interval '1 second',
       %(live)s::float8 IS NOT NULL, %(reason)s, CASE WHEN %(stopped)s THEN now.at END, %(versions)s::jsonb
FROM (SELECT clock_timestamp() AS at) now
ON CONFLICT (host, pid) DO UPDATE SET kind = excluded.kind, name = excluded.name, booted_at = excluded.booted_at,
       beat_at = excluded.beat_at, last_fetch_at = excluded.last_fetch_at, live_since = excluded.live_since,
       is_live = excluded.is_live, reason = excluded.reason, stopped_at = excluded.stopped_at,
       versions = excluded.versions
"""

_FORGET = "DELETE FROM cases_workerbeat WHERE beat_at < clock_timestamp() - %s * interval '1 second'"


@dataclass(frozen=True, slots=True)
class Beat:
    """What a process says of itself; the moments are of its monotonic clock.

    `fetched_at` is a worker's last fetch or a dispatcher's last sweep. `live_since` is None when it is not live.
    """

    kind: str
    booted_at: float
    fetched_at: float | None
    live_since: float | None
    reason: str = ""
    stopped: bool = False
    queues: tuple[str, ...] = ()  #: those that a worker fetches from


def store_beat(beat: Beat) -> None:
    """Write this process's row; one statement."""
    now = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute(
            _BEAT,
            {
                "kind": beat.kind,
                "name": settings.CASEFLOW_ROLE[:40],
                "host": socket.gethostname()[:120],
                "pid": os.getpid(),
                "booted": now - beat.booted_at,
                "fetched": None if beat.fetched_at is None else now - beat.fetched_at,
                "live": None if beat.live_since is None else now - beat.live_since,
                "reason": beat.reason[:500],
                "stopped": beat.stopped,
                "versions": json.dumps(_versions() | {"queues": beat.queues}),
            },
        )


def forget_old_beats() -> int:
    """Delete the rows of processes that are silent for a day; one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, [KEEP_BEATS.total_seconds()])
        return int(cursor.rowcount)


@cache
def _versions() -> dict[str, Any]:
    libraries = {name: version(name) for name in ("django", "dramatiq", "psycopg", "redis")}
    return {"python": platform.python_version(), **libraries, "processes": sorted(all_processes())}
