"""The left navigation: one entry per page that exists, and its numbers, which are those of the lists behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db.models import Func, IntegerField, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts.models import Person
from accounts.statements import Kept
from actions.desk import ActionFilter, list_in_sight
from actions.models import ActionKind, ActionStatus
from caseflow.domain.roles import PLATFORM, Right
from cases.attention import list_open, list_stopped

from . import waiting


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers beside the navigation; each is the length of the list that its entry leads to."""

    decisions: int
    attention: int
    open: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Entry:
    """`name` is the page's own; `pages` are others that stand under it, `query` narrows its list to what is counted."""

    name: str
    label: Promise
    icon: str
    pages: frozenset[str] = frozenset()
    query: str = ""
    count: str = ""
    counted: Promise | str = ""  #: what the number counts, where the label does not say it
    rights: frozenset[str] = frozenset()  #: any of them, anywhere, opens the page; nothing: everybody may


@dataclass(frozen=True, slots=True)
class Shown:
    """An entry on a page. `current` is what aria-current says: page, true, or nothing."""

    label: str
    icon: str
    address: str
    count: int | None
    counted: str
    current: str


#: In the order of the eyes. A page that an installation does not have has no entry.
ENTRIES: Sequence[Entry] = (
    Entry("home", gettext_lazy("Home"), "home"),
    Entry(
        "approvals",
        gettext_lazy("For me to decide"),
        "person",
        frozenset({"proposal", "approve", "reject", "return", "ask-data", "withdraw"}),
        count="decisions",
    ),
    Entry("attention", gettext_lazy("Need attention"), "warning", count="attention"),
    Entry(
        "cases",
        gettext_lazy("Cases"),
        "list",
        frozenset({"case", "supply", "bulk-new", "bulks", "bulk"}),
        count="open",
        counted=gettext_lazy("open"),
    ),
    Entry(
        "actions",
        gettext_lazy("Actions"),
        "play",
        frozenset({"action", "drift"}),
        query="?status=unknown&kind=effect",
        count="unknown",
        counted=gettext_lazy("result unknown"),
    ),
    Entry(
        "reports",
        gettext_lazy("Reports"),
        "list",
        frozenset({"report", "document", "report-ask", "report-correct"}),
        rights=frozenset({Right.SEE_CASES, Right.OPEN_DOCUMENTS}),
    ),
    Entry("processes", gettext_lazy("Processes"), "change", frozenset({"process"})),
    Entry("metrics", gettext_lazy("Metrics"), "chart", frozenset({"proposers"})),
    Entry("ops", gettext_lazy("Operations"), "gear", rights=frozenset({Right.RECOVER, PLATFORM})),
    Entry(
        "pauses",
        gettext_lazy("Pauses"),
        "pause",
        frozenset({"pause-end"}),
        rights=frozenset({Right.SEE_CASES, PLATFORM}),
    ),
    Entry("audit", gettext_lazy("Audit trail"), "log", rights=frozenset({Right.READ_AUDIT})),
    Entry(
        "people",
        gettext_lazy("People and roles"),
        "people",
        frozenset({"people-of", "people-grant", "people-revoke"}),
        rights=frozenset({Right.ADMINISTER}),
    ),
    Entry(
        "schedules",
        gettext_lazy("Schedules of reports"),
        "list",
        frozenset({"schedule"}),
        rights=frozenset({Right.ADMINISTER}),
    ),
    Entry(
        "machines-first",
        gettext_lazy("Machines"),
        "list",
        frozenset(
            {
                "machines",
                "machine-create",
                "machine-rotate",
                "machine-owner",
                "machine-switch",
                "machine-revoke",
                "bell-create",
                "bell-rotate",
                "bell-switch",
                "hook-create",
                "hook",
                "hook-rotate",
                "hook-switch",
                "hook-again",
            }
        ),
        rights=frozenset({Right.ADMINISTER}),
    ),
)


def counts_for(person: Person) -> Counts:
    """One query for all of them, on every page."""
    (numbers,) = _COUNTS.ask(person)
    return Counts(*numbers)


def entries_for(request: HttpRequest, counts: Counts, rights: frozenset[str]) -> Iterator[Shown]:
    """What stands in the navigation of this page, for somebody who has these rights somewhere."""
    here = request.resolver_match.url_name if request.resolver_match else None
    for entry, address in _existing():
        if entry.rights and entry.rights.isdisjoint(rights):
            continue
        yield Shown(
            label=str(entry.label),
            icon=entry.icon,
            address=address + entry.query,
            count=getattr(counts, entry.count) if entry.count else None,
            counted=str(entry.counted),
            current="page" if here == entry.name else "true" if here in entry.pages else "",
        )


@cache
def _existing() -> tuple[tuple[Entry, str], ...]:
    found = []
    for entry in ENTRIES:
        try:
            found.append((entry, reverse(f"console:{entry.name}")))
        except NoReverseMatch:
            continue
    return tuple(found)


def _counts(person: Person) -> QuerySet[Any, Any]:
    doubtful = ActionFilter(status=ActionStatus.UNKNOWN, kind=ActionKind.EFFECT)
    return Person.objects.filter(pk=person.pk).values_list(
        _number(waiting.proposals_for(person)),
        _number(list_stopped(person)),
        _number(list_open(person)),
        _number(list_in_sight(person, doubtful)),
    )


_COUNTS = Kept(_counts)


def _number(rows: QuerySet[Any]) -> Subquery:
    """How many rows there are, as a column of another query."""
    # Of rows and not of keys: an index that holds no key can answer it.
    count = Func(template="COUNT(*)", output_field=IntegerField())
    return Subquery(rows.order_by().annotate(number_of_rows=count).values("number_of_rows"))
