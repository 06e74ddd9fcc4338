"""What somebody with the server's password does to the audit trail, past every trigger and constraint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.db import connection


def superuser() -> psycopg.Connection[Any]:
    """The server's administrator, in the test database."""
    url = urlsplit(os.environ["CASEFLOW_TEST_SUPERUSER_URL"])
    name = connection.settings_dict["NAME"]
    return psycopg.connect(urlunsplit(url._replace(path=f"/{name}")), autocommit=True)


def tamper(table: str, *statements: tuple[str, Sequence[Any]]) -> None:
    """Run the statements with every trigger of the table, foreign keys included, out of the way; put them back."""
    with superuser() as root, root.transaction():
        triggers = root.execute(
            "SELECT quote_ident(tgname), tgenabled FROM pg_trigger WHERE tgrelid = %s::regclass", [table]
        ).fetchall()
        root.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        for statement, values in statements:
            root.execute(statement, values)
        for name, enabled in triggers:
            root.execute(f"ALTER TABLE {table} ENABLE {'ALWAYS' if enabled == 'A' else ''} TRIGGER {name}")
