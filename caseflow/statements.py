"""Statements of the path that every case goes: PostgreSQL parses and plans them once a connection, Django builds them
once a process.

Django sends values within the text, so that each statement is parsed and planned anew, and for the longer ones that
costs more than running them. What is asked here goes as a prepared statement on Django's own connection: within its
transactions, counted, logged and refused as its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import psycopg
import psycopg.sql
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Model, QuerySet

KEPT_BY_A_CONNECTION = 400  #: prepared statements; one statement counts once for each combination of types it is given

FIRST_SLOT = -4_611_686_018_427_387_001  #: stands for a key in a kept statement; no row has it, or one below it

Values = Mapping[str, Any] | Sequence[Any]


class _Preparing(psycopg.Cursor[Any]):
    """Values travel beside the statement, and the statement is prepared when it is first seen."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> _Preparing:
        super().execute(query, params, **(options | {"prepare": True}))
        self._query = _Logged(query.encode())  # type: ignore[assignment]
        return self


@dataclass(frozen=True, slots=True)
class _Logged:
    """What Django reads of a cursor for its log of queries: the statement as it was sent, without its values."""

    query: bytes


class _Own(threading.local):
    """This thread's cursor, good for as long as Django keeps the connection it was made on."""

    cursor: psycopg.Cursor[Any] | None = None


_own = _Own()


def _executed(statement: str, values: Values) -> Any:
    """The cursor after the statement: as with `connection.cursor()`, but for statements whose text is always the same.

    Where DATABASE_URL says `prepare_threshold=none`, for a pooler that hands a connection from one to the other, the
    values still travel beside the statement and nothing is prepared.
    """
    django = connections[DEFAULT_DB_ALIAS]
    django.close_if_health_check_failed()
    django.ensure_connection()
    raw: psycopg.Connection[Any] = django.connection
    if django.queries_logged or django.execute_wrappers:
        watched = django._prepare_cursor(_Preparing(raw))  # type: ignore[attr-defined]
        watched.execute(statement, values)
        return watched
    cursor = _own.cursor
    if cursor is None or cursor.connection is not raw or cursor.closed:
        raw.prepared_max = KEPT_BY_A_CONNECTION
        cursor = _own.cursor = psycopg.Cursor(raw)
    django.validate_no_broken_transaction()
    with django.wrap_database_errors:
        cursor.execute(statement, values, prepare=True)
    return cursor


def rows_of(statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
    return list(_executed(statement, values).fetchall())


def row_of(statement: str, values: Values = ()) -> tuple[Any, ...] | None:
    """The first row, or None."""
    row: tuple[Any, ...] | None = _executed(statement, values).fetchone()
    return row


def run(statement: str, values: Values = ()) -> None:
    _executed(statement, values)


class Kept:
    """A statement of Django's that differs from one asking to the next by nothing but keys.

    `build(*keys, *settings)` gives a `values_list`. Django needs longer to put together a statement of many conditions
    than PostgreSQL needs to answer it, so it is put together once for each combination of settings.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], *, keys: int = 1) -> None:
        self._build = build
        self._slots = [FIRST_SLOT - place for place in range(keys)]
        self._statement = cache(self._put_together)

    def ask(self, *keys_and_settings: Any) -> list[tuple[Any, ...]]:
        """The rows as PostgreSQL gives them; one query."""
        keys = dict(zip(self._slots, keys_and_settings, strict=False))
        connections[DEFAULT_DB_ALIAS].ensure_connection()
        statement, parameters = self._statement(*keys_and_settings[len(keys) :])
        return rows_of(statement, [_filled(each, keys) for each in parameters])

    def _put_together(self, *settings: Hashable) -> tuple[str, tuple[Any, ...]]:
        """Raises ValueError for a statement that would not be the same tomorrow, or for other keys.

        What is no key goes into the text: only there it shows a plan for all values which partial index serves it.
        """
        statement, parameters = self._build(*self._slots, *settings).query.sql_with_params()
        if any(isinstance(each, datetime) for each in parameters):
            raise ValueError("a moment would be kept with the statement: ask the database for its clock")
        if any(str(slot) in statement or slot not in _flat(parameters) for slot in self._slots):
            raise ValueError("a key is no parameter of the statement")
        raw: psycopg.Connection[Any] = connections[DEFAULT_DB_ALIAS].connection
        first, *rest = statement.split("%s")
        text, kept = [first], []
        for value, piece in zip(parameters, rest, strict=True):
            if any(slot in _flat([value]) for slot in self._slots):
                kept.append(value)
                text.append("%s")
            else:
                text.append(psycopg.sql.quote(value, raw).replace("%", "%%"))
            text.append(piece)
        return "".join(text), tuple(kept)


def _filled(value: Any, keys: Mapping[int, int]) -> Any:
    if isinstance(value, list):
        return [_filled(each, keys) for each in value]
    return keys.get(value, value) if isinstance(value, int) else value


def _flat(values: Any) -> list[Any]:
    return [one for value in values for one in (value if isinstance(value, list) else [value])]


def insert(row: Model) -> None:
    """Insert a new row of a model whose key the database gives, and give it that key."""
    statement, fields = _insertion(type(row))
    values = [field.get_db_prep_save(field.pre_save(row, True), connection) for field in fields]
    (row.pk,) = rows_of(statement, values)[0]
    row._state.adding, row._state.db = False, connection.alias


@cache
def _insertion(model: type[Model]) -> tuple[str, list[Any]]:
    options = model._meta
    fields = [field for field in options.local_concrete_fields if not field.primary_key or field.remote_field]
    names = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    key = options.pk.column
    return f'INSERT INTO "{options.db_table}" ({names}) VALUES ({places}) RETURNING "{key}"', fields
