"""Statements that differ from person to person by nothing but the key of who asks: put together once a process.

Django needs longer to put together a statement of many conditions than PostgreSQL needs to answer it, and some are
asked on every page.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from .models import Person

SOMEBODY = -4_611_686_018_427_387_001  #: stands for the person's key in a kept statement; nobody has it


class Kept:
    """`build` gives a `values_list` for a person, and for settings that it is told of; all else in it must be fixed."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]]) -> None:
        self._build = build
        self._statement = cache(self._put_together)

    def ask(self, person: Person, *settings: Hashable) -> list[tuple[Any, ...]]:
        """The rows as PostgreSQL gives them; one query."""
        statement, parameters = self._statement(*settings)
        with connection.cursor() as cursor:
            cursor.execute(statement, [_for(person.pk, each) for each in parameters])
            return list(cursor.fetchall())

    def _put_together(self, *settings: Hashable) -> tuple[str, tuple[Any, ...]]:
        """Raises ValueError for a statement that would not be the same tomorrow, or for anybody else."""
        statement, parameters = self._build(Person(pk=SOMEBODY), *settings).query.sql_with_params()
        if any(isinstance(each, datetime) for each in parameters):
            raise ValueError("a moment would be kept with the statement: ask the database for its clock")
        if str(SOMEBODY) in statement or SOMEBODY not in _flat(parameters):
            raise ValueError("the person's key is no parameter of the statement")
        return statement, parameters


def _for(key: int, value: Any) -> Any:
    if isinstance(value, list):
        return [_for(key, each) for each in value]
    return key if value == SOMEBODY else value


def _flat(values: Any) -> list[Any]:
    return [one for value in values for one in (value if isinstance(value, list) else [value])]
