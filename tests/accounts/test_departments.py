"""The right to open documents is granted per department, or for a whole organisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from accounts import access
from accounts.models import Department, Organisation, Person
from accounts.principal import SYSTEM
from accounts.services import create_departments, create_service_account, grant_role, revoke_role
from caseflow.domain.errors import NotFound
from caseflow.domain.roles import Right, Role

pytestmark = pytest.mark.usefixtures("database")
Make = Callable[..., Any]


@pytest.fixture
def sales(acme: Organisation) -> Department:
    return create_departments(organisation=acme, names=[("sales", "Sales")])[0]


@pytest.fixture
def support(acme: Organisation, sales: Department) -> Department:
    return create_departments(organisation=acme, names=[("support", "Support")])[0]


@pytest.fixture
def reader(a_person: Make, acme: Organisation, sales: Department) -> Person:
    person: Person = a_person("reader")
    grant_role(person=person, organisation=acme, role=Role.REPORT_READER, department=sales, by=SYSTEM)
    return person


def test_a_reader_of_one_department_opens_its_documents_and_no_others(
    reader: Person, sales: Department, support: Department
) -> None:
    assert access.has_department_right(reader, sales, Right.OPEN_DOCUMENTS)
    assert not access.has_department_right(reader, support, Right.OPEN_DOCUMENTS)
    assert list(access.visible(Department.objects.all(), reader, Right.OPEN_DOCUMENTS)) == [sales]


def test_a_reader_of_the_organisation_opens_the_documents_of_all_its_departments_and_of_no_other_organisation(
    a_person: Make, an_organisation: Make, acme: Organisation, sales: Department, support: Department
) -> None:
    globex = an_organisation("globex")
    (theirs,) = create_departments(organisation=globex, names=[("sales", "Sales")])
    reader = a_person("reader", acme, Role.REPORT_READER)

    assert set(access.visible(Department.objects.all(), reader, Right.OPEN_DOCUMENTS)) == {sales, support}
    assert not access.has_department_right(reader, theirs, Right.OPEN_DOCUMENTS)


def test_a_right_of_a_department_is_no_other_right_there(reader: Person, sales: Department) -> None:
    for right in set(Right) - {Right.OPEN_DOCUMENTS}:
        assert not access.has_department_right(reader, sales, right)


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.REPORT_READER}))
def test_no_other_role_opens_documents(role: Role, acme: Organisation, sales: Department, a_person: Make) -> None:
    assert not access.has_department_right(a_person("someone", acme, role), sales, Right.OPEN_DOCUMENTS)


def test_a_machine_and_a_dismissed_reader_open_nothing(acme: Organisation, sales: Department, reader: Person) -> None:
    machine = create_service_account(organisation=acme, name="m", owner=reader, rights=[Right.SEE_CASES], by=SYSTEM)
    assert not access.has_department_right(machine, sales, Right.OPEN_DOCUMENTS)

    Person.objects.filter(pk=reader.pk).update(is_active=False)
    assert not access.has_department_right(reader, sales, Right.OPEN_DOCUMENTS)


def test_a_revoked_reader_finds_nothing_by_an_old_name(acme: Organisation, sales: Department, reader: Person) -> None:
    rows = Department.objects.annotate(public_id=F("slug"))
    assert access.get_visible(rows, "sales", reader, Right.OPEN_DOCUMENTS) == sales

    revoke_role(person=reader, organisation=acme, role=Role.REPORT_READER, department=sales, by=SYSTEM)

    with pytest.raises(NotFound):
        access.get_visible(rows, "sales", reader, Right.OPEN_DOCUMENTS)


def test_the_departments_in_reach_cost_the_one_query_of_the_list(reader: Person, sales: Department) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert len(list(access.visible(Department.objects.all(), reader, Right.OPEN_DOCUMENTS))) == 1
    assert len(queries) == 1


def test_the_rights_held_anywhere_are_told_in_one_query(acme: Organisation, a_person: Make, reader: Person) -> None:
    admin = a_person("admin", acme, Role.ORG_ADMIN)
    with CaptureQueriesContext(connection) as queries:
        assert access.rights_anywhere(admin) >= {"see_cases", "administer_organisation"}
        assert access.rights_anywhere(reader) == {"open_documents"}
    assert len(queries) == 2
