"""Pages by key: a page begins behind the last row of the one before, so it costs the same however far it lies.

In the address the place is the row's public id, with its moment where the list is ordered by one: a row that has moved
on meanwhile still tells where it stood. Numbers of rows would tell how much others have. A row without a public id is
named by that of what it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict

from caseflow.domain.identifiers import PUBLIC_ID

from .addresses import address_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FARTHEST = 253_402_300_799_999_999  #: microseconds; the last year that PostgreSQL and Python both know
_LARGEST = 2**31 - 1  #: of an integer column
MOST_COUNTED = 1000  #: rows of a list that are counted for its page; who has more is told so


@dataclass(frozen=True, slots=True)
class Order:
    """Rows by their keys, newest or oldest first, or by a moment (a column, or an annotation) and then their keys.

    `named` is where the public id of a row stands, as a path from its table, and `name_of` reads it from a row. Of rows
    that share the name of what they are about, an integer column, `part`, or the moment, which is theirs for good,
    tells which is meant.
    """

    moment: str = ""
    newest: bool = False
    part: str = ""
    named: str = "public_id"
    name_of: Callable[[Any], str] = attrgetter("public_id")

    def sort(self, rows: QuerySet[Any], *, turned: bool = False) -> QuerySet[Any]:
        sign = "-" if self.newest is not turned else ""
        return rows.order_by(*(f"{sign}{name}" for name in (self.moment, "pk") if name))

    def behind(self, place: Place, places: QuerySet[Any], *, turned: bool = False) -> Q:
        """What stands behind a place, or before it."""
        side = "lt" if self.newest is not turned else "gt"
        named = places.order_by("-pk").filter(**{self.named: place.public_id})
        if self.part:
            named = named.filter(**{self.part: place.number})
        elif self.moment and self.named != "public_id":
            named = named.filter(**{self.moment: place.moment})
        key = Q(**{f"pk__{side}": named.values("pk")[:1]})
        if not self.moment:
            return key
        # An index is searched by the first condition; the second one only tells equals apart.
        return Q(**{f"{self.moment}__{side}e": place.moment}) & (Q(**{f"{self.moment}__{side}": place.moment}) | key)


@dataclass(frozen=True, slots=True)
class Place:
    """A row as an address tells of it."""

    public_id: str
    number: int  #: the moment in microseconds since 1970, or the part

    @property
    def moment(self) -> datetime:
        return EPOCH + self.number * _MICROSECOND

    @classmethod
    def of(cls, text: str, order: Order) -> Place | None:
        """None for what is no place in this order."""
        public_id, _, digits = text.partition(".")
        known = bool(PUBLIC_ID.fullmatch(public_id))
        if not known or bool(digits) is not bool(order.moment or order.part) or not (digits or "0").isdecimal():
            return None
        number = int(digits or "0") if len(digits) < 20 else _FARTHEST + 1
        return cls(public_id, number) if number <= (_LARGEST if order.part else _FARTHEST) else None

    @classmethod
    def at(cls, row: Any, order: Order) -> str:
        name = order.name_of(row)
        if order.part:
            return f"{name}.{getattr(row, order.part)}"
        return f"{name}.{(getattr(row, order.moment) - EPOCH) // _MICROSECOND}" if order.moment else name


@dataclass(frozen=True, slots=True)
class KeyPage:
    """Rows of one page and the addresses of the pages beside it: previous, next."""

    rows: Sequence[Any]
    links: Mapping[str, str]


def number_of(rows: QuerySet[Any]) -> int | None:
    """How many there are; None where there are more than are counted for a page. One query."""
    found = rows.order_by()[: MOST_COUNTED + 1].count()
    return found if found <= MOST_COUNTED else None


def page_by_key(
    rows: QuerySet[Any],
    places: QuerySet[Any],
    order: Order,
    query: QueryDict,
    chosen: Mapping[str, str],
    *,
    size: int,
) -> KeyPage:
    """One query. `places` are all rows in sight: the last row may have left the filters since, but not its place.

    An address that tells of no place opens the first page, as one without a place does; so does a place that is out of
    sight by now, or that nothing stands behind any more, for one query more.
    """
    after = Place.of(query.get("after", ""), order)
    before = None if after else Place.of(query.get("before", ""), order)
    place, turned = after or before, before is not None
    wanted = rows.filter(order.behind(place, places, turned=turned)) if place else rows
    found = list(order.sort(wanted, turned=turned)[: size + 1])
    if place and not found:
        return page_by_key(rows, places, order, QueryDict(), chosen, size=size)
    more, found = len(found) > size, found[:size]
    if turned:
        found.reverse()
    links = {}
    if found and (more if turned else after):
        links["previous"] = address_of(chosen, before=Place.at(found[0], order))
    if found and (turned or more):
        links["next"] = address_of(chosen, after=Place.at(found[-1], order))
    return KeyPage(found, links)
