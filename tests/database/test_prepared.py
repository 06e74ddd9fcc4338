"""What is sent as a prepared statement lives in the caller's transaction, and outlives its connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import DataError, OperationalError, close_old_connections, connection, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from caseflow.statements import row_of, rows_of, run

MARKED = "SELECT %s::int + 4821"


def prepared() -> list[tuple[Any, ...]]:
    return rows_of(
        "SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements WHERE statement ~ '4821$'"
    )


def test_a_statement_is_planned_once_for_all_its_values(committing_database: None) -> None:
    connection.close()
    assert [row_of(MARKED, [value]) for value in range(8)] == [(4821 + value,) for value in range(8)]
    assert prepared() == [("SELECT $1::int + 4821", 8, 0)]


def test_a_connection_that_was_closed_is_followed_by_one_that_prepares_anew(committing_database: None) -> None:
    connection.close()
    for _time in range(2):
        assert row_of(MARKED, [1]) == (4822,)
        assert len(prepared()) == 1
        connection.close()


def test_without_prepared_statements_the_answers_are_the_same(committing_database: None) -> None:
    connection.close()
    connection.ensure_connection()
    connection.connection.prepare_threshold = None
    assert row_of(MARKED, [1]) == (4822,)
    assert prepared() == []
    connection.close()


def test_a_pooler_that_knows_no_prepared_statements_is_named_in_the_address() -> None:
    from caseflow.settings import _database

    assert _database("postgresql://r:r@h/x?prepare_threshold=none", timeouts=True)["OPTIONS"] == {
        **django_settings.DATABASES["default"]["OPTIONS"],
        "prepare_threshold": None,
    }


def test_what_is_refused_refuses_the_whole_transaction_and_is_an_error_of_django(committing_database: None) -> None:
    with pytest.raises(TransactionManagementError), transaction.atomic():
        with pytest.raises(DataError), transaction.atomic(savepoint=False):
            run("SELECT 1 / %s::int", [0])
        run(MARKED, [1])


def test_the_log_of_queries_has_them(database: None) -> None:
    with CaptureQueriesContext(connection) as queries:
        run(MARKED, [1])
    assert [query["sql"] for query in queries] == [MARKED]


TOLD = "SELECT told FROM made_longer WHERE told <> %s", "SELECT told FROM made_longer WHERE told = %s"


@pytest.fixture
def made_longer(committing_database: None, as_owner: psycopg.Connection[Any]) -> Iterator[Callable[[int], None]]:
    """A migration of a column that prepared statements of ours return, while we work."""
    as_owner.execute("CREATE TABLE made_longer (told varchar(1)); GRANT SELECT ON made_longer TO PUBLIC")
    yield lambda length: as_owner.execute(f"ALTER TABLE made_longer ALTER told TYPE varchar({length})") and None
    as_owner.execute("DROP TABLE made_longer")


def test_a_column_made_longer_is_taken_once_as_a_lost_connection_is(made_longer: Callable[[int], None]) -> None:
    def read_both() -> list[Any]:
        with transaction.atomic():
            return [rows_of(statement, ["a"]) for statement in TOLD]

    assert read_both() == [[], []]
    made_longer(2)
    with pytest.raises(OperationalError, match="cached plan"):
        read_both()
    assert read_both() == [[], []]
    made_longer(3)
    with pytest.raises(OperationalError, match="cached plan"):
        rows_of(TOLD[0], ["a"])
    close_old_connections()  # as between two tasks, and between two requests
    assert read_both() == [[], []]
