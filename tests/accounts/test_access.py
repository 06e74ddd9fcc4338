"""Who sees what, and who may do what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from accounts import access
from accounts.models import Department, Organisation, OrganisationPersonRight, Person
from accounts.principal import SYSTEM
from accounts.services import create_departments, create_service_account, grant_role, revoke_role
from caseflow.domain.errors import NotFound, NotPermitted
from caseflow.domain.roles import RIGHTS_OF_ROLE, Right, Role

pytestmark = pytest.mark.usefixtures("database")
Make = Callable[..., Any]


@pytest.mark.parametrize("role", list(Role))
def test_a_role_gives_exactly_the_rights_of_the_table(role: Role, acme: Organisation, a_person: Make) -> None:
    person = a_person("someone", acme, role)

    assert access.rights_in(person, acme.pk) == RIGHTS_OF_ROLE[role]
    assert {right for right in Right if access.has_right(person, acme, right)} == RIGHTS_OF_ROLE[role]


def test_a_role_in_one_organisation_shows_nothing_of_another(
    an_organisation: Make, acme: Organisation, a_person: Make
) -> None:
    globex = an_organisation("globex")
    for organisation in (acme, globex):
        create_departments(organisation=organisation, names=[("sales", "Sales")])
    operator = a_person("operator", acme, Role.OPERATOR)

    seen = access.visible(Department.objects.all(), operator, Right.SEE_CASES)

    assert [department.organisation for department in seen] == [acme]
    assert list(access.organisations_with(operator, Right.SEE_CASES)) == [acme]
    assert access.rights_in(operator, globex.pk) == frozenset()


def test_what_is_visible_is_found_in_the_one_query_of_the_list(acme: Organisation, a_person: Make) -> None:
    create_departments(organisation=acme, names=[("sales", "Sales"), ("support", "Support")])
    viewer = a_person("viewer", acme, Role.VIEWER)

    with CaptureQueriesContext(connection) as queries:
        departments = list(access.visible(Department.objects.all(), viewer, Right.SEE_CASES))

    assert len(departments) == 2
    assert len(queries) == 1


def test_a_superuser_without_a_role_sees_nothing(acme: Organisation) -> None:
    root = Person.objects.create_superuser(username="root")

    assert not access.organisations_with(root, Right.SEE_CASES).exists()
    with pytest.raises(NotPermitted) as refusal:
        access.require(root, acme, Right.DECIDE)
    assert refusal.value.params == {"right": "decide_proposal"}


def test_a_django_permission_is_no_right(acme: Organisation, a_person: Make) -> None:
    person = a_person("someone")
    person.user_permissions.add(Permission.objects.get(codename="see_cases", content_type__app_label="accounts"))

    assert not access.has_right(person, acme, Right.SEE_CASES)


def test_a_dismissed_person_loses_every_right_at_once_even_where_an_older_object_is_at_hand(
    acme: Organisation, a_person: Make
) -> None:
    approver = a_person("approver", acme, Role.APPROVER)
    Person.objects.filter(pk=approver.pk).update(is_active=False)

    assert approver.is_active
    assert not access.has_right(approver, acme, Right.DECIDE)
    assert access.rights_in(approver, acme.pk) == frozenset()
    assert not access.persons_with_right(acme.pk, Right.DECIDE).exists()


def test_those_who_may_decide_are_found_by_role_and_by_a_single_right(acme: Organisation, a_person: Make) -> None:
    by_role = a_person("approver", acme, Role.APPROVER)
    directly = a_person("stand-in")
    permission = Permission.objects.get(codename=Right.DECIDE.value, content_type__model="organisation")
    OrganisationPersonRight.objects.create(user=directly, permission=permission, content_object=acme)
    a_person("operator", acme, Role.OPERATOR)

    deciders = access.persons_with_right(acme.pk, Right.DECIDE)

    assert set(deciders) == {by_role, directly}
    assert deciders.filter(pk__in=[by_role.pk]).count() == 1


def test_a_revoked_role_is_gone_with_its_rights(acme: Organisation, a_person: Make) -> None:
    person = a_person("approver", acme, Role.APPROVER)

    assert revoke_role(person=person, organisation=acme, role=Role.APPROVER, by=SYSTEM)
    assert not revoke_role(person=person, organisation=acme, role=Role.APPROVER, by=SYSTEM)
    assert access.rights_in(person, acme.pk) == frozenset()


def test_a_machine_sees_its_own_organisation_and_only_by_its_own_rights(
    an_organisation: Make, acme: Organisation, a_person: Make
) -> None:
    globex = an_organisation("globex")
    owner = a_person("owner", acme, Role.ORG_ADMIN)
    intake = create_service_account(organisation=acme, name="intake", owner=owner, rights=[Right.OPEN_CASE], by=SYSTEM)

    assert access.rights_in(intake, acme.pk) == {Right.OPEN_CASE}
    assert access.rights_in(intake, globex.pk) == frozenset()
    assert list(access.organisations_with(intake, Right.OPEN_CASE)) == [acme]
    assert not access.has_right(intake, acme, Right.SEE_CASES)


def test_a_machine_switched_off_has_no_right(acme: Organisation, a_person: Make) -> None:
    intake = create_service_account(
        organisation=acme, name="intake", owner=a_person("owner"), rights=[Right.OPEN_CASE], by=SYSTEM
    )
    type(intake).objects.update(is_active=False)

    assert not access.has_right(intake, acme, Right.OPEN_CASE)
    assert access.rights_in(intake, acme.pk) == frozenset()


def test_a_report_reader_of_a_department_gets_nothing_on_the_organisation(acme: Organisation, a_person: Make) -> None:
    (sales,) = create_departments(organisation=acme, names=[("sales", "Sales")])
    reader = a_person("reader")
    grant_role(person=reader, organisation=acme, role=Role.REPORT_READER, department=sales, by=SYSTEM)

    assert access.rights_in(reader, acme.pk) == frozenset()


def test_out_of_sight_and_does_not_exist_are_the_same_answer(
    acme: Organisation, an_organisation: Make, a_person: Make
) -> None:
    globex = an_organisation("globex")
    create_departments(organisation=acme, names=[("sales", "Sales")])
    create_departments(organisation=globex, names=[("support", "Support")])
    viewer = a_person("viewer", acme, Role.VIEWER)
    rows = Department.objects.annotate(public_id=F("slug"))

    assert access.get_visible(rows, "sales", viewer, Right.SEE_CASES).organisation == acme
    answers = set()
    # PostgreSQL cannot even be asked for the last two.
    for name in ("support", "nothing", "", "Ж", "C-\x00", "C-\ud800"):
        with pytest.raises(NotFound) as refusal:
            access.get_visible(rows, name, viewer, Right.SEE_CASES)
        answers.add((str(refusal.value), refusal.value.code, *refusal.value.params))
    assert len(answers) == 1
