"""An administrator looks at people and roles, grants with a confirmation, revokes with a reason; nobody else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accounts import access
from accounts.models import Person
from accounts.principal import SYSTEM
from accounts.services import create_departments, create_organisation, grant_role
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.roles import Right, Role
from tests.console.conftest import Desk
from tests.driving import Engine, fingerprint

Desks = Callable[..., Desk]
PEOPLE = "/console/admin/people/"
ACME = f"{PEOPLE}acme/"


@pytest.fixture
def admin(engine: Engine, desk: Desks) -> Desk:
    grant_role(person=engine.person("admin"), organisation=engine.organisation, role=Role.ORG_ADMIN, by=SYSTEM)
    return desk("admin")


def said(**changes: str) -> dict[str, str]:
    return {"username": "newcomer", "role": "approver", "department": "", "reason": "stands in"} | changes


def told(kind: str) -> dict[str, Any]:
    facts: dict[str, Any] = facts_of(AuditEvent.objects.filter(kind=kind).latest("id").body)["facts"]
    return facts


def test_the_page_shows_everybody_with_their_roles_and_nobody_of_other_organisations(
    engine: Engine, admin: Desk
) -> None:
    (sales,) = create_departments(organisation=engine.organisation, names=[("sales", "Sales")])
    reader = engine.person("reader")
    grant_role(person=reader, organisation=engine.organisation, role=Role.REPORT_READER, department=sales, by=SYSTEM)
    other = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("stranger"), organisation=other, role=Role.APPROVER, by=SYSTEM)
    engine.person("approver")

    page = admin.get(PEOPLE[:-1] + "/", 302)
    assert page.response.headers["Location"] == ACME
    page = admin.get(ACME)

    assert "Reader reader Report reader (Sales)" in page.text
    assert "Approver approver Approver" in page.text
    assert "Stranger" not in page.text
    assert page.inline == []


def test_a_grant_is_asked_for_confirmed_and_then_counts(engine: Engine, admin: Desk) -> None:
    newcomer = engine.person("newcomer")

    asked = admin.post(f"{ACME}grant/", said())
    assert "Grant the role “Approver” to Newcomer?" in asked.text
    assert "Decides on proposals" in asked.text
    assert not access.has_right(newcomer, engine.organisation, Right.DECIDE)

    done = admin.post(f"{ACME}grant/", said(confirmed="yes"))
    assert "Newcomer now has the role “Approver”." in done.text
    assert access.has_right(newcomer, engine.organisation, Right.DECIDE)
    assert told("role.granted") == {"person": newcomer.pk, "role": "approver", "reason": "stands in"}


def test_a_revoked_role_is_gone_at_the_next_request_also_behind_an_old_link(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    grant_role(person=engine.person("admin"), organisation=engine.organisation, role=Role.ORG_ADMIN, by=SYSTEM)
    viewer, admin = desk("viewer"), desk("admin")
    old_links = [f"/console/cases/{story.case.public_id}/", f"/console/approvals/{story.proposal.public_id}/"]
    for link in old_links:
        viewer.get(link)

    address = f"{ACME}{engine.person('viewer').pk}/revoke/viewer/"
    asked = admin.get(address)
    assert "Revoke the role “Viewer” from Viewer?" in asked.text
    assert access.has_right(engine.person("viewer"), engine.organisation, Right.SEE_CASES)
    admin.post(address, {"reason": "left the team"})

    for link in old_links:
        viewer.get(link, 404)
    assert story.case.public_id not in viewer.get("/console/cases/").html
    assert told("role.revoked")["reason"] == "left the team"
    admin.get(address, 404)  # the role is not held any more


def test_a_report_reader_is_granted_and_revoked_for_one_department(engine: Engine, admin: Desk) -> None:
    (sales,) = create_departments(organisation=engine.organisation, names=[("sales", "Sales")])
    newcomer = engine.person("newcomer")

    admin.post(f"{ACME}grant/", said(role="report_reader", department="sales", confirmed="yes"))
    assert access.has_department_right(newcomer, sales, Right.OPEN_DOCUMENTS)

    admin.get(f"{ACME}{newcomer.pk}/revoke/report_reader/", 404)
    admin.post(f"{ACME}{newcomer.pk}/revoke/report_reader/?department=sales", {"reason": "no more reports"})
    assert not access.has_department_right(newcomer, sales, Right.OPEN_DOCUMENTS)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"username": "nobody"}, "Nobody here and nobody without a role has this sign-in name."),
        ({"username": "stranger"}, "Nobody here and nobody without a role has this sign-in name."),
        ({"username": "a\x00b"}, "Null characters are not allowed."),
        ({"role": "owner"}, "Select a valid choice."),
        ({"department": "sales"}, "Select a valid choice."),
        ({"reason": " "}, "This field is required."),
        ({"reason": "x" * 501}, "at most 500 characters"),
    ],
)
def test_a_form_that_is_not_whole_says_what_is_wrong_and_grants_nothing(
    changes: dict[str, str], sentence: str, engine: Engine, admin: Desk
) -> None:
    other = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("stranger"), organisation=other, role=Role.VIEWER, by=SYSTEM)
    engine.person("newcomer")
    admin.get(ACME)
    before = fingerprint()

    page = admin.post(f"{ACME}grant/", said(confirmed="yes", **changes), status=400)

    assert sentence in page.text
    assert fingerprint() == before


def test_a_department_belongs_to_report_readers_only(engine: Engine, admin: Desk) -> None:
    create_departments(organisation=engine.organisation, names=[("sales", "Sales")])
    engine.person("newcomer")
    page = admin.post(f"{ACME}grant/", said(department="sales"), status=400)
    assert "Only report readers belong to a department." in page.text


def test_nobody_grants_to_themselves_and_the_last_administrator_stays(engine: Engine, admin: Desk) -> None:
    me = engine.person("admin")

    page = admin.post(f"{ACME}grant/", said(username="admin", confirmed="yes"), status=403)
    assert "Nobody grants a role to themselves." in page.text
    page = admin.post(f"{ACME}{me.pk}/revoke/org_admin/", {"reason": "bye"}, status=409)
    assert "The last administrator stays" in page.text

    assert access.rights_in(me, engine.organisation.pk) == {Right.SEE_CASES, Right.ADMINISTER}
    assert told("role.grant_refused")["code"] == "own_grant"
    assert told("role.revoke_refused")["code"] == "last_administrator"


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.ORG_ADMIN, Role.REPORT_READER}))
def test_every_other_role_is_refused_and_a_try_to_change_something_is_recorded(
    role: Role, engine: Engine, desk: Desks
) -> None:
    someone = engine.person("someone")
    grant_role(person=someone, organisation=engine.organisation, role=role, by=SYSTEM)
    at_desk = desk("someone")
    assert "People and roles" not in at_desk.get("/console/").text
    for path in (PEOPLE, ACME, f"{ACME}grant/", f"{ACME}{someone.pk}/revoke/{role}/"):
        at_desk.get(path, 403)
    for path in (f"{ACME}grant/", f"{ACME}{someone.pk}/revoke/{role}/"):
        at_desk.post(path, said(username="someone", confirmed="yes"), status=403)

    assert told("access.refused") == {"right": "administer_organisation", "by": "console"}
    assert AuditEvent.objects.filter(kind="access.refused").count() == 2


@pytest.mark.parametrize("who", ["stranger", "reader", "nobody"])
def test_an_organisation_out_of_sight_is_like_none(who: str, engine: Engine, desk: Desks) -> None:
    other = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("stranger"), organisation=other, role=Role.ORG_ADMIN, by=SYSTEM)
    (sales,) = create_departments(organisation=engine.organisation, names=[("sales", "Sales")])
    grant_role(
        person=engine.person("reader"),
        organisation=engine.organisation,
        role=Role.REPORT_READER,
        department=sales,
        by=SYSTEM,
    )
    victim = engine.person("viewer")
    at_desk = desk(who)
    at_desk.get("/console/")
    before = fingerprint()
    for path in ("", "grant/", f"{victim.pk}/revoke/viewer/"):
        at_desk.get(f"{ACME}{path}", 404)
        at_desk.get(f"{PEOPLE}nowhere/{path}", 404)
    for path in ("grant/", f"{victim.pk}/revoke/viewer/"):
        at_desk.post(f"{ACME}{path}", said(confirmed="yes"), status=404)
    assert fingerprint() == before


def test_a_person_of_another_organisation_is_not_found_by_number(engine: Engine, admin: Desk) -> None:
    other = create_organisation(slug="globex", name="Globex")
    stranger = engine.person("stranger")
    grant_role(person=stranger, organisation=other, role=Role.VIEWER, by=SYSTEM)

    for number in (stranger.pk, 0, 10**25):
        admin.get(f"{ACME}{number}/revoke/viewer/", 404)
        assert "stranger" not in admin.get(f"{ACME}grant/?person={number}").html


def test_the_pages_speak_russian(engine: Engine, admin: Desk, desk: Desks) -> None:
    engine.person("newcomer")
    russian = desk("admin", "ru")
    assert "Люди и роли" in russian.get(ACME).text
    assert "Выдать роль «Согласующий» (Newcomer)?" in russian.post(f"{ACME}grant/", said()).text
    person = Person.objects.get(username="admin")
    assert "Отозвать роль «Администратор» (Admin)?" in russian.get(f"{ACME}{person.pk}/revoke/org_admin/").text
