"""The indicators H1–H9 on one page: each as a chart with its table, of the organisations in sight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext

from accounts import access
from accounts.models import Organisation, Person
from caseflow.domain.roles import Right
from cases.models import Case
from cases.processes import all_processes
from operations.indicators.scope import PLATFORM, Scope, Window

from . import metrics_of_time, metrics_of_trust, metrics_of_work, words
from .addresses import Chip, Choice, address_of, chips_of, choice, one_of, plain
from .tables import Section

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Tab:
    """One window of time."""

    label: str
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class MetricsPage:
    sections: Sequence[Section]
    tabs: Sequence[Tab]
    choices: Sequence[Choice]
    chips: Sequence[Chip]
    organisations: Sequence[Organisation]
    kept: dict[str, str]  #: what the form of the filters sends along
    scope: Scope
    chosen: dict[str, str]
    has_cases: bool
    is_young: bool  #: the first case is less than an hour old

    @property
    def is_of_everything(self) -> bool:
        """As what machines read at /metrics is."""
        return self.scope is PLATFORM

    @property
    def address(self) -> str:
        return address_of(self.chosen)

    @property
    def told(self) -> dict[str, str]:
        """What was chosen, for the record of an export."""
        return {name: value for name, value in self.chosen.items() if value}


#: Scope, window, process and organisation ("" is every one) → the sections of a page.
Sections = Callable[[Scope, Window, str, str], Iterator[Section]]


def all_indicators(scope: Scope, window: Window, process: str, organisation: str) -> Iterator[Section]:
    """Thirteen queries."""
    yield from metrics_of_work.sections(scope, window, process=process, organisation=organisation)
    yield from metrics_of_trust.sections(scope, window, process=process)
    yield from metrics_of_time.sections(scope, window, process=process)


def gather(person: Person, query: QueryDict, sections: Sections = all_indicators) -> MetricsPage:
    """Three queries and those of its sections, however many rows there are."""
    organisations = list(access.organisations_with(person, Right.SEE_CASES).order_by("name"))
    slugs = {process.slug: words.newest_title(process.slug) for process in all_processes().values()}
    names = {organisation.slug: organisation.name for organisation in organisations}
    window = Window.of(one_of(query, "window", [one.code for one in Window]) or Window.DAY.code)
    chosen = {
        "window": "" if window is Window.DAY else window.code,
        "organisation": one_of(query, "organisation", list(names)) or plain(query, "organisation", 50),
        "process": one_of(query, "process", list(slugs)),
    }
    wanted = [one.pk for one in organisations if chosen["organisation"] in ("", one.slug)]
    # Who looks after the platform sees numbers of everything, and no name of a case or an organisation.
    scope = PLATFORM if not chosen["organisation"] and access.is_platform_operator(person) else Scope(tuple(wanted))
    counted = Case.objects.all() if scope is PLATFORM else Case.objects.filter(organisation__in=wanted)
    first = counted.order_by("pk").values_list("created_at", flat=True).first()
    process, organisation = chosen["process"], chosen["organisation"]
    return MetricsPage(
        sections=list(sections(scope, window, process, organisation)) if first else [],
        tabs=[
            Tab(label, address_of(chosen, window="" if one is Window.DAY else one.code), one is window)
            for one, label in zip(Window, (gettext("24 hours"), gettext("7 days"), gettext("30 days")), strict=True)
        ],
        choices=_choices(names, slugs, chosen),
        chips=chips_of(
            chosen, {"organisation": names.get(organisation, organisation), "process": slugs.get(process, "")}
        ),
        organisations=organisations,
        kept={"window": chosen["window"]},
        scope=scope,
        chosen=chosen,
        has_cases=first is not None,
        is_young=first is not None and timezone.now() - first < HOUR,
    )


def _choices(names: dict[str, str], slugs: dict[str, str], chosen: dict[str, str]) -> list[Choice]:
    found = [choice("process", gettext("Process"), slugs, chosen["process"])]
    if len(names) > 1:
        found.append(choice("organisation", gettext("Organisation"), names, chosen["organisation"]))
    return found
