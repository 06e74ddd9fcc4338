"""Reading what the comparison with the outside systems found, and when it ran last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts import access
from accounts.principal import Principal
from actions.models import Action
from caseflow.domain.roles import Right
from cases.models import Schedule

from .models import DriftFinding, DriftRun

#: The regular comparison that runs most often. Two of its turns may pass before it counts as late: one may be running.
MOST_OFTEN, TURNS = "drift.sample", 2
WITHOUT_SCHEDULE = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class DriftHealth:
    """Whether the comparison can be trusted to have looked. It tells of the platform, of no organisation."""

    ended_at: datetime | None  #: when the newest regular comparison was through
    next_at: datetime | None
    is_fresh: bool
    could_not_read: bool  #: some system did not answer then, so that its effects were not compared

    @property
    def is_good(self) -> bool:
        return self.is_fresh and not self.could_not_read


@dataclass(frozen=True, slots=True)
class DriftFilter:
    """What differences are narrowed to; empty means any."""

    organisation: str = ""
    system: str = ""
    run: int = 0


def drift_health() -> DriftHealth:
    """Two queries."""
    newest = DriftRun.objects.filter(task__isnull=False, ended_at__isnull=False).order_by("-began_at").first()
    schedule = Schedule.objects.filter(name=MOST_OFTEN, is_active=True).first()
    late_after = TURNS * schedule.every if schedule else WITHOUT_SCHEDULE
    ended_at = newest.ended_at if newest else None
    return DriftHealth(
        ended_at=ended_at,
        next_at=schedule.next_at if schedule else None,
        is_fresh=ended_at is not None and timezone.now() - ended_at <= late_after,
        could_not_read=newest is not None and newest.unreadable > 0,
    )


def list_runs(principal: Principal) -> QuerySet[DriftRun]:
    """The regular comparisons, newest first, and those by hand that found something in sight.

    `in_sight` counts the differences of organisations in sight; a run's own numbers are of all organisations and are
    no business of one of them (invariant 13).
    """
    mine = DriftFinding.objects.filter(run=OuterRef("pk"), action__organisation__in=_organisations(principal))
    # Run by run, so that only those that are shown are counted.
    counted = mine.order_by().values("run").annotate(number=Count("*")).values("number")
    rows = DriftRun.objects.defer("checked", "differing").annotate(in_sight=Coalesce(Subquery(counted), 0))
    return rows.filter(Q(task__isnull=False) | Exists(mine)).order_by("-began_at", "-pk")


def list_findings(principal: Principal) -> QuerySet[DriftFinding]:
    """Every finding in sight, also of what was found different again since."""
    return access.visible(DriftFinding.objects.all(), principal, Right.SEE_CASES)


def list_differences(principal: Principal, wanted: DriftFilter | None = None) -> QuerySet[DriftFinding]:
    """Of each effect in sight that was found different the newest news of it, newest first, with action and case.

    A run that finds the same again writes a finding that is no news, so these are as many as there are differences and
    not as there were runs. `since` is when it was first found different, `seen` when last. With a run: what that run
    found.
    """
    wanted = wanted or DriftFilter()
    rows = list_findings(principal)
    narrowed = {"action__organisation__slug": wanted.organisation, "action__system": wanted.system, "run": wanted.run}
    rows = rows.filter(**{name: value for name, value in narrowed.items() if value})
    if not wanted.run:
        newer = DriftFinding.objects.filter(action=OuterRef("action"), is_new=True, pk__gt=OuterRef("pk"))
        rows = rows.filter(~Exists(newer), is_new=True)
    same = DriftFinding.objects.filter(action=OuterRef("action")).values("at")
    found = rows.select_related("action__case__organisation", "run")
    found = found.annotate(since=Subquery(same.order_by("id")[:1]), seen=Subquery(same.order_by("-id")[:1]))
    return found.order_by("-at", "-id")


def list_findings_of(action: Action, *, limit: int = 10) -> list[DriftFinding]:
    """The newest differences of one effect; one query."""
    return list(DriftFinding.objects.filter(action=action).select_related("run").order_by("-id")[:limit])


def _organisations(principal: Principal) -> QuerySet:
    return access.organisations_with(principal, Right.SEE_CASES).values("pk")
