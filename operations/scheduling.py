"""An administrator sets when a department's reports are due and who is told; every change is on record."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import time, timedelta
from zoneinfo import ZoneInfo

from django.db import transaction

from accounts import access
from accounts.models import Organisation, Person, time_zones
from accounts.principal import actor_of_person
from audit.services import record_access, record_organisation_event
from caseflow.domain.errors import BadInput, NotPermitted
from caseflow.domain.periods import MAX_CRON, BadCron, DueRule, Length, Period
from caseflow.domain.roles import Right
from cases.rows import database_now

from .report_models import ReportSchedule
from .reporting import check_kind, checked_recipients, get_department

MAX_GRACE = timedelta(days=31)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A schedule in the administrator's words: `at` is HH:MM, or `cron` a line of five fields; the other is ''."""

    department: str
    kind: str
    length: str
    at: str
    cron: str
    zone: str
    grace_minutes: int
    recipients: Collection[str]  #: sign-in names


def set_schedule(*, organisation: Organisation, wanted: Wanted, person: Person) -> ReportSchedule:
    """Make or change the schedule of a department, kind and length; it begins with the period that is under way now.

    Raises BadInput(code, path, problem), and NotPermitted, which is put on record.
    """
    _require(organisation, person)
    department = get_department(organisation, wanted.department)
    check_kind(wanted.kind)
    length = _length(wanted.length)
    rule = _rule(wanted)
    grace = timedelta(minutes=wanted.grace_minutes)
    if not timedelta(0) <= grace <= MAX_GRACE:
        raise BadInput(code="grace", path="$.grace_minutes", problem=f"from 0 to {MAX_GRACE.days} days")
    recipients = checked_recipients(organisation, wanted.recipients)
    now, zone = database_now(), ZoneInfo(organisation.time_zone)
    first = Period.at(length, now, zone)
    with transaction.atomic():
        fields = {
            "at": rule.at,
            "cron": rule.cron,
            "zone": rule.zone.key,
            "grace": grace,
            "recipients": recipients,
            "is_active": True,
            "changed_at": now,
            "changed_by": person,
        }
        key = {"organisation": organisation, "department": department, "kind": wanted.kind, "length": length.value}
        row, created = ReportSchedule.objects.select_for_update(no_key=True, of=("self",)).get_or_create(
            **key, defaults=fields | {"next_period": first.text, "next_due": rule.due(first.end(zone))}
        )
        if not created:
            # What was missed before stays owed: a change of the hour is no way to skip a period.
            following = row.following if row.is_active else first
            fields |= {"next_period": following.text, "next_due": rule.due(following.end(zone))}
            for name, value in fields.items():
                setattr(row, name, value)
            row.save(update_fields=list(fields))
        _record(row, "schedule.set", person, at=str(rule.at or ""), cron=rule.cron, zone=rule.zone.key)
    return row


def switch_off(*, schedule: ReportSchedule, person: Person) -> bool:
    """Nothing comes due by it any more; whether it was on. Raises NotPermitted, which is put on record."""
    _require(schedule.organisation, person)
    with transaction.atomic():
        was_on = ReportSchedule.objects.filter(pk=schedule.pk, is_active=True).update(
            is_active=False, changed_at=database_now(), changed_by=person
        )
        if was_on:
            _record(schedule, "schedule.switched_off", person)
    return bool(was_on)


def _require(organisation: Organisation, person: Person) -> None:
    try:
        access.require(person, organisation, Right.ADMINISTER)
    except NotPermitted as error:
        facts = {"right": error.params["right"], "asked": "schedule"}
        record_access(organisation.pk, "access.refused", actor=actor_of_person(person), facts=facts)
        raise


def _length(text: str) -> Length:
    try:
        return Length(text)
    except ValueError:
        raise BadInput(code="unknown_length", path="$.length", problem="day, week or month") from None


def _rule(wanted: Wanted) -> DueRule:
    if wanted.zone not in time_zones():
        raise BadInput(code="unknown_zone", path="$.zone", problem="no time zone has this name")
    zone, cron = ZoneInfo(wanted.zone), wanted.cron.strip()
    if bool(wanted.at) == bool(cron):
        raise BadInput(code="one_clock", path="$.at", problem="either a time of day or a cron line is needed")
    if not cron:
        return DueRule(zone, at=_time(wanted.at))
    if len(cron) > MAX_CRON:
        raise BadInput(code="too_long", path="$.cron", problem=f"longer than {MAX_CRON} characters")
    rule = DueRule(zone, cron=cron)
    try:
        rule.due(database_now())
    except BadCron as error:
        raise BadInput(code=f"cron_{error.code}", path="$.cron", problem=str(error)) from None
    return rule


def _time(text: str) -> time:
    found = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)(:00)?", text, re.ASCII)
    if found is None:
        raise BadInput(code="malformed_time", path="$.at", problem="a time of day like 08:00 is needed")
    return time(int(found[1]), int(found[2]))


def _record(row: ReportSchedule, kind: str, person: Person, **facts: str) -> None:
    about = {
        "department": row.department.slug,
        "kind": row.kind,
        "length": row.length,
        "recipients": row.recipients,
        "grace_minutes": int(row.grace / timedelta(minutes=1)),
    }
    record_organisation_event(row.organisation_id, kind, actor=actor_of_person(person), facts=about | facts)
