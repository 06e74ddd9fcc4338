"""Statements that differ from person to person by nothing but the key of who asks; some are asked on every page."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from django.db.models import QuerySet

from caseflow import statements

from .models import Person


class Kept:
    """`build` gives a `values_list` for a person, and for settings that it is told of; all else in it must be fixed."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]]) -> None:
        self._kept = statements.Kept(lambda key, *settings: build(Person(pk=key), *settings))

    def ask(self, person: Person, *settings: Hashable) -> list[tuple[Any, ...]]:
        """The rows as PostgreSQL gives them; one query. Raises ValueError as `statements.Kept` does."""
        return self._kept.ask(person.pk, *settings)
