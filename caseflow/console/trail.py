"""The audit page: every choice stands in the address, so a pasted link shows a colleague the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import timezone

from accounts import access
from accounts.models import Organisation, Person
from caseflow.domain import words as glossary
from caseflow.domain.errors import BadInput, NotPermitted
from caseflow.domain.roles import Right
from cases.wording import event_text
from operations.trail import LONGEST, Entry, Wanted, list_trail, require_trail, trail_page

from . import words


@dataclass(frozen=True, slots=True)
class Filters:
    """What was chosen; what cannot be understood is dropped, so that an old link still opens."""

    organisation: str = ""
    kind: str = ""
    person: str = ""
    case: str = ""
    first_day: str = ""
    last_day: str = ""

    @classmethod
    def of(cls, query: QueryDict) -> Filters:
        def plain(name: str) -> str:
            return query.get(name, "").replace("\x00", "").strip()[:LONGEST]

        first, last = (text if _day(text) else "" for text in (plain("first_day"), plain("last_day")))
        return cls(plain("organisation"), plain("kind"), plain("person"), plain("case"), first, last)

    @property
    def wanted(self) -> Wanted:
        """Days are those of the reader's zone; the last one is within."""
        first, last = _day(self.first_day), _day(self.last_day)
        return Wanted(
            kind=self.kind,
            person=self.person,
            case=self.case,
            since=_begin(first) if first else None,
            until=_begin(last + timedelta(days=1)) if last else None,
        )

    @property
    def chosen(self) -> bool:
        return any((self.kind, self.person, self.case, self.first_day, self.last_day))

    def address(self, **more: str) -> str:
        said = {name: getattr(self, name) for name in self.__slots__} | more
        return "?" + urlencode({name: value for name, value in said.items() if value})


@dataclass(frozen=True, slots=True)
class Line:
    """One event in words, with the record behind it."""

    entry: Entry
    title: str
    actor: str
    raw: str


@dataclass(frozen=True, slots=True)
class TrailPage:
    """The page; `following` is the address of the next one or nothing."""

    filters: Filters
    organisation: Organisation
    organisations: Sequence[Organisation]
    kinds: Sequence[tuple[str, str]]
    lines: Sequence[Line]
    following: str


def organisation_for(person: Person, filters: Filters) -> Organisation:
    """The organisation of the page: the one that was chosen, else the first whose trail `person` may read.

    Raises NotPermitted, recorded where an organisation is in sight. One out of sight is treated as not chosen.
    """
    readable = _readable(person)
    if filters.organisation:
        for organisation in readable:
            if organisation.slug == filters.organisation:
                return organisation
        seen = access.organisations_with(person, Right.SEE_CASES).filter(slug=filters.organisation).first()
        if seen is not None:
            require_trail(person, seen)
    if readable:
        return readable[0]
    for organisation in access.organisations_with(person, Right.SEE_CASES).order_by("name"):
        require_trail(person, organisation)
    raise NotPermitted(right=Right.READ_AUDIT.value)


def gather(person: Person, query: QueryDict) -> TrailPage:
    """A fixed number of queries. Raises NotPermitted."""
    filters = Filters.of(query)
    organisation = organisation_for(person, filters)
    rows = list_trail(person, organisation, filters.wanted)
    try:
        page = trail_page(rows, after=query.get("after", ""))
    except BadInput:
        page = trail_page(rows)
    return TrailPage(
        filters=filters,
        organisation=organisation,
        organisations=_readable(person),
        kinds=sorted(
            ((kind, event_text(kind, {})) for kind in glossary.EVENTS | glossary.ORGANISATION_EVENTS),
            key=lambda one: one[1],
        ),
        lines=[_line(entry) for entry in page.entries],
        following=filters.address(organisation=organisation.slug, after=page.after) if page.after else "",
    )


def _readable(person: Person) -> list[Organisation]:
    return list(access.organisations_with(person, Right.READ_AUDIT).order_by("name"))


def _line(entry: Entry) -> Line:
    said = {
        "kind": entry.kind,
        "from": entry.from_state,
        "to": entry.to_state,
        "version": entry.version,
        "facts": entry.facts,
        "hash": entry.hash,
    }
    raw = json.dumps(said, ensure_ascii=False, indent=2)
    return Line(entry, event_text(entry.kind, entry.facts), words.actor_text(entry.actor_kind, entry.actor), raw)


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 1900 < day.year < 9000 else None


def _begin(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
