"""What was written stays: by right for the product, by trigger for everybody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.db import ProgrammingError, connection, transaction

from tests.driving import Engine, Story, fingerprint

ROOT = Path(__file__).resolve().parents[2]
APPEND_ONLY = {
    "audit_auditevent": "kind",
    "cases_intakerevision": "digest",
    "cases_observation": "source",
    "cases_personaltext": "field",
    "approvals_proposal": "digest",
    "approvals_decision": "kind",
}
#: Table → (a column that never changes, one that is set when the row ends).
WRITE_ONCE = {"cases_attempt": ("worker", "outcome"), "actions_externalcall": ("call_id", "outcome")}
TABLES = [*APPEND_ONLY, *WRITE_ONCE]


@pytest.fixture
def completed(engine: Engine) -> Story:
    """A case that left rows in every table."""
    story = engine.proposed()
    story.decide(reason="Проверено")
    story.run()
    assert story.state == "COMPLETED"
    assert all(fingerprint()[table][0] for table in TABLES)
    return story


def superuser() -> psycopg.Connection[object]:
    """The server's administrator, in the test database."""
    url = urlsplit(os.environ["CASEFLOW_TEST_SUPERUSER_URL"])
    name = connection.settings_dict["NAME"]
    return psycopg.connect(urlunsplit(url._replace(path=f"/{name}")), autocommit=True)


@pytest.mark.parametrize("statement", ["DELETE FROM {}", "TRUNCATE {} CASCADE", "UPDATE {} SET id = id"])
def test_the_product_may_not_change_or_remove_what_was_written(statement: str, completed: Story) -> None:
    for table in TABLES:
        refused = pytest.raises(ProgrammingError, match=f"permission denied for table {table}")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement.format(table))


@pytest.mark.parametrize("role", ["owner", "replica"])
def test_nobody_changes_or_removes_a_row_not_even_past_ordinary_triggers(role: str, completed: Story) -> None:
    before = fingerprint()
    with completed.engine.owner if role == "owner" else superuser() as other:
        if role == "replica":
            other.execute("SET session_replication_role = replica")
        for table, column in APPEND_ONLY.items():
            for statement in (f"UPDATE {table} SET {column} = 'x'", f"DELETE FROM {table}"):
                with pytest.raises(psycopg.Error, match="Cannot update or delete rows"):
                    other.execute(statement)
        for table, (column, ending) in WRITE_ONCE.items():
            for statement in (f"UPDATE {table} SET {column} = 'x'", f"UPDATE {table} SET {ending} = 'x'"):
                with pytest.raises(psycopg.Error, match="Cannot update rows"):
                    other.execute(statement)
            with pytest.raises(psycopg.Error, match="Cannot delete rows"):
                other.execute(f"DELETE FROM {table}")
        with pytest.raises(psycopg.Error, match="unexplained change"):
            other.execute("UPDATE cases_case SET state = 'CLOSED_NO_CHANGE', version = version + 1")
    assert fingerprint() == before


def test_every_protecting_trigger_also_fires_under_replication(completed: Story) -> None:
    rows = completed.engine.owner.execute(
        "SELECT tgname, tgenabled FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
        " WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace"
    ).fetchall()
    assert len(rows) > len(TABLES)
    assert {name for name, enabled in rows if enabled != "A"} == set()


def test_a_trigger_that_was_made_anew_is_as_strong_after_the_next_migration(completed: Story) -> None:
    owner = completed.engine.owner
    where = "tgrelid = 'audit_auditevent'::regclass AND tgname LIKE 'pgtrigger%'"
    name, definition = owner.execute(f"SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE {where}").fetchone()  # type: ignore[misc]
    owner.execute(f"DROP TRIGGER {name} ON audit_auditevent")
    owner.execute(definition)
    assert owner.execute(f"SELECT tgenabled FROM pg_trigger WHERE {where}").fetchone() == ("O",)

    _migrate(connection.settings_dict["NAME"])

    assert owner.execute(f"SELECT tgenabled FROM pg_trigger WHERE {where}").fetchone() == ("A",)


def _migrate(database: str) -> None:
    """As a deployment does it: in a process of its own, by the owner."""
    addresses = {
        name: urlunsplit(urlsplit(os.environ[name])._replace(path=f"/{database}"))
        for name in ("DATABASE_URL", "DATABASE_OWNER_URL")
    }
    command = [sys.executable, "manage.py", "migrate", "--database", "owner", "--skip-checks", "-v", "0"]
    subprocess.run(command, cwd=ROOT, env=os.environ | addresses, check=True, timeout=60)
