"""Django admin: people, organisations, departments and groups, each change on record, no way to a business right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.test import Client

from accounts import access
from accounts.models import Department, Organisation, Person, RoleGroup
from accounts.services import create_departments
from audit.models import AuditEvent
from audit.services import PLATFORM, facts_of
from caseflow.domain.roles import Right, Role

pytestmark = pytest.mark.usefixtures("database")
Make = Callable[..., Any]
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def root() -> Person:
    return Person.objects.create_superuser(username="root", password="a-long-password-of-root", language="en")


@pytest.fixture
def at_admin(root: Person) -> Client:
    client = Client()
    client.force_login(root, backend=BACKEND)
    return client


def told(kind: str, organisation_id: int) -> dict[str, Any]:
    event = AuditEvent.objects.filter(kind=kind, organisation_id=organisation_id).latest("id")
    body = facts_of(event.body)
    assert body["actor"]["name"] == "root"
    facts: dict[str, Any] = body["facts"]
    return facts


def form_of(person: Person, **changes: Any) -> dict[str, Any]:
    """What the page of a person would send."""
    shown = {
        "username": person.username,
        "name": person.name,
        "email": person.email,
        "language": person.language,
        "time_zone": person.time_zone,
        "theme": person.theme,
    }
    switches = {name: "on" for name in ("is_active", "is_staff", "is_superuser") if getattr(person, name)}
    return {name: value for name, value in (shown | switches | changes).items() if value is not None}


def save(client: Client, person: Person, **changes: Any) -> None:
    answer = client.post(f"/admin/accounts/person/{person.pk}/change/", form_of(person, **changes))
    assert answer.status_code == 302, answer.content.decode()[:2000]


def test_only_people_organisations_departments_and_groups_are_there() -> None:
    assert set(admin.site._registry) == {Person, Organisation, Department, RoleGroup}


def test_no_table_of_the_business_is_reached(at_admin: Client) -> None:
    for model in apps.get_models():
        meta = model._meta
        if model in admin.site._registry:
            continue
        for page in ("", "add/", "1/change/", "1/delete/"):
            answer = at_admin.get(f"/admin/{meta.app_label}/{meta.model_name}/{page}")
            assert answer.status_code == 404, (meta.label, page)


def test_a_person_made_there_is_on_record(at_admin: Client) -> None:
    secret = "correct-horse-battery-staple"
    body = {"username": "new", "name": "New", "language": "en", "usable_password": "true"}
    answer = at_admin.post("/admin/accounts/person/add/", body | {"password1": secret, "password2": secret})

    assert answer.status_code == 302, answer.content.decode()[:2000]
    person = Person.objects.get(username="new")
    assert told("person.created", PLATFORM) == {"person": person.pk}
    assert not AuditEvent.objects.filter(body__contains=secret.encode()).exists()


def test_switching_a_person_off_ends_their_rights_and_is_on_record_where_they_worked(
    at_admin: Client, acme: Organisation, an_organisation: Make, a_person: Make
) -> None:
    approver = a_person("approver", acme, Role.APPROVER)
    globex = an_organisation("globex")

    save(at_admin, approver, is_active=None)

    assert not access.has_right(approver, acme, Right.DECIDE)
    assert told("person.disabled", acme.pk) == {"person": approver.pk}
    assert not AuditEvent.objects.filter(kind="person.disabled", organisation_id=globex.pk).exists()
    approver.refresh_from_db()
    save(at_admin, approver, is_active="on")
    assert told("person.enabled", acme.pk) == {"person": approver.pk}


def test_other_changes_are_on_record_by_name_and_switches_with_their_value(
    at_admin: Client, acme: Organisation, a_person: Make
) -> None:
    viewer = a_person("viewer", acme, Role.VIEWER)

    save(at_admin, viewer, name="Another Name", is_staff="on")

    assert told("person.changed", acme.pk) == {
        "person": viewer.pk,
        "fields": ["is_staff", "name"],
        "is_staff": True,
    }
    events = AuditEvent.objects.count()
    viewer.refresh_from_db()
    save(at_admin, viewer)
    assert AuditEvent.objects.count() == events  # nothing changed


def test_a_password_set_by_another_is_on_record_and_nowhere_to_read(
    at_admin: Client, acme: Organisation, a_person: Make
) -> None:
    viewer, secret = a_person("viewer", acme, Role.VIEWER), "another-long-password-5"
    path = f"/admin/accounts/person/{viewer.pk}/password/"

    refused = at_admin.post(path, {"password1": secret, "password2": "other", "usable_password": "true"})
    assert refused.status_code == 200
    assert not AuditEvent.objects.filter(kind="person.password_set").exists()
    at_admin.post(path, {"password1": secret, "password2": secret, "usable_password": "true"})

    assert told("person.password_set", acme.pk) == {"person": viewer.pk, "usable": True}
    assert not AuditEvent.objects.filter(body__contains=secret.encode()).exists()


def test_ones_own_new_password_is_on_record(at_admin: Client, root: Person) -> None:
    secret = "another-long-password-5"
    body = {"old_password": "a-long-password-of-root", "new_password1": secret, "new_password2": secret}
    assert at_admin.post("/admin/password_change/", body | {"old_password": "wrong"}).status_code == 200
    assert at_admin.post("/admin/password_change/", body | {"usable_password": "true"}).status_code == 302
    assert told("person.password_set", PLATFORM) == {"person": root.pk}


def test_an_organisation_made_or_changed_there_is_on_record_and_has_its_roles(at_admin: Client) -> None:
    body = {"slug": "initech", "name": "Initech", "language": "en", "time_zone": "UTC"}
    assert at_admin.post("/admin/accounts/organisation/add/", body).status_code == 302
    initech = Organisation.objects.get(slug="initech")
    assert told("organisation.created", initech.pk) == {"slug": "initech"}
    assert RoleGroup.objects.filter(organisation=initech).count() == len(Role)

    body["name"] = "Initech Ltd"
    assert at_admin.post(f"/admin/accounts/organisation/{initech.pk}/change/", body).status_code == 302
    assert told("organisation.changed", initech.pk) == {"slug": "initech", "fields": ["name"]}


def test_a_department_made_or_changed_there_is_on_record(at_admin: Client, acme: Organisation) -> None:
    body = {"organisation": acme.pk, "slug": "legal", "name": "Legal"}
    assert at_admin.post("/admin/accounts/department/add/", body).status_code == 302
    legal = Department.objects.get(slug="legal")
    assert told("department.created", acme.pk) == {"department": "legal"}

    assert at_admin.post(f"/admin/accounts/department/{legal.pk}/change/", body | {"name": "Law"}).status_code == 302
    assert told("department.changed", acme.pk) == {"department": "legal", "fields": ["name"]}


def test_nobody_is_given_a_business_right_there(at_admin: Client, root: Person, acme: Organisation) -> None:
    (sales,) = create_departments(organisation=acme, names=[("sales", "Sales")])
    groups = list(Group.objects.values_list("pk", flat=True))

    rights = Permission.objects.filter(codename__in=[right.value for right in Right])

    save(at_admin, root, groups=groups, user_permissions=[right.pk for right in rights], name="Root")

    assert not root.groups.exists()
    assert access.rights_anywhere(root) == frozenset()
    role = RoleGroup.objects.filter(organisation=acme).first()
    assert role is not None
    assert at_admin.get(f"/admin/accounts/rolegroup/{role.pk}/change/").status_code == 200
    assert at_admin.post(f"/admin/accounts/rolegroup/{role.pk}/change/", {"members": root.pk}).status_code == 403
    assert at_admin.get("/admin/accounts/rolegroup/add/").status_code == 403
    assert not access.has_department_right(root, sales, Right.OPEN_DOCUMENTS)


@pytest.mark.parametrize("name", ["person", "organisation", "department", "rolegroup"])
def test_nothing_is_deleted_there(name: str, at_admin: Client, acme: Organisation) -> None:
    create_departments(organisation=acme, names=[("sales", "Sales")])
    model = apps.get_model("accounts", name)
    row = model._default_manager.first()
    assert row is not None

    assert at_admin.post(f"/admin/accounts/{name}/{row.pk}/delete/", {"post": "yes"}).status_code == 403
    at_admin.post(f"/admin/accounts/{name}/", {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"})

    assert model._default_manager.filter(pk=row.pk).exists()


@pytest.mark.parametrize("role", sorted(Role))
def test_no_role_of_an_organisation_opens_the_site(role: Role, acme: Organisation, a_person: Make) -> None:
    client = Client()
    client.force_login(a_person("someone", acme, role), backend=BACKEND)
    for path in ("/admin/", "/admin/accounts/person/", "/admin/accounts/organisation/"):
        assert client.get(path).status_code == 302  # to the sign-in
