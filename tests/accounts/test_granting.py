"""An administrator grants and revokes with a reason, on record, behind the gate; and never to themselves."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from accounts import access, gate, granting
from accounts.models import Organisation, Person
from accounts.principal import SYSTEM
from accounts.services import create_departments, grant_role
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.errors import BadInput, LastAdministrator, NotFound, NotPermitted, OwnGrant
from caseflow.domain.roles import Right, Role
from tests.factories import make_organisation, make_person
from tests.steps import together

pytestmark = pytest.mark.usefixtures("database")
Make = Callable[..., Any]


@pytest.fixture
def admin(acme: Organisation, a_person: Make) -> Person:
    person: Person = a_person("admin", acme, Role.ORG_ADMIN)
    return person


def told(organisation: Organisation, kind: str) -> dict[str, Any]:
    body: dict[str, Any] = facts_of(
        AuditEvent.objects.filter(organisation_id=organisation.pk, kind=kind).latest("id").body
    )
    return body


def test_an_administrator_grants_a_role_and_the_record_says_who_whom_what_and_why(
    acme: Organisation, admin: Person, a_person: Make
) -> None:
    newcomer = a_person("newcomer")

    assert granting.grant(
        admin=admin, person=newcomer, organisation=acme, role=Role.APPROVER, reason=" stands in for a colleague "
    )

    assert access.has_right(newcomer, acme, Right.DECIDE)
    event = told(acme, "role.granted")
    assert event["actor"] == {"kind": "person", "id": admin.pk, "name": "Admin"}
    assert event["facts"] == {"person": newcomer.pk, "role": "approver", "reason": "stands in for a colleague"}


def test_a_role_granted_twice_is_granted_and_recorded_once(acme: Organisation, admin: Person, a_person: Make) -> None:
    asked = {"admin": admin, "person": a_person("viewer"), "organisation": acme, "role": Role.VIEWER, "reason": "new"}

    assert granting.grant(**asked)
    assert not granting.grant(**asked)

    assert AuditEvent.objects.filter(kind="role.granted", organisation_id=acme.pk).count() == 2  # the admin's own


def test_a_revoked_role_is_gone_and_on_record(acme: Organisation, admin: Person, a_person: Make) -> None:
    approver = a_person("approver", acme, Role.APPROVER)

    assert granting.revoke(admin=admin, person=approver, organisation=acme, role=Role.APPROVER, reason="left the team")

    assert access.rights_in(approver, acme.pk) == frozenset()
    assert told(acme, "role.revoked")["facts"]["reason"] == "left the team"


def test_nobody_grants_a_role_to_themselves(acme: Organisation, admin: Person) -> None:
    with pytest.raises(OwnGrant):
        granting.grant(admin=admin, person=admin, organisation=acme, role=Role.APPROVER, reason="quick")

    assert not access.has_right(admin, acme, Right.DECIDE)
    assert told(acme, "role.grant_refused")["facts"]["code"] == "own_grant"


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.ORG_ADMIN}))
def test_who_is_no_administrator_grants_and_revokes_nothing(
    role: Role, acme: Organisation, admin: Person, a_person: Make
) -> None:
    someone, viewer = a_person("someone", acme, role), a_person("viewer", acme, Role.VIEWER)

    for order in (granting.grant, granting.revoke):
        with pytest.raises(NotPermitted):
            order(admin=someone, person=viewer, organisation=acme, role=Role.VIEWER, reason="x")

    assert access.rights_in(viewer, acme.pk) == {Right.SEE_CASES}
    assert told(acme, "role.revoke_refused")["facts"]["code"] == "not_permitted"


def test_an_administrator_of_another_organisation_and_a_superuser_grant_nothing(
    acme: Organisation, an_organisation: Make, a_person: Make
) -> None:
    stranger = a_person("stranger", an_organisation("globex"), Role.ORG_ADMIN)
    root = Person.objects.create_superuser(username="root")

    for person in (stranger, root):
        with pytest.raises(NotPermitted):
            granting.grant(
                admin=person, person=a_person(f"of-{person}"), organisation=acme, role=Role.VIEWER, reason="x"
            )


def test_the_last_administrator_stays_until_there_is_another(acme: Organisation, admin: Person, a_person: Make) -> None:
    asked = {"admin": admin, "person": admin, "organisation": acme, "role": Role.ORG_ADMIN, "reason": "leaving"}
    dismissed = a_person("dismissed", acme, Role.ORG_ADMIN)
    Person.objects.filter(pk=dismissed.pk).update(is_active=False)

    with pytest.raises(LastAdministrator):
        granting.revoke(**asked)
    assert told(acme, "role.revoke_refused")["facts"]["code"] == "last_administrator"

    a_person("other", acme, Role.ORG_ADMIN)
    assert granting.revoke(**asked)


@pytest.mark.parametrize(
    ("reason", "code"), [("", "empty"), (" \n", "empty"), (None, "empty"), ("x" * 501, "too_long"), ("a\x00", "nul")]
)
def test_a_reason_is_needed(reason: Any, code: str, acme: Organisation, admin: Person, a_person: Make) -> None:
    person = a_person("someone")
    with pytest.raises(BadInput) as refusal:
        granting.grant(admin=admin, person=person, organisation=acme, role=Role.VIEWER, reason=reason)

    assert (refusal.value.code, refusal.value.params["path"]) == (code, "$.reason")
    assert access.rights_in(person, acme.pk) == frozenset()


def test_only_report_readers_have_a_department_and_only_one_of_the_organisation(
    acme: Organisation, an_organisation: Make, admin: Person, a_person: Make
) -> None:
    (sales,) = create_departments(organisation=acme, names=[("sales", "Sales")])
    (theirs,) = create_departments(organisation=an_organisation("globex"), names=[("sales", "Sales")])
    reader = a_person("reader")
    asked = {"admin": admin, "person": reader, "organisation": acme, "reason": "monthly report"}

    assert granting.grant(**asked, role=Role.REPORT_READER, department=sales)
    for role, department in ((Role.APPROVER, sales), (Role.REPORT_READER, theirs)):
        with pytest.raises(NotFound):
            granting.grant(**asked, role=role, department=department)

    assert told(acme, "role.granted")["facts"]["department"] == "sales"
    held = granting.roles_of(acme, [reader])[reader.pk]
    assert [(one.role, one.department) for one in held] == [(Role.REPORT_READER, sales)]


def test_an_administrator_reaches_their_own_people_and_newcomers_and_nobody_of_others(
    acme: Organisation, an_organisation: Make, a_person: Make
) -> None:
    globex = an_organisation("globex")
    viewer, newcomer = a_person("viewer", acme, Role.VIEWER), a_person("newcomer")
    both = a_person("both", globex, Role.VIEWER)
    grant_role(person=both, organisation=acme, role=Role.VIEWER, by=SYSTEM)
    a_person("theirs", globex, Role.VIEWER)
    Person.objects.create_user(username="gone", is_active=False)

    assert [granting.find_person(acme, one.username) for one in (viewer, newcomer, both)] == [viewer, newcomer, both]
    for name in ("theirs", "gone", "nobody", "NEWCOMER", "a\x00b", ""):
        with pytest.raises(NotFound):
            granting.find_person(acme, name)
    assert list(granting.list_people(acme)) == [both, viewer]


def test_the_command_grants_with_an_administrators_rights_and_records_the_account_of_the_machine(
    acme: Organisation, admin: Person, an_organisation: Make, a_person: Make
) -> None:
    theirs = a_person("theirs", an_organisation("globex"), Role.VIEWER)
    said = ("theirs", "--organisation", "acme", "--role", "viewer", "--as", "admin", "--reason", "works for both")

    call_command("grant_role", *said, stdout=io.StringIO())
    assert access.has_right(theirs, acme, Right.SEE_CASES)
    assert told(acme, "role.granted")["facts"]["os_account"]

    call_command("grant_role", *said, "--revoke", stdout=io.StringIO())
    assert not access.has_right(theirs, acme, Right.SEE_CASES)


@pytest.mark.parametrize(("person", "returncode"), [("viewer", 1), ("nobody", 2), ("stranger", 1)])
def test_the_command_refuses_who_is_no_administrator_there(
    person: str, returncode: int, acme: Organisation, admin: Person, an_organisation: Make, a_person: Make
) -> None:
    a_person("viewer", acme, Role.VIEWER)
    a_person("stranger", an_organisation("globex"), Role.ORG_ADMIN)
    said = ("viewer", "--organisation", "acme", "--role", "approver", "--as", person, "--reason", "x")

    with pytest.raises(CommandError) as refusal:
        call_command("grant_role", *said, stdout=io.StringIO())

    assert refusal.value.returncode == returncode


def test_a_grant_waits_for_the_calls_that_are_beginning(committing_database: None) -> None:
    acme = make_organisation("acme")
    admin, viewer = make_person("admin", acme, Role.ORG_ADMIN), make_person("viewer", acme, Role.VIEWER)

    with transaction.atomic():
        gate.hold_shared()  # as `begin_call` does

        def with_little_patience() -> None:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '200ms'")
                granting.grant(admin=admin, person=viewer, organisation=acme, role=Role.APPROVER, reason="x")

        (waited,) = together(with_little_patience)
    assert "lock timeout" in str(waited)
    assert not access.has_right(viewer, acme, Right.DECIDE)


def test_two_administrators_who_revoke_each_other_at_once_leave_one(committing_database: None) -> None:
    acme = make_organisation("acme")
    first, second = make_person("first", acme, Role.ORG_ADMIN), make_person("second", acme, Role.ORG_ADMIN)

    def revoke(admin: Person, person: Person) -> Any:
        return lambda: granting.revoke(
            admin=admin, person=person, organisation=acme, role=Role.ORG_ADMIN, reason="conflict"
        )

    results = together(revoke(first, second), revoke(second, first))

    assert sorted(type(result).__name__ for result in results) == ["NotPermitted", "bool"]
    assert access.persons_with_right(acme.pk, Right.ADMINISTER).count() == 1
