"""What is sent as a prepared statement lives in the caller's transaction, and outlives its connection."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import DataError, connection, transaction
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
