"""A value is the same whichever way it comes: by a trip, or by Django's own cursor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DataError, connection, transaction

from caseflow.statements import row_of, rows_of, rows_of_each, soon

MOMENTS = (
    "2026-11-30 16:24:58+00",
    "2026-11-30 16:24:58.1+00",
    "2026-11-30 16:24:58.120034+00",
    "2026-11-30 16:24:58.000001+05:30",
    "0001-01-01 00:00:00+00",
    "9999-12-31 23:59:59.999999+00",
    "1890-01-01 00:00:00+00",
)
VALUES = "SELECT 1::int, 2::bigint, 1.50::numeric, true, 'ё'::text, '\\x00ff'::bytea, '{\"a\": [1, null]}'::jsonb,"
VALUES += " NULL::text, ARRAY[1, NULL]::int[], '1 day 02:00'::interval, DATE '2026-11-30', ARRAY['\\x00'::bytea, NULL]"


def by_cursor(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


@pytest.fixture(params=["prepared", "not prepared"])
def way(request: pytest.FixtureRequest, committing_database: None) -> Iterator[str]:
    connection.close()
    connection.ensure_connection()
    if request.param == "not prepared":
        connection.connection.prepare_threshold = None
    yield request.param
    connection.close()


def test_moments_are_those_of_djangos_cursor(way: str) -> None:
    asked = "SELECT " + ", ".join(f"'{moment}'::timestamptz" for moment in MOMENTS) + ", NULL::timestamptz"
    asked += f", ARRAY['{MOMENTS[0]}', NULL]::timestamptz[]"
    (ours,) = rows_of(asked)
    assert [ours] == by_cursor(asked)
    assert [moment.isoformat() for moment in ours[1:4]] == [
        "2026-11-30T16:24:58.100000+00:00",
        "2026-11-30T16:24:58.120034+00:00",
        "2026-11-30T10:54:58.000001+00:00",
    ]
    for moment, theirs in zip(ours[:-2], by_cursor(asked)[0], strict=False):
        assert (moment.tzinfo, moment.utcoffset()) == (theirs.tzinfo, theirs.utcoffset())


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "10000-01-01 00:00:00+00", "0044-03-15 00:00:00+00 BC"])
def test_a_moment_that_python_cannot_tell_is_refused_as_by_djangos_cursor(moment: str, database: None) -> None:
    asked = f"SELECT '{moment}'::timestamptz"
    with pytest.raises(DataError):
        by_cursor(asked)
    with pytest.raises(DataError):
        rows_of(asked)
    assert row_of("SELECT 1") == (1,)


def test_values_of_every_type_are_those_of_djangos_cursor(way: str) -> None:
    assert rows_of(VALUES) == by_cursor(VALUES)


def test_trips_bring_the_same_rows_whether_statements_are_prepared_or_not(way: str) -> None:
    said: list[Any] = []
    with transaction.atomic():
        soon("SELECT %(one)s::text || %(one)s || %(two)s", {"one": "a%", "two": "b"}, said.extend)
        assert rows_of_each(("SELECT %s::int", [1]), ("SELECT %s::bytea, '%%'", [b"\x00"])) == [
            [(1,)],
            [(b"\x00", "%")],
        ]
    assert said == [("a%a%b",)]
    assert bool(rows_of("SELECT FROM pg_prepared_statements WHERE name LIKE 'caseflow%%'")) == (way == "prepared")
