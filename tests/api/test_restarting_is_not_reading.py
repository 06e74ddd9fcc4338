"""The right to restart a task is not the right to read what it made (requirement F3)."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.principal import SYSTEM
from accounts.services import create_departments, grant_role, revoke_role
from caseflow.domain.roles import Role
from cases.models import Case
from tests.api.conftest import Caller, browser_of
from tests.driving import CLAIM, Engine, Story

CASE_PARTS = ("", "timeline/", "facts/", "proposals/", "actions/")


@pytest.fixture(autouse=True)
def with_documents(settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.api.standing_in"


@pytest.fixture
def story(engine: Engine) -> Story:
    """A case of a department that a person has to look at."""
    create_departments(organisation=engine.organisation, names=[("sales", "Sales"), ("support", "Support")])
    story = engine.proposed()
    story.decide("reject", next="by_hand")
    (sales, _) = engine.organisation.departments.order_by("slug")
    Case.objects.filter(pk=story.id).update(department=sales)
    return story


def somebody(engine: Engine, name: str, role: Role, department: str = "") -> Caller:
    place = engine.organisation.departments.get(slug=department) if department else None
    person = engine.person(name)
    grant_role(person=person, organisation=engine.organisation, role=role, department=place, by=SYSTEM)
    return browser_of(person)


def document(caller: Caller, name: str) -> tuple[int, Any, dict[str, str]]:
    """Status, body and headers, but for what differs in every answer."""
    answer = caller.get(f"/api/v1/documents/{name}/download/")
    headers = {key: value for key, value in answer.headers.items() if key not in ("X-Request-Id", "Set-Cookie")}
    return answer.status_code, answer.json(), headers


def test_a_recoverer_restarts_a_case_and_reads_masked_text_and_no_document(engine: Engine, story: Story) -> None:
    recoverer = somebody(engine, "recoverer", Role.RECOVERER)
    story.order("observe_again", person="recoverer")
    story.run()
    assert story.state == "WAITING_APPROVAL"

    for part in CASE_PARTS:
        answer = recoverer.get(f"/api/v1/cases/{story.case.public_id}/{part}")
        assert answer.status_code == 200
        assert CLAIM not in answer.content.decode()
        assert story.email not in answer.content.decode()
    assert recoverer.get(f"/api/v1/cases/{story.case.public_id}/").json()["intake"]["claim"] == {"masked": True}
    status, body, headers = document(recoverer, story.case.public_id)
    assert (status, body["code"]) == (404, "not_found")
    assert (status, body, headers) == document(recoverer, "D-0000000000")


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.REPORT_READER}))
def test_no_role_but_a_reader_of_that_department_opens_it(role: Role, engine: Engine, story: Story) -> None:
    name = story.case.public_id
    someone = somebody(engine, "someone", role)
    assert document(someone, name) == document(someone, "D-0000000000")
    assert document(someone, name)[0] == 404
    elsewhere = somebody(engine, "elsewhere", Role.REPORT_READER, "support")
    assert document(elsewhere, name)[0] == 404


def test_a_reader_of_the_department_opens_it_and_after_a_revocation_no_more(engine: Engine, story: Story) -> None:
    name = story.case.public_id
    reader = somebody(engine, "reader", Role.REPORT_READER, "sales")
    assert document(reader, name)[:2] == (200, {"document": name})
    # The document is all that a reader reads: not the case it came from.
    assert reader.get(f"/api/v1/cases/{name}/").status_code == 404

    sales = engine.organisation.departments.get(slug="sales")
    revoke_role(
        person=engine.person("reader"),
        organisation=engine.organisation,
        role=Role.REPORT_READER,
        department=sales,
        by=SYSTEM,
    )
    assert document(reader, name)[0] == 404


def test_a_reader_of_the_whole_organisation_opens_it_and_one_of_another_does_not(engine: Engine, story: Story) -> None:
    name = story.case.public_id
    assert document(somebody(engine, "reader", Role.REPORT_READER), name)[0] == 200
    assert document(browser_of(engine.person("stranger")), name)[0] == 404
