"""The list of actions, and the desk of those whose result is unknown: its empty page is green only when it is true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.conf import settings
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from accounts import access
from accounts.models import Organisation, Person
from actions.desk import ActionFilter, count_by_status, is_by_age, list_for_desk, list_in_sight
from actions.models import Action, ActionKind, ActionStatus
from caseflow.domain.roles import Right
from operations.drift_selectors import DriftHealth, drift_health

from . import vocabulary, words
from .addresses import Chip, Choice, address_of, chips_of, choice, one_of, plain
from .paging import Order, page_by_key

PAGE = 50  #: actions
KINDS: dict[str, Promise] = {
    ActionKind.EFFECT: gettext_lazy("Changes outside"),
    ActionKind.NOTICE: gettext_lazy("Messages"),
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What was chosen; in the address a status is written small."""

    status: str = ""
    kind: str = ""
    system: str = ""
    organisation: str = ""

    @classmethod
    def of(cls, query: QueryDict) -> Filters:
        return cls(
            status=one_of(query, "status", ActionStatus.values).lower(),
            kind=one_of(query, "kind", ActionKind.values),
            system=one_of(query, "system", list(settings.ADAPTERS)),
            organisation=plain(query, "organisation", 50),
        )

    @property
    def narrowing(self) -> ActionFilter:
        return ActionFilter(self.status.upper(), self.kind, self.system, self.organisation)


@dataclass(frozen=True, slots=True)
class Tab:
    """One status with its number and since when the oldest of it stands."""

    status: words.Shown
    number: int
    oldest: datetime | None
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One action as the list shows it."""

    action: Action
    status: words.Shown
    operation: str
    system: str
    subject: str
    since: datetime
    last_call: datetime | None


@dataclass(frozen=True, slots=True)
class ActionsPage:
    """`health` is there where the list is empty because nothing is unknown, or seems to be."""

    filters: Filters
    tabs: Sequence[Tab]
    total: int
    rows: Sequence[Row]
    chips: Sequence[Chip]
    choices: Sequence[Choice]
    organisations: Sequence[Organisation]
    pages: Mapping[str, str]
    all_address: str
    has_any: bool
    health: DriftHealth | None

    @property
    def address(self) -> str:
        return address_of(asdict(self.filters))

    @property
    def is_desk(self) -> bool:
        return self.filters.status == ActionStatus.UNKNOWN.lower()

    @property
    def is_narrowed(self) -> bool:
        """By more than the desk itself."""
        return bool(self.filters.system or self.filters.organisation) or bool(self.chips and not self.is_desk)


def gather(person: Person, query: QueryDict) -> ActionsPage:
    """Three queries, and two more on an empty desk."""
    filters = Filters.of(query)
    chosen = asdict(filters)
    organisations = list(access.organisations_with(person, Right.SEE_CASES).order_by("name"))
    tabs = _tabs(person, filters)
    total = sum(tab.number for tab in tabs if not filters.status or tab.chosen)
    wanted = filters.narrowing
    order = Order("since") if is_by_age(wanted) else Order(newest=True)
    named = [one for one in organisations if filters.organisation in ("", one.slug)]
    rows = access.within(list_for_desk(person, wanted), named)
    page = page_by_key(rows, list_in_sight(person), order, query, chosen, size=PAGE)
    desk_is_empty = filters.status == ActionStatus.UNKNOWN.lower() and not total
    return ActionsPage(
        filters=filters,
        tabs=tabs,
        total=total,
        rows=[_row(action) for action in page.rows],
        chips=chips_of(chosen, _labels(filters, organisations)),
        choices=_choices(filters, organisations),
        organisations=organisations,
        pages=page.links,
        all_address=address_of(chosen, status=""),
        has_any=any(tab.number for tab in tabs),
        health=drift_health() if desk_is_empty else None,
    )


def subject_text(action: Action) -> str:
    """What it is about; of a message whose address, never the address itself."""
    return vocabulary.path_label(action.subject) if action.kind == ActionKind.NOTICE else action.subject


def _tabs(person: Person, filters: Filters) -> list[Tab]:
    counted = count_by_status(person, filters.narrowing)
    return [
        Tab(
            status=words.action_word(status.value),
            number=counted[status.value].number if status.value in counted else 0,
            oldest=counted[status.value].oldest if status.value in counted else None,
            address=address_of(asdict(filters), status=status.lower()),
            chosen=filters.status == status.lower(),
        )
        for status in ActionStatus
    ]


def _row(action: Action) -> Row:
    return Row(
        action=action,
        status=words.action_word(action.status),
        operation=vocabulary.operation_label(action.system, action.operation),
        system=vocabulary.system_label(action.system),
        subject=subject_text(action),
        since=action.settled_at or action.first_sent_at or action.created_at,
        last_call=action.last_call,  # type: ignore[attr-defined]  # annotated by the selector
    )


def _labels(filters: Filters, organisations: Sequence[Organisation]) -> dict[str, str]:
    names = {organisation.slug: organisation.name for organisation in organisations}
    return {
        "status": words.action_word(filters.status.upper()).label if filters.status else "",
        "kind": str(KINDS[filters.kind]) if filters.kind else "",
        "system": vocabulary.system_label(filters.system) if filters.system else "",
        "organisation": names.get(filters.organisation, filters.organisation),
    }


def _choices(filters: Filters, organisations: Sequence[Organisation]) -> list[Choice]:
    statuses = {status.lower(): words.action_word(status.value).label for status in ActionStatus}
    systems = {name: vocabulary.system_label(name) for name in sorted(settings.ADAPTERS)}
    found = [
        choice("status", gettext("Status"), statuses, filters.status),
        choice("kind", gettext("Kind"), {kind: str(label) for kind, label in KINDS.items()}, filters.kind),
        choice("system", gettext("System"), systems, filters.system),
    ]
    if len(organisations) > 1:
        names = {organisation.slug: organisation.name for organisation in organisations}
        found.append(choice("organisation", gettext("Organisation"), names, filters.organisation))
    return found
