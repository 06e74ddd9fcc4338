"""Statements of the path that every case goes: PostgreSQL parses and plans them once a connection, Django builds them
once a process.

Django sends values within the text, so that each statement is parsed and planned anew, and for the longer ones that
costs more than running them. What is asked here goes as a prepared statement on Django's own connection: within its
transactions, counted, logged and refused as its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from typing import Any

import psycopg
import psycopg.sql
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Model, QuerySet

from .database.base import DatabaseWrapper
from .database.trips import Row, Values

FIRST_SLOT = -4_611_686_018_427_387_001  #: stands for a key in a kept statement; no row has it, or one below it


class _Watched(psycopg.Cursor[Any]):
    """Values travel beside the statement, for a statement that somebody watches. Nothing is prepared: psycopg would
    drop with its own prepared statements those of our trips."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> _Watched:
        super().execute(query, params, **(options | {"prepare": False}))
        self._query = _Logged(query.encode())  # type: ignore[assignment]
        return self


@dataclass(frozen=True, slots=True)
class _Logged:
    """What Django reads of a cursor for its log of queries: the statement as it was sent, without its values."""

    query: bytes


def rows_of(statement: str, values: Values = ()) -> list[Row]:
    """The rows, as with `connection.cursor()`, but for statements whose text is always the same.

    Where DATABASE_URL says `prepare_threshold=none`, for a pooler that hands a connection from one to the other, the
    values still travel beside the statement and nothing is prepared.
    """
    django = _connected()
    if django.queries_logged or django.execute_wrappers:
        return _watched(django, statement, values)
    _refuse_in_a_broken_transaction(django)
    with django.wrap_database_errors:
        return django.trips.rows(statement, values)


def soon(statement: str, values: Values = (), then: Callable[[list[Row]], None] | None = None) -> None:
    """Run a statement whose rows nobody needs at once: it waits for the next one of its transaction, or its COMMIT.

    What is wrong with it is raised there, and nothing is committed. `then` gets its rows; what it raises takes nothing
    back where the statement left with the COMMIT.
    """
    django = _connected()
    if django.queries_logged or django.execute_wrappers or django.get_autocommit():
        rows = rows_of(statement, values)
        if then is not None:
            then(rows)
        return
    _refuse_in_a_broken_transaction(django)
    with django.wrap_database_errors:
        django.trips.soon(statement, values, then)


def tell_after_commit(statement: str) -> None:
    """Run a statement without rows or values, once, when the present transaction is stored: in a transaction of its
    own, on the trip of the COMMIT. What is wrong with it is logged."""
    django = _connected()
    if django.queries_logged or django.execute_wrappers or django.get_autocommit():
        transaction.on_commit(partial(run, statement), robust=True)
    else:
        django.trips.tell(statement)


def rows_of_each(*statements: tuple[str, Values]) -> list[list[Row]]:
    """The rows of several statements, which follow one another but travel together; each sees what was committed
    before it began."""
    if not statements:
        return []
    found: list[list[Row]] = []
    for statement, values in statements[:-1]:
        soon(statement, values, found.append)
    last = rows_of(*statements[-1])
    return [*found, last]


@dataclass(frozen=True, slots=True)
class Question:
    """A statement whose rows are needed only later, and what they mean; the meaning may fail, and whoever needs it
    then fails by it."""

    statement: str
    values: Values
    meaning: Callable[[list[Row]], Any]

    def asked(self) -> Answer:
        """The question leaves with the next statement, or with COMMIT."""
        answer = Answer(self.meaning)
        soon(self.statement, self.values, answer.told.append)
        return answer

    def answered(self) -> Any:
        """The meaning at once."""
        return self.meaning(rows_of(self.statement, self.values))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question has found; asked for earlier than that, it sends what waits."""

    meaning: Callable[[list[Row]], Any]
    told: list[list[Row]] = field(default_factory=list)

    def value(self) -> Any:
        if not self.told:
            django = _connected()
            with django.wrap_database_errors:
                django.trips.send()
        return self.meaning(self.told[0])


def _connected() -> DatabaseWrapper:
    django: DatabaseWrapper = connections[DEFAULT_DB_ALIAS]  # type: ignore[assignment]
    if not django.health_check_done:  # type: ignore[attr-defined]
        django.close_if_health_check_failed()
    if django.connection is None:
        django.ensure_connection()
    return django


def _refuse_in_a_broken_transaction(django: DatabaseWrapper) -> None:
    if django.needs_rollback and django.in_atomic_block:
        django.validate_no_broken_transaction()


def _watched(django: DatabaseWrapper, statement: str, values: Values) -> list[Row]:
    cursor = django._prepare_cursor(_Watched(django.connection))  # type: ignore[attr-defined]
    cursor.execute(statement, values)
    return list(cursor.fetchall()) if cursor.description else []


def row_of(statement: str, values: Values = ()) -> Row | None:
    """The first row, or None."""
    rows = rows_of(statement, values)
    return rows[0] if rows else None


def run(statement: str, values: Values = ()) -> None:
    rows_of(statement, values)


class Kept:
    """A statement of Django's that differs from one asking to the next by nothing but keys.

    `build(*keys, *settings)` gives a `values_list`. Django needs longer to put together a statement of many conditions
    than PostgreSQL needs to answer it, so it is put together once for each combination of settings.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], *, keys: int = 1) -> None:
        self._build = build
        self._slots = [FIRST_SLOT - place for place in range(keys)]
        self._statement = cache(self._put_together)

    def ask(self, *keys_and_settings: Any) -> list[Row]:
        """The rows as PostgreSQL gives them; one query."""
        return rows_of(*self.of(*keys_and_settings))

    def of(self, *keys_and_settings: Any) -> tuple[str, Values]:
        """The statement and its values, to be sent with others."""
        keys = dict(zip(self._slots, keys_and_settings, strict=False))
        statement, parameters = self._statement(*keys_and_settings[len(keys) :])
        return statement, [_filled(each, keys) for each in parameters]

    def _put_together(self, *settings: Hashable) -> tuple[str, tuple[Any, ...]]:
        """Raises ValueError for a statement that would not be the same tomorrow, or for other keys.

        What is no key goes into the text: only there it shows a plan for all values which partial index serves it.
        """
        statement, parameters = self._build(*self._slots, *settings).query.sql_with_params()
        if any(isinstance(each, datetime) for each in parameters):
            raise ValueError("a moment would be kept with the statement: ask the database for its clock")
        if any(str(slot) in statement or slot not in _flat(parameters) for slot in self._slots):
            raise ValueError("a key is no parameter of the statement")
        raw: psycopg.Connection[Any] = _connected().connection
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
    """Insert a new row of a model, as `soon` does; the key that the database gives it is there with the next trip."""
    statement, fields = _insertion(type(row))
    django = connections[DEFAULT_DB_ALIAS]  # the fields ask it for much, and `connection` would look it up each time
    values = [field.get_db_prep_save(field.pre_save(row, True), django) for field in fields]

    def inserted(rows: list[Row]) -> None:
        ((row.pk,),) = rows
        row._state.adding, row._state.db = False, django.alias

    soon(statement, values, inserted)


@cache
def _insertion(model: type[Model]) -> tuple[str, list[Any]]:
    options = model._meta
    fields = [field for field in options.local_concrete_fields if not field.primary_key or field.remote_field]
    names = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    key = options.pk.column
    return f'INSERT INTO "{options.db_table}" ({names}) VALUES ({places}) RETURNING "{key}"', fields
