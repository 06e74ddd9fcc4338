"""One ticket is one case, however often and by whom it is sent."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Organisation
from accounts.services import create_departments
from audit.models import AuditEvent
from caseflow.domain.roles import Right, Role
from cases.models import Case, IntakeRevision, PersonalText, Task
from tests.driving import together
from tests.factories import CLAIM, T4821, make_organisation, make_person

from .conftest import CASES, Caller, browser_of, machine_of


def test_a_ticket_is_accepted_with_where_to_ask_for_it(machine: Caller) -> None:
    answer = machine.post(CASES, T4821())

    body = answer.json()
    assert answer.status_code == 201
    assert set(body) == {"id", "external_id", "state", "version", "created_at", "links"}
    assert (body["external_id"], body["state"], body["version"]) == ("T-4821", "RECEIVED", 1)
    assert answer["Location"] == body["links"]["self"] == f"/api/v1/cases/{body['id']}/"
    for link in body["links"].values():
        assert machine.get(link).status_code in (200, 405)
    assert Task.objects.filter(case__public_id=body["id"], stage="check", status="due").count() == 1


def test_the_same_ticket_again_is_the_same_case(machine: Caller) -> None:
    first = machine.post(CASES, T4821())

    again = machine.post(CASES, T4821(external_id=" T\u20114821\u200b"))

    assert again.status_code == 200
    assert again.json() == first.json()
    assert Case.objects.count() == 1


@pytest.mark.parametrize(
    "changes", [{"intake": T4821()["intake"] | {"payment_id": "PAY-32"}}, {"source_url": "https://elsewhere.example/"}]
)
def test_the_same_id_with_another_body_is_a_conflict_that_names_the_case(machine: Caller, changes: Any) -> None:
    case = machine.post(CASES, T4821()).json()["id"]

    answer = machine.post(CASES, T4821(**changes))

    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["case"]) == (409, "intake_conflict", case)
    assert case in problem["detail"]
    assert Case.objects.count() == IntakeRevision.objects.count() == 1


def test_another_source_may_use_the_same_id(machine: Caller) -> None:
    first, second = (machine.post(CASES, T4821(source=source)).json()["id"] for source in ("helpdesk", "shop"))

    assert first != second


def test_twenty_deliveries_of_one_ticket_at_the_same_instant_open_one_case(acme: Organisation) -> None:
    machines = [machine_of(acme, name=f"intake-{number}") for number in range(20)]

    answers = together(*[lambda caller=caller: caller.post(CASES, T4821()) for caller in machines])

    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert Case.objects.count() == IntakeRevision.objects.count() == Task.objects.count() == 1
    assert PersonalText.objects.count() == 1
    assert AuditEvent.objects.filter(case_id__isnull=False).count() == 1


def test_accepting_costs_one_query_for_the_token_and_five_statements(machine: Caller) -> None:
    with CaptureQueriesContext(connection) as queries:
        machine.post(CASES, T4821())

    statements = [query["sql"] for query in queries if query["sql"] not in ("BEGIN", "COMMIT")]
    assert len(statements) <= 7, "\n".join(statements)
    assert statements[-1].startswith("NOTIFY")


def test_a_person_with_the_right_opens_a_case_too(acme: Organisation) -> None:
    operator = make_person("operator", acme, Role.OPERATOR)

    answer = browser_of(operator).post(CASES, T4821())

    assert answer.status_code == 201
    assert IntakeRevision.objects.get().told_by_person == operator.pk


def test_the_owner_of_the_machine_is_answerable_for_its_ticket(acme: Organisation) -> None:
    owner = make_person("owner")

    machine_of(acme, owner=owner).post(CASES, T4821())

    assert IntakeRevision.objects.get().told_by_person == owner.pk


def test_a_department_of_the_organisation_is_kept(acme: Organisation, machine: Caller) -> None:
    create_departments(organisation=acme, names=[("support", "Support")])
    create_departments(organisation=make_organisation("globex"), names=[("sales", "Sales")])

    case = machine.post(CASES, T4821(department="support")).json()
    other = machine.post(CASES, T4821(department="sales", external_id="T-2"))

    assert machine.get(case["links"]["self"]).json()["department"] == "support"
    assert (other.status_code, other.json()["code"]) == (400, "unknown_department")


def test_an_organisation_out_of_sight_is_answered_as_one_that_does_not_exist(acme: Organisation) -> None:
    make_organisation("globex")
    callers = [machine_of(acme), browser_of(make_person("operator", acme, Role.OPERATOR))]

    for caller in callers:
        hidden, missing = (caller.post(CASES, T4821(organisation=name)) for name in ("globex", "nowhere"))
        assert hidden.status_code == missing.status_code == 404
        assert hidden.json() == missing.json()
        assert hidden.json()["code"] == "not_found"
    assert Case.objects.count() == 0


def test_without_the_right_a_ticket_is_refused_and_that_is_recorded(acme: Organisation) -> None:
    callers = [machine_of(acme, rights=[Right.SEE_CASES]), browser_of(make_person("viewer", acme, Role.VIEWER))]

    for caller in callers:
        answer = caller.post(CASES, T4821())
        assert (answer.status_code, answer.json()["code"], answer.json()["right"]) == (
            403,
            "not_permitted",
            "open_case",
        )
    assert Case.objects.count() == 0
    assert AuditEvent.objects.filter(kind="access.refused", organisation_id=acme.pk).count() == 2


def test_who_is_not_signed_in_is_told_how(acme: Organisation) -> None:
    nobody = Caller(machine_of(acme).client.__class__())

    answer = nobody.post(CASES, T4821())
    forged = nobody.post(CASES, T4821(), Authorization="Bearer cf_aaaaaaaa_" + "a" * 43)

    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    assert (forged.status_code, forged.json()["code"]) == (401, "invalid_token")
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_persons_request_without_the_csrf_token_opens_nothing(acme: Organisation) -> None:
    person = browser_of(make_person("operator", acme, Role.OPERATOR))
    person.headers.clear()

    answer = person.post(CASES, T4821())

    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")
    assert Case.objects.count() == 0


def test_the_words_of_the_claim_come_out_nowhere(machine: Caller, opened: Any) -> None:
    case = opened()

    pages = [machine.get(CASES), *(machine.get(case["links"][name]) for name in case["links"] if name != "data")]

    assert all(page.status_code == 200 for page in pages)
    assert not any(CLAIM in page.content.decode() or "Деньги" in page.content.decode() for page in pages)
    assert machine.get(case["links"]["self"]).json()["intake"]["claim"] == {"masked": True}


def test_data_for_a_case_that_waits_for_none_is_recorded_and_moves_nothing(machine: Caller, opened: Any) -> None:
    case = opened()

    answer = machine.post(case["links"]["data"], {"data": {"payment_id": "PAY-32"}})

    assert answer.status_code == 201
    assert answer.json() == {
        "revision": 2,
        "moved": False,
        "case": {"id": case["id"], "external_id": "T-4821", "state": "RECEIVED", "version": 1},
    }
    shown = machine.get(case["links"]["self"]).json()
    assert (shown["intake"]["payment_id"], shown["intake_revision"]) == ("PAY-32", 2)
    assert shown["intake"]["claim"] == {"masked": True}


def test_data_without_the_right_is_refused_and_recorded(acme: Organisation, opened: Any) -> None:
    case = opened()
    seeing = machine_of(acme, rights=[Right.SEE_CASES], name="seeing")
    blind = machine_of(acme, rights=[Right.OPEN_CASE], name="blind")

    refused = seeing.post(case["links"]["data"], {"data": {"payment_id": "PAY-32"}})
    hidden = blind.post(case["links"]["data"], {"data": {"payment_id": "PAY-32"}})

    assert (refused.status_code, refused.json()["right"]) == (403, "supply_data")
    assert hidden.status_code == 404
    assert AuditEvent.objects.filter(kind="access.refused").count() == 1
    assert IntakeRevision.objects.count() == 1
