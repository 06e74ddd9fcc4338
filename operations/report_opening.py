"""Regular work: what a schedule says is due is opened, and what is not there in time is named.

Several dispatchers at once are harmless: a schedule is taken by one of them, and an obligation is opened once.
"""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import Department
from accounts.principal import SYSTEM
from audit.services import record_organisation_event
from caseflow.domain.periods import due_periods
from cases.advancing import record_event
from cases.claiming import Lease
from cases.rows import database_now, lock_case
from cases.settling import settlement
from cases.stages import Stage, register
from documents.models import Document

from .report_models import Obligation, ObligationEdition, ReportSchedule
from .reporting import newest_edition, owe

log = logging.getLogger("caseflow.reports")

STAGE = "open_reports"
CATCH_UP = 31  #: periods of one schedule; older ones that were missed are left out, which is put on record
OVERDUE_AT_ONCE = 200  #: obligations
PORTION = timedelta(seconds=20)  #: of opening, well within the stage's limit; the next run goes on


def open_reports(lease: Lease) -> Lease | None:
    """One run; what it did not get to is due in the next."""
    try:
        open_due()
    finally:
        name_overdue()
    with settlement(lease) as settling:
        pass
    return settling.next_lease


def open_due() -> int:
    """Open what is due by now, each schedule in a transaction of its own; how many obligations were new.

    One that cannot be opened keeps none of the others from theirs; its error is raised when they are done.
    """
    ends, opened = time.monotonic() + PORTION.total_seconds(), 0
    tried: set[int] = set()
    failed: list[Exception] = []
    while time.monotonic() < ends:
        try:
            found = _open_next(tried)
        except (OperationalError, InterfaceError):
            raise  # no schedule's fault
        except Exception as error:
            log.exception("what a schedule says is due could not be opened")
            failed.append(error)
            continue
        if found is None:
            break
        opened += found
    if failed:
        raise failed[0]
    return opened


def name_overdue() -> int:
    """Raise an item for each obligation whose document is not there by due + grace; how many."""
    now = database_now()
    late = still_missing(Obligation.objects.filter(overdue_at=None, grace_until__lte=now))
    rows = list(late.order_by("grace_until").values_list("pk", flat=True)[:OVERDUE_AT_ONCE])
    return sum(_name_overdue(pk, now) for pk in rows)


def still_missing(obligations: QuerySet[Obligation]) -> QuerySet[Obligation]:
    """Those without a document on which something still works, or somebody: a case that was closed owes nothing."""
    under_way = ObligationEdition.objects.filter(obligation=OuterRef("pk"), case__closed_at=None)
    made = Document.objects.filter(department=OuterRef("department"), kind=OuterRef("kind"), period=OuterRef("period"))
    return obligations.filter(Exists(under_way), ~Exists(made))


def _open_next(tried: set[int]) -> int | None:
    """The schedule that is due longest of those not tried yet; how many of its obligations were new, None for none."""
    with transaction.atomic():
        now = database_now()
        due = ReportSchedule.objects.filter(is_active=True, next_due__lte=now).order_by("next_due", "pk")
        schedule = due.exclude(pk__in=tried).select_for_update(skip_locked=True, no_key=True).first()
        if schedule is None:
            return None
        tried.add(schedule.pk)
        department = Department.objects.select_related("organisation").get(pk=schedule.department_id)
        zone = ZoneInfo(department.organisation.time_zone)
        missed = due_periods(schedule.following, schedule.rule, zone=zone, now=now, limit=CATCH_UP)
        opened = 0
        for period in missed.periods:
            requested = owe(
                department=department,
                kind=schedule.kind,
                period=period,
                due_at=schedule.rule.due(period.end(zone)),
                grace=schedule.grace,
                recipients=schedule.recipients,
                actor=SYSTEM,
                asked_by=None,
                now=now,
            )
            opened += requested.created
        if missed.left_out:
            facts = {"schedule": schedule.pk, "left_out": missed.left_out, "first": schedule.next_period}
            record_organisation_event(schedule.organisation_id, "schedule.left_out", actor=SYSTEM, facts=facts)
        schedule.next_period = missed.next.text
        schedule.next_due = schedule.rule.due(missed.next.end(zone))
        schedule.save(update_fields=["next_period", "next_due"])
        return opened


def _name_overdue(pk: int, now: datetime) -> int:
    with transaction.atomic():
        edition = newest_edition(Obligation.objects.get(pk=pk))
        case = lock_case(edition.case_id)
        # Under the case's lock: of two runs at the same instant one tells the history.
        if not Obligation.objects.filter(pk=pk, overdue_at=None).update(overdue_at=now):
            return 0
        record_event(case, "obligation.overdue", actor=SYSTEM, facts={"edition": edition.number})
        return 1


register(Stage(STAGE, open_reports, carries=False))
