"""Reports over the API: asked for, shown, listed, corrected; what cannot be owed is refused with its reason."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Organisation
from accounts.principal import SYSTEM
from accounts.services import create_departments, grant_role
from caseflow.domain.roles import Right, Role
from cases.models import Case
from operations.models import Obligation
from tests.commands.conftest import Run, run
from tests.factories import T4821, make_person

from .conftest import Caller, browser_of, machine_of

__all__ = ["run"]

REPORTS = "/api/v1/reports/"
BODY: dict[str, Any] = {"organisation": "acme", "department": "sales", "kind": "requests", "period": "2024-W40"}


@pytest.fixture
def operator(acme: Organisation) -> Caller:
    department, _other = create_departments(organisation=acme, names=[("sales", "Sales"), ("empty", "Empty")])
    reader = make_person("reader")
    grant_role(person=reader, organisation=acme, role=Role.REPORT_READER, department=department, by=SYSTEM)
    return browser_of(make_person("operator", acme, "operator"))


def test_a_report_is_asked_for_once_whoever_asks_and_by_which_face(
    operator: Caller, acme: Organisation, run: Run
) -> None:
    answer = operator.post(REPORTS, BODY)
    assert answer.status_code == 201, answer.content
    report = answer.json()
    assert (report["id"], report["edition"], report["state"]) == ("acme/sales/requests/2024-W40", 1, "RECEIVED")
    assert answer["Location"] == report["links"]["self"]
    machine = machine_of(acme, rights={Right.OPEN_CASE})
    again = machine.post(REPORTS, BODY)
    assert (again.status_code, again.json()["case"]) == (200, report["case"])
    asked = ("request_report", "--organisation=acme", "--department=sales", "--as=operator", "--json")
    same = {"report": report["id"], "edition": 1, "case": report["case"], "state": "RECEIVED"}
    assert run(*asked, "--period=2024-W40").json() == {"result": "same"} | same
    refused = run(*asked, "--period=2999-W40")
    assert (refused.code, refused.json()["code"]) == (1, "future_period")
    assert Obligation.objects.count() == Case.objects.count() == 1

    shown = operator.get(report["links"]["self"]).json()
    assert [edition["document"] for edition in shown["editions"]] == [None]
    assert shown["recipients"] == [{"person": "reader", "status": "PLANNED", "code": "", "may_open": True}]
    correcting = operator.post(report["links"]["corrections"], {"reason": "A row was wrong"})
    assert (correcting.status_code, correcting.json()["code"]) == (409, "edition_open")


def test_reports_are_listed_page_by_page_the_newest_period_first(operator: Caller) -> None:
    periods = ["2024-10-01", "2024-10-02", "2024-09"]
    for period in periods:
        assert operator.post(REPORTS, BODY | {"period": period}).status_code == 201
    first = operator.get(REPORTS, limit="2").json()
    assert [one["period"] for one in first["results"]] == ["2024-10-02", "2024-10-01"]
    second = operator.get(first["next"]).json()
    assert ([one["period"] for one in second["results"]], second["next"]) == (["2024-09"], None)
    assert operator.get(REPORTS, organisation="globex").json()["results"] == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"department": "nobody"}, "unknown_department"),
        ({"department": "empty"}, "no_recipients"),
        ({"kind": "weather"}, "unknown_kind"),
        ({"period": "October"}, "malformed_period"),
        ({"period": "2999-10-01"}, "future_period"),
        ({"recipients": ["nobody"]}, "unknown_recipient"),
    ],
)
def test_what_cannot_be_owed_is_refused_with_its_reason(operator: Caller, change: dict[str, Any], code: str) -> None:
    answer = operator.post(REPORTS, BODY | change)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert not Obligation.objects.exists()


def test_who_may_not_open_cases_asks_for_none_and_nobody_opens_one_as_a_ticket(
    operator: Caller, acme: Organisation
) -> None:
    assert browser_of(make_person("viewer", acme, "viewer")).post(REPORTS, BODY).status_code == 403
    ticket = {
        "organisation": "acme",
        "process": "department_report",
        "source": "reports",
        "external_id": "globex/sales/requests/2024-W40",
        "intake": {
            "obligation": "globex/sales/requests/2024-W40",
            "department": "sales",
            "kind": "requests",
            "period": "2024-W40",
            "edition": 1,
            "zone": "UTC",
            "language": "en",
            "recipients": [1],
        },
    }
    answer = operator.post("/api/v1/cases/", ticket)
    assert (answer.status_code, answer.json()["code"]) == (400, "not_from_outside")
    # Nor may a ticket of another kind take the name of a report that is still to come.
    taken = T4821(source=" reports", external_id="acme/sales/requests/2026-12")
    answer = operator.post("/api/v1/cases/", taken)
    assert (answer.status_code, answer.json()["code"]) == (400, "own_source")
    assert not Case.objects.exists()
