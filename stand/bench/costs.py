"""What a stretch of work took: processor time from /proc; commits, statements and log volume from PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from stand.soak.metering import families

TICKS = os.sysconf("SC_CLK_TCK")

#: Not counted as statements: the ends of transactions, which the commits tell, what connecting says, and what foreign
#: keys and deferred triggers ask while a transaction commits.
_STATEMENTS = """
SELECT coalesce(sum(s.calls), 0)::bigint FROM pg_stat_statements s
JOIN pg_database d ON d.oid = s.dbid JOIN pg_roles r ON r.oid = s.userid
WHERE d.datname = current_database() AND r.rolname <> current_user
  AND s.query !~* '^\\s*(BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET |DEALLOCATE)'
  AND s.query !~ '^SELECT [$0-9]+ FROM ONLY'
  AND position('NEW.case_id' IN s.query) = 0 AND position('NEW.id' IN s.query) = 0
"""
_DEAREST = """
SELECT s.query, s.calls::float8 / %s, s.total_plan_time / %s, s.total_exec_time / %s
FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid JOIN pg_roles r ON r.oid = s.userid
WHERE d.datname = current_database() AND r.rolname <> current_user
ORDER BY s.total_plan_time + s.total_exec_time DESC LIMIT 60
"""
_COMMITS = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
_WAL = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8"


def processor_seconds(pids: Mapping[str, int]) -> dict[str, float]:
    """User and system time of each role with all its children, also of those that ended and were waited for."""
    return {role: sum(_of_process(pid) for pid in family) for role, family in families(dict(pids)).items()}


def _of_process(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS


def spent(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Seconds by role between two looks."""
    return {role: after[role] - before.get(role, 0.0) for role in after}


@dataclass(frozen=True, slots=True)
class Stored:
    """PostgreSQL's own counters at one moment."""

    commits: int
    statements: int
    wal: float  #: bytes

    def since(self, before: Stored) -> Stored:
        return Stored(self.commits - before.commits, self.statements - before.statements, self.wal - before.wal)


class Counters:
    """Looks at one database as the administrator, whose own statements do not count.

    A session hands its commits over when it ends, or a second later than it made them: look when all have ended.
    """

    def __init__(self, administrator_url: str) -> None:
        self._connection: psycopg.Connection[Any] = psycopg.connect(administrator_url, autocommit=True)
        self._looks = 0

    def __enter__(self) -> Counters:
        self._connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def look(self) -> Stored:
        self._connection.execute("SELECT pg_stat_force_next_flush()")
        return Stored(int(self._one(_COMMITS)), int(self._one(_STATEMENTS)), float(self._one(_WAL)))

    def statements(self) -> int:
        return int(self._one(_STATEMENTS))

    def watch_statements(self) -> None:
        """From now on with the time of planning, which costs a little itself."""
        self._connection.execute("ALTER SYSTEM SET pg_stat_statements.track_planning = on")
        self._connection.execute("SELECT pg_reload_conf()")
        self._connection.execute("SELECT pg_stat_statements_reset()")

    def dearest_statements(self, cases: int) -> str:
        """The statements that took PostgreSQL longest since then, per case, as text; then it stops watching."""
        rows = self._connection.execute(_DEAREST, [cases, cases, cases]).fetchall()
        self._connection.execute("ALTER SYSTEM RESET pg_stat_statements.track_planning")
        self._connection.execute("SELECT pg_reload_conf()")
        lines = ["statements by time, per case", "   calls  plan ms  exec ms"]
        for query, calls, planning, executing in rows:
            lines.append(f"{calls:8.2f} {planning:8.3f} {executing:8.3f}  {' '.join(query.split())[:170]}")
        return "\n".join(lines) + "\n"

    def _one(self, statement: str) -> Any:
        row = self._connection.execute(statement).fetchone()
        assert row is not None
        return row[0]
