"""Granting and taking roles, and what the database itself refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from accounts.gate import hold_exclusive, hold_shared
from accounts.models import Organisation, Person, RoleGroup, ServiceAccount
from accounts.principal import SYSTEM, actor_of, actor_of_person
from accounts.services import create_departments, create_service_account, grant_role
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.errors import BadInput
from caseflow.domain.roles import Right, Role

pytestmark = pytest.mark.usefixtures("database")
Make = Callable[..., Any]


def test_a_grant_is_recorded_once_with_who_gave_it(acme: Organisation, a_person: Make) -> None:
    admin, person = a_person("admin", acme, Role.ORG_ADMIN), a_person("new")

    assert grant_role(person=person, organisation=acme, role=Role.APPROVER, by=actor_of_person(admin))
    assert not grant_role(person=person, organisation=acme, role=Role.APPROVER, by=actor_of_person(admin))

    (event,) = AuditEvent.objects.filter(kind="role.granted", actor_id=admin.pk)
    assert facts_of(event.body)["facts"] == {"person": person.pk, "role": "approver"}


def test_changing_roles_holds_the_gate_before_it_reads_anything(acme: Organisation, a_person: Make) -> None:
    person = a_person("new")

    with CaptureQueriesContext(connection) as queries:
        grant_role(person=person, organisation=acme, role=Role.APPROVER, by=SYSTEM)

    statements = [query["sql"] for query in queries if not query["sql"].startswith(("BEGIN", "SAVEPOINT"))]
    assert statements[0] == "SELECT pg_advisory_xact_lock(%s)"


def test_the_gate_is_held_by_a_transaction_or_not_at_all(committing_database: None) -> None:
    for hold in (hold_shared, hold_exclusive):
        with pytest.raises(TransactionManagementError):
            hold()
        with transaction.atomic():
            hold()


def test_a_new_organisation_costs_the_same_few_statements_whatever_the_number_of_roles(an_organisation: Make) -> None:
    with CaptureQueriesContext(connection) as queries:
        made = an_organisation()

    assert RoleGroup.objects.filter(organisation=made).count() == len(Role)
    assert len([query for query in queries if query["sql"].startswith(("INSERT", "SELECT"))]) == 5


def test_a_machine_is_never_given_a_right_of_people(acme: Organisation, a_person: Make) -> None:
    owner = a_person("owner")

    with pytest.raises(BadInput) as refusal:
        create_service_account(
            organisation=acme, name="robot", owner=owner, rights=[Right.OPEN_CASE, Right.DECIDE], by=SYSTEM
        )
    assert refusal.value.code == "right_not_for_services"
    with pytest.raises(IntegrityError), transaction.atomic():
        ServiceAccount.objects.create(organisation=acme, name="robot", owner=owner, rights=["decide_proposal"])
    assert not ServiceAccount.objects.exists()


def test_a_machine_acts_in_the_name_of_its_owner(acme: Organisation, a_person: Make) -> None:
    owner = a_person("owner")
    intake = create_service_account(organisation=acme, name="intake", owner=owner, rights=[Right.OPEN_CASE], by=SYSTEM)

    actor = actor_of(intake)

    assert (actor.kind, actor.id, actor.name, actor.person_id) == ("service", intake.pk, "intake", owner.pk)


def test_two_people_never_differ_by_capitals_alone(a_person: Make) -> None:
    a_person("approver")

    with pytest.raises(IntegrityError), transaction.atomic():
        Person.objects.create_user(username="Approver")


def test_a_department_has_report_readers_and_no_other_role(acme: Organisation) -> None:
    (sales,) = create_departments(organisation=acme, names=[("sales", "Sales")])
    group = RoleGroup.objects.get(department=sales).group

    with pytest.raises(IntegrityError), transaction.atomic():
        RoleGroup.objects.filter(group=group).update(role=Role.APPROVER.value)
