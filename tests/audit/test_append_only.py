"""What was written stays: by right for the product, by trigger for everybody."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.apps import apps
from django.db import DatabaseError, ProgrammingError, connection, models, transaction

from audit.linking import link_all
from audit.models import AppendOnly
from tests.audit.tampering import superuser
from tests.driving import Engine, Story, fingerprint

ROOT = Path(__file__).resolve().parents[2]


def tables(base: type[models.Model]) -> list[str]:
    """The tables of every model that promises what `base` says, in whatever room it was made."""
    return sorted(model._meta.db_table for model in apps.get_models() if issubclass(model, base))


APPEND_ONLY = tables(AppendOnly)
#: Table → (a column that never changes, one that is set when the row ends).
WRITE_ONCE = {"cases_attempt": ("worker", "outcome"), "actions_externalcall": ("call_id", "outcome")}
TABLES = [*APPEND_ONLY, *WRITE_ONCE]
#: Tables of which the product may change some columns only, with its rights.
CUT = {
    model._meta.db_table: model.runtime_rights
    for model in apps.get_models()
    if "UPDATE (" in getattr(model, "runtime_rights", "")
}
#: A log of theirs is trimmed: no part of any history.
TRIMMED = {"operations_hookdelivery"}
#: Those that a completed case fills.
FILLED = [
    "approvals_decision",
    "approvals_proposal",
    "audit_auditevent",
    "audit_organisationlink",
    "cases_intakerevision",
    "cases_observation",
    "cases_personaltext",
    *WRITE_ONCE,
]


@pytest.fixture
def completed(engine: Engine) -> Story:
    """A case that left rows in every table."""
    story = engine.proposed()
    story.decide(reason="Проверено")
    story.run()
    assert story.state == "COMPLETED"
    link_all()
    assert all(fingerprint()[table][0] for table in FILLED)
    return story


@pytest.mark.parametrize("statement", ["DELETE FROM {}", "TRUNCATE {} CASCADE", "UPDATE {} SET id = id"])
def test_the_product_may_not_change_or_remove_what_was_written(statement: str, completed: Story) -> None:
    kept = {*TABLES, *CUT} - (TRIMMED if statement.startswith("DELETE") else set())
    for table in kept:
        refused = pytest.raises(ProgrammingError, match=f"permission denied for table {table}")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement.format(table))


def test_every_table_that_promises_to_keep_its_rows_is_tried() -> None:
    assert set(FILLED) <= set(TABLES)
    assert {"audit_auditevent", "audit_organisationlink", "operations_repair"} <= set(APPEND_ONLY)
    assert set(WRITE_ONCE) <= set(CUT)
    assert {table for table, rights in CUT.items() if "DELETE" in rights} == TRIMMED


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE {} DISABLE TRIGGER ALL",
        "ALTER TABLE {} DISABLE TRIGGER USER",
        "DROP TABLE {}",
        "CREATE RULE kept AS ON UPDATE TO {} DO INSTEAD NOTHING",
        "CREATE TRIGGER mine BEFORE INSERT ON {} FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "GRANT UPDATE ON {} TO PUBLIC",
        "ALTER TABLE {} OWNER TO CURRENT_USER",
    ],
)
def test_the_product_may_not_take_the_protection_off(statement: str, completed: Story) -> None:
    refused_with = r"must be owner|permission denied|no privileges|not .* owner"
    before = fingerprint()
    for table in TABLES:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement.format(table))
                cursor.execute(
                    "SELECT has_table_privilege('public', %s, 'UPDATE') OR pg_get_userbyid(relowner) = current_user"
                    " FROM pg_class WHERE oid = %s::regclass",
                    [table, table],
                )
                assert cursor.fetchone() == (False,)  # a GRANT without the right to it only warns
                assert statement.startswith("GRANT"), f"{statement} was not refused for {table}"
        except ProgrammingError as error:
            assert re.search(refused_with, str(error)), error
    assert fingerprint() == before


@pytest.mark.parametrize(
    "statement",
    [
        "SET session_replication_role = replica",
        "SET LOCAL session_replication_role = replica",
        "SELECT set_config('session_replication_role', 'replica', false)",
        "ALTER ROLE CURRENT_USER SET session_replication_role = replica",
        "SET ROLE caseflow_owner",
        "SET SESSION AUTHORIZATION postgres",
    ],
)
def test_the_product_may_not_become_somebody_who_could(statement: str, completed: Story) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        connection.cursor().execute(statement)


def test_how_a_call_or_an_attempt_ended_is_said_once(completed: Story) -> None:
    before = fingerprint()
    for table in WRITE_ONCE:
        refused = pytest.raises(DatabaseError, match=r"Cannot update (of .*)?rows")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE {table} SET outcome = 'refused', ended_at = clock_timestamp()")
    assert fingerprint() == before


@pytest.mark.parametrize("role", ["owner", "replica"])
def test_nobody_changes_or_removes_a_row_not_even_past_ordinary_triggers(role: str, completed: Story) -> None:
    before = fingerprint()
    with completed.engine.owner if role == "owner" else superuser() as other:
        if role == "replica":
            other.execute("SET session_replication_role = replica")
        for table in APPEND_ONLY:
            for statement in (f"UPDATE {table} SET id = id", f"DELETE FROM {table}"):
                if before[table][0] == 0:
                    continue  # a trigger for each row has no row to speak of; the test below asks for the trigger
                with pytest.raises(psycopg.Error, match="Cannot update or delete rows"):
                    other.execute(statement)
        for table, (column, ending) in WRITE_ONCE.items():
            for statement in (f"UPDATE {table} SET {column} = 'x'", f"UPDATE {table} SET {ending} = 'x'"):
                with pytest.raises(psycopg.Error, match=r"Cannot update (of .*)?rows"):
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
    protected = completed.engine.owner.execute(
        "SELECT DISTINCT relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
        " WHERE tgname LIKE 'pgtrigger_append_only%'"
    ).fetchall()
    assert sorted(name for (name,) in protected) == APPEND_ONLY
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
