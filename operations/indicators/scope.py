"""Whose rows are counted, over how long, and the one way in which indicators ask."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any, Protocol

from django.db import connection

from accounts import access
from accounts.models import Organisation
from accounts.principal import Principal
from caseflow.domain.roles import Right


@dataclass(frozen=True, slots=True)
class Scope:
    """Keys of organisations; None for the whole platform with its own work."""

    organisations: tuple[int, ...] | None


#: Everything, for who runs the platform: counts only, and never beside a case.
PLATFORM = Scope(None)


def scope_of(principal: Principal, organisation: str = "", right: Right = Right.SEE_CASES) -> Scope:
    """The organisations whose cases `principal` may see, narrowed to one by its short name; one query."""
    rows = access.visible(Organisation.objects.order_by("pk"), principal, right)
    if organisation:
        rows = rows.filter(slug=organisation)
    return Scope(tuple(rows.values_list("pk", flat=True)))


class Window(Enum):
    """How far back, and the width of one point of a trend."""

    DAY = ("24h", timedelta(hours=24), timedelta(hours=1))
    WEEK = ("7d", timedelta(days=7), timedelta(hours=6))
    MONTH = ("30d", timedelta(days=30), timedelta(days=1))

    def __init__(self, code: str, length: timedelta, step: timedelta) -> None:
        self.code, self.length, self.step = code, length, step

    @classmethod
    def of(cls, code: str) -> Window:
        """`24h`, `7d` or `30d`. Raises KeyError."""
        return {window.code: window for window in cls}[code]


class Span(Protocol):
    """How far back, and the width of one point of a trend."""

    @property
    def length(self) -> timedelta: ...

    @property
    def step(self) -> timedelta: ...


@dataclass(frozen=True, slots=True)
class Lately:
    """A span for machines that look again and again and keep the past themselves."""

    length: timedelta
    step: timedelta


#: A few scrapes long, so that none is missed between two of them.
RECENT = Lately(timedelta(minutes=5), timedelta(minutes=1))


def within(column: str) -> str:
    """SQL: the row belongs to the scope."""
    return f"(%(organisations)s::bigint[] IS NULL OR {column} = ANY(%(organisations)s))"


def ask(statement: str, scope: Scope, window: Span | None = None, **parameters: Any) -> list[tuple[Any, ...]]:
    """The rows of a statement with `%(organisations)s`, `%(length)s` and `%(step)s`."""
    parameters["organisations"] = None if scope.organisations is None else list(scope.organisations)
    if window is not None:
        parameters |= {"length": window.length, "step": window.step}
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


#: SQL: the beginning of the window. Not `clock_timestamp()`, which no index can be searched by.
SINCE = "now() - %(length)s::interval"
