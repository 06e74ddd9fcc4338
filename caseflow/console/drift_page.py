"""What we call confirmed beside what the outside systems say now: whether anybody looked, and what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from operator import attrgetter

from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext, gettext_lazy

from accounts import access
from accounts.models import Organisation, Person
from actions.models import Action
from caseflow.domain.roles import Right
from integrations.registry import owner_of
from operations.drift_selectors import (
    DriftFilter,
    DriftHealth,
    drift_health,
    list_differences,
    list_findings,
    list_runs,
)
from operations.models import DriftFinding, DriftRun

from . import vocabulary
from .action_page import changes_since
from .addresses import Chip, Choice, address_of, chips_of, choice, one_of, plain
from .history import Change
from .paging import MOST_COUNTED, Order, number_of, page_by_key

PAGE = 50  #: differences
RUNS = 25  #: newest comparisons that stand on the page
NEWEST = Order("at", newest=True, named="action__public_id", name_of=attrgetter("action.public_id"))
SCOPES = {
    DriftRun.Scope.SAMPLE.value: gettext_lazy("a sample of all confirmed changes"),
    DriftRun.Scope.DAY.value: gettext_lazy("everything confirmed in the last day"),
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What was chosen. `run` is the number of one comparison."""

    system: str = ""
    organisation: str = ""
    run: str = ""

    @classmethod
    def of(cls, query: QueryDict) -> Filters:
        run = plain(query, "run", 18)
        return cls(
            system=one_of(query, "system", list(settings.ADAPTERS)),
            organisation=plain(query, "organisation", 50),
            run=run if run.isascii() and run.isdigit() else "",
        )

    @property
    def narrowing(self) -> DriftFilter:
        return DriftFilter(self.organisation, self.system, int(self.run or 0))


@dataclass(frozen=True, slots=True)
class Difference:
    """One effect that was found different; `since` is when first, `seen` when last."""

    action: Action
    operation: str
    system: str
    owner: dict[str, str]
    changes: Sequence[Change]
    since: datetime
    seen: datetime


@dataclass(frozen=True, slots=True)
class Run:
    """One comparison, with what it found in sight."""

    number: int
    scope: str
    by_hand: bool
    began_at: datetime
    took: timedelta | None
    could_not_read: bool
    differences: int
    address: str


@dataclass(frozen=True, slots=True)
class DriftPage:
    """`total` is None where more differ than are counted."""

    filters: Filters
    health: DriftHealth
    total: int | None
    most: int
    differences: Sequence[Difference]
    runs: Sequence[Run]
    chips: Sequence[Chip]
    choices: Sequence[Choice]
    organisations: Sequence[Organisation]
    pages: Mapping[str, str]


def gather(person: Person, query: QueryDict) -> DriftPage:
    """Six queries, however much differs."""
    filters = Filters.of(query)
    chosen = asdict(filters)
    organisations = list(access.organisations_with(person, Right.SEE_CASES).order_by("name"))
    named = [one for one in organisations if filters.organisation in ("", one.slug)]
    found = access.within(list_differences(person, filters.narrowing), named)
    page = page_by_key(found, list_findings(person), NEWEST, query, chosen, size=PAGE)
    return DriftPage(
        filters=filters,
        health=drift_health(),
        total=number_of(found),
        most=MOST_COUNTED,
        differences=[_difference(finding) for finding in page.rows],
        runs=[_run(run, chosen) for run in list_runs(person)[:RUNS]] if organisations else [],
        chips=chips_of(chosen, _labels(filters, organisations)),
        choices=_choices(filters, organisations),
        organisations=organisations,
        pages=page.links,
    )


def _difference(finding: DriftFinding) -> Difference:
    action = finding.action
    return Difference(
        action=action,
        operation=vocabulary.operation_label(action.system, action.operation),
        system=vocabulary.system_label(action.system),
        owner=owner_of(action.system).get("owner", {}),
        changes=changes_since(finding.differences),
        since=finding.since,  # type: ignore[attr-defined]  # annotated by the selector
        seen=finding.seen,  # type: ignore[attr-defined]
    )


def _run(run: DriftRun, chosen: dict[str, str]) -> Run:
    return Run(
        number=run.pk,
        scope=str(SCOPES.get(run.scope, run.scope)),
        by_hand=run.task_id is None,
        began_at=run.began_at,
        took=run.ended_at - run.began_at if run.ended_at else None,
        could_not_read=run.unreadable > 0,
        differences=run.in_sight,  # type: ignore[attr-defined]  # annotated by the selector
        address=address_of(chosen, run=str(run.pk)),
    )


def _labels(filters: Filters, organisations: Sequence[Organisation]) -> dict[str, str]:
    names = {organisation.slug: organisation.name for organisation in organisations}
    return {
        "system": vocabulary.system_label(filters.system) if filters.system else "",
        "organisation": names.get(filters.organisation, filters.organisation),
        "run": gettext("comparison %(number)s") % {"number": filters.run} if filters.run else "",
    }


def _choices(filters: Filters, organisations: Sequence[Organisation]) -> list[Choice]:
    systems = {name: vocabulary.system_label(name) for name in sorted(settings.ADAPTERS)}
    found = [choice("system", gettext("System"), systems, filters.system)]
    if len(organisations) > 1:
        names = {organisation.slug: organisation.name for organisation in organisations}
        found.append(choice("organisation", gettext("Organisation"), names, filters.organisation))
    return found
