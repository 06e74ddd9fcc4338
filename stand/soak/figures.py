"""What the run cost and how long things took, from the rows that the product keeps anyway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

#: The parts of a case's time, in the order of the query's columns; design §14.
PARTS = ("T_queue", "T_auto", "T_exec", "T_notify")
POINTS = (0.5, 0.95, 0.99, 1.0)
NAMES = ("p50", "p95", "p99", "max")
PREFIXES = ("cases_", "approvals_", "actions_", "audit_", "accounts_", "operations_")


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """The same points as PostgreSQL's percentile_disc; nothing for no values."""
    ordered = sorted(values)
    if not ordered:
        return {}
    places = [min(len(ordered) - 1, max(0, -(-int(point * 1000) * len(ordered) // 1000) - 1)) for point in POINTS]
    return {name: round(ordered[place], 3) for name, place in zip(NAMES, places, strict=True)}


def database_size(database_url: str) -> int:
    """Bytes."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0


def server_version(database_url: str) -> str:
    with psycopg.connect(database_url, autocommit=True) as connection:
        row = connection.execute("SHOW server_version").fetchone()
    return str(row[0]).split()[0] if row else "?"


def read_figures(database_url: str) -> dict[str, Any]:
    """Times of the parts of a case, attempts by outcome, doubts and how they ended, rows by table."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        parts: dict[str, list[float]] = {name: [] for name in PARTS}
        for row in connection.execute(_PARTS).fetchall():
            for name, seconds in zip(PARTS, row, strict=True):
                if seconds is not None:
                    parts[name].append(float(seconds))
        attempts: dict[str, int] = dict(connection.execute(_ATTEMPTS).fetchall())
        doubts = connection.execute(_DOUBTS).fetchall()
        unresolved = connection.execute("SELECT count(*) FROM actions_action WHERE status = 'UNKNOWN'").fetchone()
        refused = connection.execute(_REFUSED).fetchone()
        rows = {
            table: _count(connection, table)
            for (table,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            if table.startswith(PREFIXES)
        }
    settled = [float(seconds) for _, seconds in doubts if seconds is not None]
    return {
        "parts": {name: percentiles(values) | {"cases": len(values)} for name, values in parts.items()},
        "attempts": attempts,
        "unknown": {
            "effects": sum(kind == "effect" for kind, _ in doubts),
            "notices": sum(kind == "notice" for kind, _ in doubts),
            "unresolved": int(unresolved[0]) if unresolved else 0,
            "seconds": percentiles(settled),
        },
        "stale_refused_in_audit": int(refused[0]) if refused else 0,
        "rows": {table: count for table, count in sorted(rows.items()) if count},
    }


def _count(connection: psycopg.Connection[Any], table: str) -> int:
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
    return int(row[0]) if row else 0


#: Each instant of a case is in one part: of RECEIVED and CHECKING the leased time is automatic, the rest is queue. The
#: soak has no undo window, so all of EXECUTING is the outside's.
_PARTS = """
WITH span AS MATERIALIZED (
  SELECT case_id, to_state AS state, at AS from_at, lead(at) OVER (PARTITION BY case_id ORDER BY version) AS to_at
  FROM audit_auditevent WHERE version IS NOT NULL),
worked AS (
  SELECT s.case_id, sum(extract(epoch FROM least(coalesce(a.ended_at, s.to_at), s.to_at)
                                           - greatest(a.begun_at, s.from_at))) AS auto
  FROM span s JOIN cases_task t ON t.case_id = s.case_id JOIN cases_attempt a ON a.task_id = t.id
  WHERE s.state IN ('RECEIVED', 'CHECKING') AND s.to_at IS NOT NULL
    AND a.begun_at < s.to_at AND coalesce(a.ended_at, s.to_at) > s.from_at
  GROUP BY 1),
lengths AS (
  SELECT case_id,
         sum(extract(epoch FROM to_at - from_at)) FILTER (WHERE state IN ('RECEIVED', 'CHECKING')) AS checking,
         sum(extract(epoch FROM to_at - from_at)) FILTER (WHERE state = 'EXECUTING') AS exec,
         sum(extract(epoch FROM to_at - from_at)) FILTER (WHERE state = 'NOTIFYING') AS notify
  FROM span WHERE to_at IS NOT NULL GROUP BY 1)
SELECT greatest(l.checking - coalesce(w.auto, 0), 0), w.auto, l.exec, l.notify
FROM lengths l LEFT JOIN worked w USING (case_id)
"""

_ATTEMPTS = """
SELECT CASE WHEN ended_at IS NULL THEN 'running' ELSE outcome END, count(*) FROM cases_attempt GROUP BY 1
ORDER BY 2 DESC
"""

#: Every action that was ever UNKNOWN, with the seconds from its first doubt to the end of it.
_DOUBTS = """
SELECT a.kind, CASE WHEN a.status IN ('CONFIRMED', 'REFUSED', 'CANCELLED')
                    THEN extract(epoch FROM a.settled_at - doubt.at) END
FROM (SELECT convert_from(body, 'UTF8')::jsonb -> 'facts' ->> 'action' AS action, min(at) AS at
      FROM audit_auditevent WHERE kind = 'action.unknown' GROUP BY 1) doubt
JOIN actions_action a ON a.public_id = doubt.action
"""

_REFUSED = """
SELECT count(*) FROM audit_auditevent
WHERE kind = 'decision.refused' AND convert_from(body, 'UTF8')::jsonb -> 'facts' ->> 'code' = 'stale_snapshot'
"""
