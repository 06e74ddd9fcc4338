"""The list of cases: every choice stands in the address, so a pasted link shows the same (console.md §1, 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from urllib.parse import urlencode

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, NullIf
from django.http import QueryDict
from django.utils.translation import gettext_lazy

from accounts import access
from accounts.models import Organisation, Person
from approvals.models import Proposal
from caseflow.domain.errors import BadInput
from caseflow.domain.identifiers import PUBLIC_ID, normalise_external_id
from caseflow.domain.lifecycle import CLOSED, State
from caseflow.domain.roles import Right
from cases.counting import Narrowing, Told, summed, with_ended
from cases.holding import live_holds
from cases.models import Case
from cases.models.ended import What
from cases.processes import all_processes

from . import words
from .paging import KeyPage, Order, page_by_key

PAGE = 50  #: cases
MOST_NAMED = 1000  #: cases that a text is looked up for; a text that fits more is too short to find anything by
#: Whose public id begins with which letter, as a path from the case.
_PUBLIC = {"C": "public_id", "P": "proposals__public_id", "A": "actions__public_id"}
HOLDERS = {"me": gettext_lazy("held by me"), "nobody": gettext_lazy("held by nobody")}
#: Keys ascend with the moments of opening.
SORTS = {"oldest": Order("state_since"), "newest": Order(newest=True)}


@dataclass(frozen=True, slots=True)
class Filters:
    """What was chosen; unknown values are dropped, so that an old link still opens."""

    state: str = ""
    q: str = ""
    process: str = ""
    organisation: str = ""
    reason: str = ""
    holder: str = ""
    sort: str = "oldest"

    @classmethod
    def of(cls, query: QueryDict) -> Filters:
        state = query.get("state", "")
        sort = query.get("sort", "")
        return cls(
            state=state if state in set(State) else "",
            q=_plain(query, "q", 200),
            process=_plain(query, "process", 64),
            organisation=_plain(query, "organisation", 50),
            reason=_plain(query, "reason", 64),
            holder=query.get("holder", "") if query.get("holder", "") in HOLDERS else "",
            sort=sort if sort in SORTS else "oldest",
        )

    @property
    def chosen(self) -> dict[str, str]:
        """As an address tells them."""
        names = ("state", "q", "process", "organisation", "reason", "holder", "sort")
        return {name: getattr(self, name) for name in names} | ({"sort": ""} if self.sort == "oldest" else {})

    @property
    def of_rows(self) -> bool:
        """Closed cases are looked up one by one for these; without them they are counted already."""
        return bool(self.q or self.reason or self.holder)

    def address(self, **changes: str) -> str:
        """The query string of these filters with some changed; defaults are left out."""
        chosen = self.chosen | changes
        if chosen["sort"] == "oldest":
            chosen["sort"] = ""
        return "?" + urlencode({name: value for name, value in chosen.items() if value})


@dataclass(frozen=True, slots=True)
class Tab:
    """One state with its count, its oldest age, and that oldest case; no count where more fit than are looked up."""

    state: words.Shown
    number: int | None
    oldest: datetime | None
    oldest_case: str
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Chip:
    """One active filter; its address is the list without it."""

    label: str
    address: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The page of cases with everything around it. `total` is None where more fit a text than are looked up for it."""

    filters: Filters
    tabs: Sequence[Tab]
    total: int | None
    page: KeyPage
    chips: Sequence[Chip]
    organisations: Sequence[Organisation]
    processes: Mapping[str, str]
    has_any: bool
    most: int

    @property
    def exact(self) -> str:
        """The case that a public id was looked for and found by, or nothing."""
        rows = self.page.rows
        return rows[0].public_id if len(rows) == 1 and PUBLIC_ID.fullmatch(self.filters.q.upper()) else ""


def list_cases(person: Person, query: QueryDict) -> Listing:
    """Five queries, whatever the number of cases."""
    filters = Filters.of(query)
    organisations = list(access.organisations_with(person, Right.SEE_CASES).order_by("name"))
    named = [one for one in organisations if filters.organisation in ("", one.slug)]
    found = _found(person, filters, named)
    tabs = _tabs(found, person, filters)
    numbers = [tab.number for tab in tabs if tab.number is not None and (not filters.state or tab.chosen)]
    rows = _in_state(found, filters)
    places = access.visible(Case.objects.all(), person, Right.SEE_CASES)
    page = page_by_key(_with_deadlines(rows), places, SORTS[filters.sort], query, filters.chosen, size=PAGE)
    return Listing(
        filters=filters,
        tabs=tabs,
        total=sum(numbers) if numbers else None,
        page=page,
        chips=_chips(filters, organisations),
        organisations=organisations,
        processes={
            process.slug: words.process_title(process.slug, process.version) for process in all_processes().values()
        },
        has_any=any(tab.number != 0 for tab in tabs),
        most=MOST_NAMED,
    )


def rows_of(person: Person, filters: Filters) -> QuerySet[Case]:
    """Every case of the list in its order, whatever the page; of a short text, too."""
    found = _found(person, filters, (), whole=True)
    rows = _in_state(found, filters)
    return SORTS[filters.sort].sort(rows)


def _found(person: Person, filters: Filters, named: Sequence[Organisation], *, whole: bool = False) -> QuerySet[Case]:
    cases = access.within(access.visible(Case.objects.all(), person, Right.SEE_CASES), named)
    if filters.organisation:
        cases = cases.filter(organisation__slug=filters.organisation)
    if filters.process:
        cases = cases.filter(process=filters.process)
    if filters.reason:
        cases = cases.filter(reason=filters.reason)
    if filters.holder:
        # The holds of one person are few; what nobody holds is looked up case by case.
        mine = Q(pk__in=live_holds().filter(person=person).values("case"))
        nobody = ~Exists(live_holds().filter(case=OuterRef("pk")))
        cases = cases.filter(closed_at=None).filter(mine if filters.holder == "me" else nobody)
    if filters.q:
        cases = cases.filter(_named(filters.q, cases, None if whole else MOST_NAMED))
    return cases


def _in_state(found: QuerySet[Case], filters: Filters) -> QuerySet[Case]:
    if not filters.state:
        return found
    rows = found.filter(state=filters.state)
    return rows if State(filters.state) in CLOSED else rows.filter(closed_at=None)


def _named(text: str, cases: QuerySet[Case], most: int | None) -> Q:
    """Cases by what people call them: the ticket's own id or its beginning, the subject, or a public id of theirs.

    With `most` only the first by ticket and by subject: so many, and one more that tells of others.
    """
    try:
        name = normalise_external_id(text)
    except BadInput:
        return Q(pk__in=[])
    public = name.upper()
    if PUBLIC_ID.fullmatch(public) and public[0] in _PUBLIC:
        return Q(**{_PUBLIC[public[0]]: public})
    ticket, subject = Q(external_id_normal__startswith=name), Q(subject=name)
    if most is None:
        return ticket | subject
    tickets = cases.filter(ticket).order_by("external_id_normal", "pk").values("pk")[: most + 1]
    subjects = cases.filter(subject).order_by("pk").values("pk")[: most + 1]
    return Q(pk__in=tickets.union(subjects))


def _tabs(found: QuerySet[Case], person: Person, filters: Filters) -> list[Tab]:
    counted = _counted(found, person, filters)
    too_many = bool(filters.q) and sum(told.number for told in counted.values()) > MOST_NAMED
    if too_many:
        counted = {}
    oldest: dict[str, str] = {}
    if counted:
        # By state and moment, which an index has, instead of sorting every case to take the first of each state.
        theirs = reduce(or_, (Q(state=state, state_since=told.oldest) for state, told in counted.items()))
        rows = found.filter(theirs).order_by("pk").values_list("state", "public_id")
        for state, public_id in rows:
            oldest.setdefault(state, public_id)
    return [
        Tab(
            state=words.state_word(state.value),
            number=None if too_many else counted[state.value].number if state.value in counted else 0,
            oldest=counted[state.value].oldest if state.value in counted else None,
            oldest_case=oldest.get(state.value, ""),
            address=filters.address(state=state.value),
            chosen=filters.state == state.value,
        )
        for state in State
    ]


def _counted(found: QuerySet[Case], person: Person, filters: Filters) -> dict[str, Told]:
    """State → how many fit, and the oldest; one query, which counts row by row only what is open or looked for."""
    numbers = {"number": Count("*"), "oldest": Min("state_since")}
    if filters.of_rows:
        return summed(found.order_by().values("state").annotate(**numbers).values_list("state", *numbers))
    still_open = found.filter(closed_at=None).values("state").annotate(**numbers).values_list("state", *numbers)
    narrowing = Narrowing(organisation=filters.organisation, about=filters.process)
    return summed(with_ended(still_open, person, What.CASE, narrowing, "state"))


def _with_deadlines(cases: QuerySet[Case]) -> QuerySet[Case]:
    newest = Proposal.objects.filter(case=OuterRef("pk"), has_effects=True).order_by("-number")
    holder = live_holds().filter(case=OuterRef("pk"), case__closed_at=None)
    name = Coalesce(NullIf("person__name", Value("")), "person__username")
    return cases.select_related("organisation").annotate(
        decide_until=Subquery(newest.values("valid_until")[:1]),
        holder=Subquery(holder.annotate(called=name).values("called")[:1]),
    )


def _chips(filters: Filters, organisations: Sequence[Organisation]) -> list[Chip]:
    names = {organisation.slug: organisation.name for organisation in organisations}
    shown = {
        "state": words.state_word(filters.state).label if filters.state else "",
        "q": filters.q,
        "process": filters.process,
        "organisation": names.get(filters.organisation, filters.organisation),
        "reason": words.reason_word(filters.reason).label if filters.reason else "",
        "holder": str(HOLDERS.get(filters.holder, "")),
    }
    return [Chip(label, filters.address(**{name: ""})) for name, label in shown.items() if label]


def _plain(query: QueryDict, name: str, longest: int) -> str:
    """One word of the address without what PostgreSQL cannot be asked for."""
    return query.get(name, "").replace("\x00", "").strip()[:longest]
