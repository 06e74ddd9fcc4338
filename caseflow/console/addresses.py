"""What stands in an address, read carefully: a pasted link shows the same, an old or broken one still opens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Page
from django.http import QueryDict


@dataclass(frozen=True, slots=True)
class Chip:
    """One active filter; its address is the list without it."""

    label: str
    address: str


def plain(query: QueryDict, name: str, longest: int) -> str:
    """One word of the address without what PostgreSQL cannot be asked for."""
    text = query.get(name, "").replace("\x00", "").strip()[:longest]
    return text.encode("utf-8", "ignore").decode()


def one_of(query: QueryDict, name: str, known: Collection[str]) -> str:
    """A word of the address that is known, or nothing; capital letters do not matter."""
    given = query.get(name, "").casefold()
    return next((value for value in known if value.casefold() == given), "")


def address_of(chosen: Mapping[str, str], **changes: str) -> str:
    """The query string of some choices with a few changed; what is empty is left out."""
    return "?" + urlencode({name: value for name, value in (dict(chosen) | changes).items() if value})


def chips_of(chosen: Mapping[str, str], labels: Mapping[str, str]) -> list[Chip]:
    """One for each choice that has a label."""
    return [Chip(label, address_of(chosen, **{name: ""})) for name, label in labels.items() if label]


def pages_of(page: Page, chosen: Mapping[str, str]) -> dict[str, str]:
    """Addresses of the pages beside this one: previous, next."""
    found = {}
    if page.has_previous():
        found["previous"] = address_of(chosen, page=str(page.previous_page_number()))
    if page.has_next():
        found["next"] = address_of(chosen, page=str(page.next_page_number()))
    return found


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a filter."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter with its options; the first one, "all", is the template's."""

    name: str
    label: str
    options: Sequence[Option]


def choice(name: str, label: str, options: Mapping[str, str], chosen: str) -> Choice:
    return Choice(name, label, [Option(value, text, value == chosen) for value, text in options.items()])
