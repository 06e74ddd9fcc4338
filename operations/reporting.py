"""Reports that are owed: opened once, asked for again without a second one, corrected by another edition.

The case's external id is the obligation, so that neither two dispatchers nor two people open it twice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import transaction

from accounts import access
from accounts.granting import list_people
from accounts.models import Department, Organisation, Person
from accounts.principal import Actor, Principal, actor_of, actor_of_person
from audit.services import record_access
from caseflow.domain.errors import BadInput, EditionOpen, NotPermitted
from caseflow.domain.periods import BadPeriod, ObligationKey, Period
from caseflow.domain.roles import Right
from caseflow.processes.department_report import KINDS, MAX_RECIPIENTS, SOURCE, DepartmentReport
from cases.intake import open_case
from cases.personal import store_texts
from cases.rows import database_now
from documents.access import who_may_open

from .report_models import Obligation, ObligationEdition, ReportSchedule

GRACE = timedelta(hours=1)  #: for a report that no schedule speaks of
MAX_REASON = 500  #: characters
REASON_FIELD = "edition.reason"  #: the personal text of a case that corrects another


@dataclass(frozen=True, slots=True)
class Requested:
    """The obligation with its newest edition; `created` is false where it was there before."""

    obligation: Obligation
    edition: ObligationEdition
    created: bool


def request_report(
    *,
    organisation: Organisation,
    department: str,
    kind: str,
    period: str,
    principal: Principal,
    recipients: Sequence[str] | None = None,
) -> Requested:
    """The report of a department for a closed period: opened now, or the one that is owed already.

    `recipients` are sign-in names; without them the schedule's, or whoever may open the department's documents. The
    caller has checked the right to open cases. Raises BadInput(code, path, problem).
    """
    row = get_department(organisation, department)
    check_kind(kind)
    asked = closed_period(period, organisation)
    now = database_now()
    schedule = ReportSchedule.objects.filter(department=row, kind=kind, length=asked.length.value).first()
    with transaction.atomic():
        found = Obligation.objects.filter(department=row, kind=kind, period=asked.text).first()
        if found is not None:
            return Requested(found, newest_edition(found), created=False)
        return owe(
            department=row,
            kind=kind,
            period=asked,
            due_at=now,
            grace=schedule.grace if schedule else GRACE,
            recipients=_recipients(row, schedule, recipients),
            actor=actor_of(principal),
            asked_by=principal if isinstance(principal, Person) else None,
            now=now,
        )


def correct_report(*, obligation: Obligation, reason: str, person: Person) -> Requested:
    """A new edition of a report, by a new case beside the old one; both documents stay.

    Raises BadInput; EditionOpen(case) while an edition is still under way; NotPermitted, which is put on record.
    """
    reason = checked_reason(reason)
    try:
        access.require(person, obligation.organisation_id, Right.RECOVER)
    except NotPermitted as error:
        facts = {"right": error.params["right"], "obligation": str(obligation.key)}
        record_access(obligation.organisation_id, "access.refused", actor=actor_of_person(person), facts=facts)
        raise
    with transaction.atomic():
        # Two who correct at the same instant: the second sees the first one's edition.
        row = Obligation.objects.select_for_update(no_key=True, of=("self",)).get(pk=obligation.pk)
        newest = newest_edition(row)
        if newest.case.closed_at is None:
            raise EditionOpen(case=newest.case.public_id)
        schedule = ReportSchedule.objects.filter(department_id=row.department_id, kind=row.kind)
        schedule = schedule.filter(length=Period.parse(row.period).length.value, is_active=True)
        told = schedule.values_list("recipients", flat=True).first() or newest.recipients
        edition = _open_edition(
            row, newest.number + 1, told, actor=actor_of_person(person), asked_by=person, reason=reason
        )
        return Requested(row, edition, created=True)


def owe(
    *,
    department: Department,
    kind: str,
    period: Period,
    due_at: datetime,
    grace: timedelta,
    recipients: Sequence[int],
    actor: Actor,
    asked_by: Person | None,
    now: datetime,
) -> Requested:
    """Open the obligation with its first edition, in the caller's transaction; who comes second gets the first's."""
    organisation = department.organisation
    row, created = Obligation.objects.get_or_create(
        organisation=organisation,
        department=department,
        kind=kind,
        period=period.text,
        defaults={
            "period_end": period.end(ZoneInfo(organisation.time_zone)),
            "due_at": due_at,
            "grace_until": due_at + grace,
            "created_at": now,
        },
    )
    if not created:
        return Requested(row, newest_edition(row), created=False)
    return Requested(row, _open_edition(row, 1, recipients, actor=actor, asked_by=asked_by), created=True)


def newest_edition(obligation: Obligation) -> ObligationEdition:
    """One query, with its case."""
    return obligation.editions.select_related("case").latest("number")


def get_department(organisation: Organisation, slug: str) -> Department:
    """Raises BadInput."""
    row = None
    if isinstance(slug, str) and slug.isprintable():
        row = Department.objects.select_related("organisation").filter(organisation=organisation, slug=slug).first()
    if row is None:
        raise BadInput(code="unknown_department", path="$.department", problem="there is no such department")
    return row


def check_kind(kind: str) -> None:
    """Raises BadInput."""
    if kind not in KINDS:
        raise BadInput(code="unknown_kind", path="$.kind", problem=f"one of: {', '.join(KINDS)}")


def closed_period(text: str, organisation: Organisation) -> Period:
    """Raises BadInput for what names no period, and for one that is not over in the organisation's zone."""
    try:
        period = Period.parse(text)
    except (BadPeriod, TypeError) as error:
        raise BadInput(code="malformed_period", path="$.period", problem=str(error)) from None
    zone, now = ZoneInfo(organisation.time_zone), database_now()
    if period.start(zone) > now:
        raise BadInput(code="future_period", path="$.period", problem=f"{period} has not begun in {zone.key}")
    if not period.is_closed(zone, now):
        raise BadInput(code="open_period", path="$.period", problem=f"{period} is not over yet in {zone.key}")
    return period


def checked_recipients(organisation: Organisation, usernames: Collection[str]) -> list[int]:
    """Keys of active people of the organisation, in the order of their names. Raises BadInput.

    Somebody of another organisation is refused in the same words as nobody at all.
    """
    wanted = sorted({name for name in usernames if isinstance(name, str)})
    if not wanted:
        raise BadInput(code="no_recipients", path="$.recipients", problem="at least one person has to be told")
    if len(wanted) > MAX_RECIPIENTS:
        raise BadInput(code="too_many", path="$.recipients", problem=f"more than {MAX_RECIPIENTS} persons")
    here = list_people(organisation).filter(is_active=True)
    found = dict(
        here.filter(username__in=[name for name in wanted if "\x00" not in name]).values_list("username", "pk")
    )
    unknown = [name for name in wanted if name not in found]
    if unknown:
        raise BadInput(
            code="unknown_recipient",
            path="$.recipients",
            problem=f"nobody of this organisation is called {unknown[0]!r}",
        )
    return [found[name] for name in wanted]


def checked_reason(reason: str) -> str:
    """Raises BadInput."""
    if not isinstance(reason, str) or not reason.strip():
        raise BadInput(code="empty", path="$.reason", problem="history needs a reason")
    if len(reason) > MAX_REASON:
        raise BadInput(code="too_long", path="$.reason", problem=f"longer than {MAX_REASON} characters")
    if "\x00" in reason:
        raise BadInput(code="nul", path="$.reason", problem="a NUL character")
    return reason.strip()


def _recipients(
    department: Department, schedule: ReportSchedule | None, usernames: Sequence[str] | None
) -> Sequence[int]:
    if usernames is not None:
        return checked_recipients(department.organisation, usernames)
    if schedule is not None:
        return schedule.recipients
    readers = list(who_may_open(department).values_list("pk", flat=True)[:MAX_RECIPIENTS])
    if not readers:
        raise BadInput(
            code="no_recipients", path="$.recipients", problem="nobody may open the documents of this department"
        )
    return readers


def _open_edition(
    row: Obligation,
    number: int,
    recipients: Sequence[int],
    *,
    actor: Actor,
    asked_by: Person | None,
    reason: str = "",
) -> ObligationEdition:
    organisation, department = row.organisation, row.department
    key = ObligationKey(organisation.slug, department.slug, row.kind, row.period, number)
    intake = {
        "obligation": str(key),
        "department": department.slug,
        "kind": row.kind,
        "period": row.period,
        "edition": number,
        "zone": organisation.time_zone,
        "language": organisation.language,
        "recipients": list(recipients),
    }
    opened = open_case(
        organisation=organisation,
        process=DepartmentReport.slug,
        source=SOURCE,
        external_id=str(key),
        intake=intake,
        actor=actor,
        department_id=department.pk,
        from_outside=False,
    )
    now = database_now()
    if reason:
        store_texts(opened.case.pk, {REASON_FIELD: reason}, at=now)
    return ObligationEdition.objects.create(
        obligation=row,
        number=number,
        case=opened.case,
        recipients=list(recipients),
        reason_field=REASON_FIELD if reason else "",
        asked_by=asked_by,
        at=now,
    )
