"""An administrator puts a department's report on a schedule; what cannot come due is refused with the reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from accounts.models import Organisation, Person
from accounts.principal import SYSTEM
from accounts.services import create_departments, grant_role
from audit.models import AuditEvent
from caseflow.domain.errors import BadInput, NotPermitted
from caseflow.domain.roles import Role
from operations.models import Obligation, ReportSchedule
from operations.report_opening import open_due
from operations.scheduling import Wanted, set_schedule, switch_off
from tests.factories import make_organisation, make_person

DAILY = Wanted(
    department="sales",
    kind="requests",
    length="day",
    at="08:00",
    cron="",
    zone="Europe/Moscow",
    grace_minutes=60,
    recipients=["head"],
)


@pytest.fixture
def acme(database: None) -> Organisation:
    acme = make_organisation("acme")
    (sales,) = create_departments(organisation=acme, names=[("sales", "Sales")])
    grant_role(person=make_person("head"), organisation=acme, role=Role.REPORT_READER, department=sales, by=SYSTEM)
    return acme


@pytest.fixture
def admin(acme: Organisation) -> Person:
    return make_person("admin", acme, "org_admin")


def test_a_schedule_begins_with_the_period_under_way_and_a_change_skips_nothing(
    acme: Organisation, admin: Person
) -> None:
    row = set_schedule(organisation=acme, wanted=DAILY, person=admin)
    assert row.next_due > datetime.now(UTC) and open_due() == 0
    ReportSchedule.objects.update(next_period="2024-10-01", next_due=datetime(2024, 10, 2, 5, tzinfo=UTC))
    changed = set_schedule(organisation=acme, wanted=replace(DAILY, at="", cron="0 9 3 10 *"), person=admin)
    assert (changed.pk, changed.next_period) == (row.pk, "2024-10-01")
    assert changed.next_due == datetime(2024, 10, 3, 6, tzinfo=UTC)
    kinds = AuditEvent.objects.filter(organisation_id=acme.pk, kind__startswith="schedule.").values_list(
        "kind", flat=True
    )
    assert list(kinds) == ["schedule.set", "schedule.set"]


def test_a_schedule_that_is_switched_off_opens_nothing(acme: Organisation, admin: Person) -> None:
    row = set_schedule(organisation=acme, wanted=DAILY, person=admin)
    ReportSchedule.objects.update(next_period="2024-10-01", next_due=datetime(2024, 10, 2, 5, tzinfo=UTC))
    assert (switch_off(schedule=row, person=admin), switch_off(schedule=row, person=admin)) == (True, False)
    assert (open_due(), Obligation.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"department": "nobody"}, "unknown_department"),
        ({"kind": "weather"}, "unknown_kind"),
        ({"length": "year"}, "unknown_length"),
        ({"zone": "Europe/Atlantis"}, "unknown_zone"),
        ({"zone": "Factory"}, "unknown_zone"),
        ({"at": "25:00"}, "malformed_time"),
        ({"at": "", "cron": ""}, "one_clock"),
        ({"cron": "0 8 * * *"}, "one_clock"),
        ({"at": "", "cron": "0 8 30 2 *"}, "cron_never"),
        ({"at": "", "cron": "every morning"}, "cron_malformed"),
        ({"grace_minutes": -1}, "grace"),
        ({"recipients": []}, "no_recipients"),
        ({"recipients": ["head", "stranger"]}, "unknown_recipient"),
    ],
)
def test_what_cannot_come_due_is_refused(acme: Organisation, admin: Person, change: dict[str, Any], code: str) -> None:
    make_person("stranger", make_organisation("globex"), "viewer")
    with pytest.raises(BadInput) as refused:
        set_schedule(organisation=acme, wanted=replace(DAILY, **change), person=admin)
    assert (refused.value.code, ReportSchedule.objects.count()) == (code, 0)


@pytest.mark.django_db(transaction=True)
def test_who_does_not_administer_sets_nothing_and_the_attempt_is_on_record(committing_database: None) -> None:
    acme = make_organisation("acme")
    with pytest.raises(NotPermitted):
        set_schedule(organisation=acme, wanted=DAILY, person=make_person("operator", acme, "operator"))
    assert AuditEvent.objects.filter(organisation_id=acme.pk, kind="access.refused").count() == 1


def test_the_page_says_what_is_wrong_beside_the_field_and_shows_what_was_set(acme: Organisation, admin: Person) -> None:
    browser = Client()
    browser.force_login(admin, backend="django.contrib.auth.backends.ModelBackend")
    page = "/console/schedules/acme/"
    said = {"department": "sales", "kind": "requests", "length": "week", "at": "", "zone": "Europe/Moscow"}
    told = said | {"grace": "60", "recipients": ["head"]}
    refused = browser.post(page, told | {"cron": "0 8 30 2 *"})
    assert refused.status_code == 400
    assert "This cron line never fires" in refused.content.decode()
    assert browser.post(page, told | {"cron": "0 8 * * 1"}).status_code == 302
    listed = browser.get("/console/schedules/").content.decode()
    assert "0 8 * * 1" in listed and "every week" in listed
    row = ReportSchedule.objects.get()
    assert "0 8 * * 1" in browser.get(f"{page}?change={row.pk}").content.decode()
    assert browser.post(f"{page}{row.pk}/off/").status_code == 302
    assert "switched off" in browser.get("/console/schedules/").content.decode()
