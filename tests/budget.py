"""Counting what a stretch of work costs PostgreSQL: commits by pg_stat_database, statements by pg_stat_statements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.db import connection

_STATEMENTS = """
SELECT query, calls FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid JOIN pg_roles r ON r.oid = s.userid
WHERE d.datname = current_database() AND r.rolname = %s ORDER BY calls DESC, query
"""
#: Left out: BEGIN and COMMIT, the sign-in session, renewals of leases, and the flush that makes counting possible. What
#: the deferred triggers of migration cases.0002 ask is a part of COMMIT: they alone name the row they check.
LEFT_OUT = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SELECT PG_STAT_FORCE", "SET ")
SESSION, INSIDE_COMMIT = "django_session", ("= NEW.case_id", "= NEW.id")
RENEWAL = "SET leased_until = least("  #: of leases, every 3 s: the clock's, and none where nothing takes so long


@dataclass
class Counted:
    """What a stretch cost; `queries` are the counted statements with their calls."""

    commits: int
    statements: int
    queries: list[tuple[str, int]] = field(default_factory=list)

    def summary(self) -> str:
        lines = [f"{calls:3} {' '.join(query.split())[:150]}" for query, calls in self.queries]
        return "\n".join([f"{self.commits} commits, {self.statements} statements", *lines])


class PostgresCounter:
    """Counts the runtime role's work in the present database; the superuser's own polls are taken off."""

    def __init__(self, superuser: psycopg.Connection[Any]) -> None:
        self._superuser = superuser
        self._role = connection.settings_dict["USER"]
        self._polls = 0
        self._before = 0

    def quiet(self) -> None:
        """Autovacuum would commit in between."""
        self._superuser.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        self._superuser.execute("ALTER SYSTEM SET autovacuum = off")
        self._superuser.execute("SELECT pg_reload_conf()")

    def loud(self) -> None:
        self._superuser.execute("ALTER SYSTEM RESET autovacuum")
        self._superuser.execute("SELECT pg_reload_conf()")

    def start(self) -> None:
        self._superuser.execute("SELECT pg_stat_statements_reset()")
        self._before = self._commits()
        self._polls = 0

    def poll(self, statement: str) -> Any:
        """One look into the database that is not part of the path."""
        self._polls += 1
        row = self._superuser.execute(statement).fetchone()
        assert row is not None
        return row

    def stop(self) -> Counted:
        commits = self._commits() - self._before
        rows = self._superuser.execute(_STATEMENTS, [self._role]).fetchall()
        aside = sum(calls for query, calls in rows if SESSION in query or RENEWAL in query)
        counted = [(query, calls) for query, calls in rows if not self._is_left_out(query)]
        # Of the two looks at the counter the first one's commits lie before, the second one's own are not seen yet.
        return Counted(commits - self._polls - aside - self._looks, sum(calls for _, calls in counted), counted)

    def _commits(self) -> int:
        # Each session keeps its count to itself until it is told to hand it over.
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_force_next_flush()")
        self._superuser.execute("SELECT pg_stat_force_next_flush()")
        row = self._superuser.execute(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
        assert row is not None
        return int(row[0])

    #: Commits of counting itself between two looks: the read of the first, the two flushes of the second, the reset.
    _looks = 3

    @staticmethod
    def _is_left_out(query: str) -> bool:
        if SESSION in query or RENEWAL in query or any(mark in query for mark in INSIDE_COMMIT):
            return True
        return query.upper().lstrip().startswith(LEFT_OUT)
