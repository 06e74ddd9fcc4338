"""People and roles over the API: an administrator of the organisation, and nobody else, and nobody of elsewhere."""

from __future__ import annotations

import pytest

from accounts.models import Organisation
from audit.models import AuditEvent
from caseflow.domain.roles import Role
from tests.factories import make_organisation, make_person

from .conftest import Caller, browser_of, machine_of

PEOPLE = "/api/v1/people/acme/"
BODY = {"username": "newcomer", "role": "approver", "reason": "On call in March"}


@pytest.fixture
def admin(acme: Organisation) -> Caller:
    return browser_of(make_person("admin", acme, "org_admin"))


def test_a_role_is_granted_shown_and_revoked(admin: Caller) -> None:
    make_person("newcomer")
    answer = admin.post(PEOPLE, BODY)
    assert answer.status_code == 201, answer.content
    assert answer.json()["roles"] == [{"role": "approver", "department": None}]
    assert admin.post(PEOPLE, BODY).status_code == 200
    page = admin.get(PEOPLE, limit=1).json()
    assert [one["username"] for one in page["results"]] == ["admin"]
    rest = admin.client.get(page["next"]).json()
    assert (rest["results"], rest["next"]) == ([answer.json()], None)
    gone = admin.post(f"{PEOPLE}revocation/", BODY)
    assert (gone.status_code, gone.json()["roles"]) == (200, [])
    assert list(AuditEvent.objects.filter(kind__startswith="role.").values_list("kind", flat=True))[-2:] == [
        "role.granted",
        "role.revoked",
    ]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (BODY | {"username": "stranger"}, 400, "unknown_person"),
        (BODY | {"username": "nobody-at-all"}, 400, "unknown_person"),
        (BODY | {"role": "king"}, 400, "unknown_role"),
        (BODY | {"department": "sales"}, 400, "not_used"),
        (BODY | {"role": "report_reader", "department": "sales"}, 400, "unknown_department"),
        (BODY | {"reason": " "}, 400, "empty"),
        (BODY | {"username": "admin"}, 403, "own_grant"),
    ],
)
def test_what_an_administrator_may_not_grant(admin: Caller, body: dict[str, str], status: int, code: str) -> None:
    make_person("newcomer"), make_person("stranger", make_organisation("globex"), "viewer")
    answer = admin.post(PEOPLE, body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_the_last_administrator_stays(admin: Caller) -> None:
    answer = admin.post(f"{PEOPLE}revocation/", BODY | {"username": "admin", "role": "org_admin"})
    assert (answer.status_code, answer.json()["code"]) == (409, "last_administrator")


def test_only_an_administrator_sees_and_changes_them(acme: Organisation) -> None:
    others = [role.value for role in Role if role is not Role.ORG_ADMIN]
    everybody_else = browser_of(make_person("everybody-else", acme, *others))
    outside = browser_of(make_person("outside", make_organisation("globex"), "org_admin"))
    for caller, status in ((everybody_else, 403), (machine_of(acme), 403), (outside, 404)):
        asked = [caller.get(PEOPLE), caller.post(PEOPLE, BODY), caller.post(f"{PEOPLE}revocation/", BODY)]
        assert [one.status_code for one in asked] == [status] * 3
    assert AuditEvent.objects.filter(kind="access.refused").count() == 6
    nothing = outside.get("/api/v1/people/nothing-org/").json()
    assert outside.get(PEOPLE).json() == nothing
