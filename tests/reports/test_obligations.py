"""A report is owed once per department, kind and period, however often it is asked for and whoever opens it."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from accounts.principal import SYSTEM
from accounts.services import create_departments
from audit.models import AuditEvent
from caseflow.domain.errors import BadInput, EditionOpen, IntakeConflict, NotPermitted
from caseflow.domain.periods import Length, Period
from caseflow.processes.department_report import SOURCE
from cases.intake import open_case
from cases.models import Case
from cases.personal import read_texts
from documents.models import Document
from operations import report_opening
from operations.models import Obligation, ReportSchedule
from operations.report_opening import name_overdue, open_due
from operations.report_selectors import list_overdue
from operations.reporting import REASON_FIELD
from tests.factories import T4821, make_organisation, make_person
from tests.reports.conftest import Bureau
from tests.steps import together

MOSCOW = ZoneInfo("Europe/Moscow")
UNDER_WAY = "the month under way"


def scheduled(bureau: Bureau, first: str, *, due: datetime, **words: Any) -> ReportSchedule:
    row = {
        "organisation": bureau.engine.organisation,
        "department": bureau.department,
        "kind": "requests",
        "length": Period.parse(first).length.value,
        "at": time(8),
        "zone": "Europe/Moscow",
        "grace": timedelta(hours=1),
        "recipients": [head.pk for head in bureau.heads],
        "next_period": first,
        "next_due": due,
        "changed_at": due,
        "changed_by": bureau.operator,
    }
    return ReportSchedule.objects.create(**(row | words))


def test_asked_for_twice_and_past_its_grace_a_report_is_one_obligation_one_document_and_one_letter_each(
    bureau: Bureau,
) -> None:
    first, again = bureau.request(), bureau.request()
    assert (first.created, again.created) == (True, False)
    assert (again.obligation, again.edition) == (first.obligation, first.edition)
    # Nothing was worked on until after its grace: it is named late, once, and not a second one is opened.
    bureau.engine.owner.execute(
        "UPDATE operations_obligation SET grace_until = clock_timestamp() - interval '1 second'"
    )
    assert (name_overdue(), name_overdue()) == (1, 0)
    story = bureau.story(first)
    assert "obligation.overdue" in story.history()
    assert [late.period for late in list_overdue(bureau.operator)] == [bureau.period]
    assert bureau.request().created is False
    story.run()
    assert (story.state, bureau.documents()) == ("COMPLETED", 1)
    assert not list_overdue(bureau.operator).exists()
    assert len(bureau.letters()) == len(set(bureau.letters())) == 3
    assert bureau.request().edition == first.edition
    story.run()
    assert (bureau.documents(), len(bureau.letters()), Case.objects.count()) == (1, 3, 1)


def test_a_report_whose_case_a_person_closed_is_not_called_late(bureau: Bureau) -> None:
    story = bureau.story(bureau.request())
    story.order("close")
    bureau.engine.owner.execute(
        "UPDATE operations_obligation SET grace_until = clock_timestamp() - interval '1 second'"
    )
    assert (story.state, name_overdue()) == ("CLOSED_NO_CHANGE", 0)


def test_two_who_ask_at_the_same_instant_get_the_same_report(bureau: Bureau) -> None:
    asker = bureau.operator
    asked = together(*(lambda: bureau.request(principal=asker) for _ in range(4)))
    assert [one.created for one in asked].count(True) == 1
    assert len({one.edition.case_id for one in asked}) == 1 == Obligation.objects.count()


def test_a_corrected_edition_is_a_new_case_with_a_reason_and_stands_beside_the_first(bureau: Bureau) -> None:
    first = bureau.request()
    with pytest.raises(EditionOpen):
        bureau.correct(first.obligation)
    bureau.run(first)
    second = bureau.correct(first.obligation, reason="Две строки были лишними")
    story = bureau.run(second)
    assert (story.case.external_id, story.state) == ("acme/sales/requests/2024-10-01/r2", "COMPLETED")
    assert (second.edition.number, second.edition.asked_by) == (2, bureau.operator)
    assert read_texts(story.id, [REASON_FIELD]) == {REASON_FIELD: "Две строки были лишними"}
    editions = Document.objects.filter(department=bureau.department).order_by("edition")
    assert list(editions.values_list("edition", flat=True)) == [1, 2]
    assert len(bureau.letters()) == 6
    assert bureau.request().edition == second.edition


def test_who_may_not_order_a_recovery_corrects_nothing_and_the_attempt_is_on_record(bureau: Bureau) -> None:
    first = bureau.request()
    bureau.run(first)
    with pytest.raises(NotPermitted):
        bureau.correct(first.obligation, person=bureau.engine.person("viewer"))
    assert AuditEvent.objects.filter(kind="access.refused").exists()
    for reason in ("", "  ", "x" * 501, "a\x00"):
        with pytest.raises(BadInput):
            bureau.correct(first.obligation, reason=reason)
    assert Case.objects.count() == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"department": "nobody"}, "unknown_department"),
        ({"department": "elsewhere"}, "unknown_department"),
        ({"kind": "weather"}, "unknown_kind"),
        ({"period": "2026-13"}, "malformed_period"),
        ({"period": "2999-12-31"}, "future_period"),
        ({"period": UNDER_WAY}, "open_period"),
        ({"recipients": []}, "no_recipients"),
        ({"recipients": ["alpha", "stranger"]}, "unknown_recipient"),
        ({"recipients": ["nobody-at-all"]}, "unknown_recipient"),
        ({"department": "empty"}, "no_recipients"),
    ],
)
def test_what_cannot_be_owed_is_refused_with_the_reason(bureau: Bureau, words: dict[str, Any], code: str) -> None:
    other = make_organisation("globex")
    create_departments(organisation=other, names=[("elsewhere", "Elsewhere")])
    create_departments(organisation=bureau.engine.organisation, names=[("empty", "Nobody reads here")])
    make_person("stranger", other, "operator")
    if words.get("period") == UNDER_WAY:
        # Where the organisation is: elsewhere it may be another month for some hours.
        zone = ZoneInfo(bureau.engine.organisation.time_zone)
        words = {"period": Period.at(Length.MONTH, datetime.now(UTC), zone).text}
    with pytest.raises(BadInput) as refused:
        bureau.request(**words)
    assert refused.value.code == code
    assert not Obligation.objects.exists()


def test_missed_periods_are_opened_in_order_up_to_a_limit_and_what_is_left_out_is_on_record(
    bureau: Bureau, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_opening, "CATCH_UP", 3)
    schedule = scheduled(bureau, "2024-10", due=datetime(2024, 11, 1, 5, tzinfo=UTC))
    assert (open_due(), open_due()) == (3, 0)
    schedule.refresh_from_db()
    opened = list(Obligation.objects.order_by("id").values_list("period", flat=True))
    months = [Period.parse(schedule.next_period)]
    while len(months) < 4:
        months.append(months[-1].previous())
    assert opened == [month.text for month in reversed(months[1:])]
    assert schedule.next_due > datetime.now(UTC)
    assert AuditEvent.objects.filter(kind="schedule.left_out").count() == 1


def test_a_schedule_that_cannot_be_opened_keeps_no_other_from_its_report(bureau: Bureau) -> None:
    (other,) = create_departments(organisation=bureau.engine.organisation, names=[("service", "Service")])
    month = Period.at(Length.MONTH, datetime.now(UTC), MOSCOW).previous()
    taken = T4821(source=SOURCE, external_id=f"acme/sales/requests/{month}") | {"organisation": other.organisation}
    open_case(**taken, actor=SYSTEM, from_outside=False)
    for hours, department in enumerate([bureau.department, other]):
        due = month.end(MOSCOW) - timedelta(hours=1 - hours)  # over, also in the first hour of a month
        scheduled(bureau, month.text, due=due, department=department, at=time(0))
    with pytest.raises(IntakeConflict):
        open_due()
    assert list(Obligation.objects.values_list("department", flat=True)) == [other.pk]


def test_two_hundred_obligations_are_opened_once_each_by_two_dispatchers(bureau: Bureau) -> None:
    names = [(f"d{number}", f"Department {number}") for number in range(199)]
    departments = create_departments(organisation=bureau.engine.organisation, names=names)
    last_month = Period.at(Length.MONTH, datetime.now(UTC), MOSCOW).previous()
    for department in [bureau.department, *departments]:
        scheduled(bureau, last_month.text, due=last_month.end(MOSCOW), department=department, at=time(0))
    assert sum(together(open_due, open_due)) == 200
    assert Case.objects.count() == Obligation.objects.count() == 200
    assert open_due() == 0
