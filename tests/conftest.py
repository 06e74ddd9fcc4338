"""One database, made by the owner as in production, used by the product as the runtime role."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.conf import settings as configured
from django.db import connections
from django.test import TransactionTestCase
from django.test.utils import setup_databases
from django.utils import translation
from psycopg.pq import TransactionStatus
from pytest_django.plugin import DjangoDbBlocker

# Playwright keeps an event loop running in the test's own thread; Django would take that for asynchronous code.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

SEEDS = "caseflow_test_seeds"  #: schema with what the migrations themselves put into tables


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Make the test database as the owner; the runtime role's alias takes over its name."""
    with django_db_blocker.unblock():
        setup_databases(verbosity=0, interactive=False, aliases={"default", "owner"}, serialized_aliases=set())
        assert connections["default"].settings_dict["NAME"].startswith("test_"), "tests would write to real data"
        _keep_seeds()
    yield
    # Not dropped: threads of a live server may still hold connections, the stand's server goes as a whole, and on a
    # server of one's own the next run drops it first.
    connections.close_all()
    for connection in _connections.values():
        connection.close()


@pytest.fixture(autouse=True)
def _limits_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test spends what another may do in a minute."""
    monkeypatch.setattr(configured, "CASEFLOW_LIMITS_NAME", uuid.uuid4().hex)


@pytest.fixture(autouse=True)
def _language_of_its_own() -> Iterator[None]:
    """A page leaves its reader's language on in the thread of the test."""
    yield
    translation.deactivate()


@pytest.fixture
def database(db: None) -> None:
    """The database inside one transaction that is rolled back after the test."""


@pytest.fixture
def committing_database(transactional_db: None) -> None:
    """The database with real commits, for what only shows between connections; emptied after the test."""


@pytest.fixture
def as_owner(django_db_setup: None) -> psycopg.Connection[Any]:
    """A connection of the owner beside the product's, each statement its own transaction."""
    return _kept("owner", _connect_as_owner)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's Chromium; as root it runs without its sandbox."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    return {**browser_type_launch_args, "executable_path": os.environ.get("CASEFLOW_CHROMIUM"), "args": arguments}


def _connect_as_owner() -> psycopg.Connection[Any]:
    # Not through Django, which lets a test touch only the databases it asked for.
    return psycopg.connect(**connections["owner"].get_connection_params())


def _connect_as_superuser() -> psycopg.Connection[Any]:
    name = connections["owner"].settings_dict["NAME"]
    return psycopg.connect(os.environ["CASEFLOW_TEST_SUPERUSER_URL"], dbname=name)


#: Connections that tests use one after the other: a new one, which knows no table yet, costs more than most tests.
_connections: dict[str, psycopg.Connection[Any]] = {}


def _kept(name: str, connect: Callable[[], psycopg.Connection[Any]]) -> psycopg.Connection[Any]:
    known = _connections.get(name)
    if known is None or not _is_at_rest(known):
        if known is not None:
            known.close()
        known = _connections[name] = connect()
        known.autocommit = True
    return known


def _is_at_rest(connection: psycopg.Connection[Any]) -> bool:
    return not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE


def _close_what_is_not_at_rest() -> None:
    for wrapper in connections.all(initialized_only=True):
        raw = wrapper.connection
        if raw is not None and (wrapper.in_atomic_block or not wrapper.get_autocommit() or not _is_at_rest(raw)):
            wrapper.close()


def _tables(cursor: Any) -> list[str]:
    cursor.execute("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    return [name for (name,) in cursor.fetchall()]


def _keep_seeds() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"CREATE SCHEMA {SEEDS}")
        for table in _tables(cursor):
            cursor.execute(f"SELECT EXISTS (SELECT FROM {table})")
            if cursor.fetchone()[0]:
                cursor.execute(f"CREATE TABLE {SEEDS}.{table} AS TABLE {table}")


def _empty_as_superuser(self: TransactionTestCase) -> None:
    """Bring every table back to what the migrations left; the product's roles may not.

    Only what a test filled is emptied, and row by row: TRUNCATE makes new files for a table and each of its indexes.
    """
    _close_what_is_not_at_rest()
    connection = _kept("superuser", _connect_as_superuser)
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '10s'")
        cursor.execute("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = %s", [SEEDS])
        seeded = {name for (name,) in cursor.fetchall()}
        changed = [
            f"SELECT '{table}' WHERE EXISTS (TABLE {table} EXCEPT TABLE {SEEDS}.{table})"
            f" OR EXISTS (TABLE {SEEDS}.{table} EXCEPT TABLE {table})"
            if table in seeded
            else f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})"
            for table in _tables(cursor)
        ]
        cursor.execute(" UNION ALL ".join(changed))
        filled = [name for (name,) in cursor.fetchall()]
        if not filled:
            return
        # Foreign keys and ordinary triggers do not fire for a replica; those that keep rows always do.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "SELECT tgrelid::regclass, quote_ident(tgname) FROM pg_trigger"
            " WHERE tgenabled = 'A' AND tgrelid = ANY(%s::regclass[])",
            [filled],
        )
        keepers = cursor.fetchall()
        statements = [f"ALTER TABLE {table} DISABLE TRIGGER {name}" for table, name in keepers]
        statements += [f"DELETE FROM {table}" for table in filled]
        statements += [f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}" for table, name in keepers]
        statements += [
            f"INSERT INTO {table} OVERRIDING SYSTEM VALUE (TABLE {SEEDS}.{table} EXCEPT TABLE {table})"
            for table in sorted(seeded)
        ]
        cursor.execute("; ".join(statements))


@pytest.fixture(scope="session", autouse=True)
def _transactional_tests_are_emptied_by_the_superuser() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", _empty_as_superuser)
        patch.setattr(TransactionTestCase, "_should_reload_connections", lambda self: False)
        yield
