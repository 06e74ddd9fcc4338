"""Cases on which automatic work has stopped: how many for which reason, which wait longest, and how each stopped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, F, Min, OuterRef, QuerySet, Window
from django.db.models.functions import RowNumber

from accounts import access
from accounts.principal import Principal
from audit.models import AuditEvent
from caseflow.domain.lifecycle import OPEN, State
from caseflow.domain.roles import Right

from .models import Case
from .selectors import Happened, happened

#: Sorted: a set has another order in each process, and a statement that varies is planned anew each time.
OPEN_VALUES = sorted(state.value for state in OPEN)


@dataclass(frozen=True, slots=True)
class StoppedFilter:
    """What the stopped cases are narrowed to; empty means any. `stopped_in` is the state they were in before."""

    organisation: str = ""
    process: str = ""
    reason: str = ""
    stopped_in: str = ""


@dataclass(frozen=True, slots=True)
class Stopped:
    """Cases that stopped for one reason; `oldest` is since when the first of them waits."""

    reason: str
    number: int
    oldest: datetime


def list_open(principal: Principal) -> QuerySet[Case]:
    """Every case in sight that is not closed."""
    # `closed_at` says the same once more: it is what the index of open cases is searched by.
    return access.visible(Case.objects.filter(state__in=OPEN_VALUES, closed_at=None), principal, Right.SEE_CASES)


def list_stopped(principal: Principal, wanted: StoppedFilter | None = None) -> QuerySet[Case]:
    """The cases in sight that need attention."""
    wanted = wanted or StoppedFilter()
    stopped = Case.objects.filter(state=State.NEEDS_ATTENTION.value, closed_at=None)
    rows = access.visible(stopped, principal, Right.SEE_CASES)
    narrowed = {
        "organisation__slug": wanted.organisation,
        "process": wanted.process,
        "reason": wanted.reason,
    }
    rows = rows.filter(**{name: value for name, value in narrowed.items() if value})
    if wanted.stopped_in:
        rows = rows.filter(Exists(_stops(OuterRef("pk"), OuterRef("version")).filter(from_state=wanted.stopped_in)))
    return rows


def count_by_reason(principal: Principal, wanted: StoppedFilter | None = None) -> list[Stopped]:
    """The reason that waits longest first; one query."""
    rows = (
        list_stopped(principal, wanted)
        .order_by()
        .values("reason")
        .annotate(number=Count("*"), oldest=Min("state_since"))
        .order_by("oldest", "reason")
    )
    return [Stopped(row["reason"], row["number"], row["oldest"]) for row in rows]


def list_oldest_of_each(principal: Principal, wanted: StoppedFilter | None = None, *, each: int) -> list[Case]:
    """Of each reason the `each` cases that wait longest, with their organisation; one query."""
    place = Window(RowNumber(), partition_by=[F("reason")], order_by=[F("state_since").asc(), F("pk").asc()])
    rows = list_stopped(principal, wanted).select_related("organisation").annotate(place=place)
    return list(rows.filter(place__lte=each).order_by("reason", "place"))


def how_stopped(cases: Sequence[Case]) -> dict[int, Happened]:
    """Case key → the event that stopped it; one query. Whoever may see the case may see its event."""
    versions = {case.pk: case.version for case in cases}
    rows = AuditEvent.objects.filter(case_id__in=list(versions), version__in=set(versions.values()))
    return {row.case_id: happened(row) for row in rows if row.case_id and versions[row.case_id] == row.version}


def count_by_former_state(principal: Principal, wanted: StoppedFilter | None = None) -> dict[str, int]:
    """State → how many of the stopped cases were in it before they stopped; one query."""
    before = _stops(OuterRef("pk"), OuterRef("version")).values("from_state")[:1]
    rows = list_stopped(principal, wanted).order_by().annotate(before=before).values_list("before")
    return _summed(rows.annotate(number=Count("pk")))


def _summed(rows: Iterable[tuple[str | None, int]]) -> dict[str, int]:
    return {state: number for state, number in rows if state}


def _stops(case_id: OuterRef, version: OuterRef) -> QuerySet[AuditEvent]:
    """The event that brought a case to the state it is in: versions change with states only (design §4)."""
    return AuditEvent.objects.filter(case_id=case_id, version=version)
