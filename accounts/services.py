"""Organisations, roles, service accounts and their tokens: everything that gives or takes a right.

Callers check that `by` may do it (`accounts.granting` does); every change is recorded in its transaction.
"""

from __future__ import annotations

import hashlib
import secrets
import string
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models.functions import Now

from audit.services import record_organisation_event
from caseflow.domain.errors import BadInput, NotFound
from caseflow.domain.roles import RIGHTS_OF_ROLE, RIGHTS_OF_SERVICES, Right, Role

from .changes import tell_rights_taken
from .gate import hold_exclusive
from .models import (
    Department,
    DepartmentGroupRight,
    Organisation,
    OrganisationGroupRight,
    Person,
    RoleGroup,
    ServiceAccount,
    ServiceToken,
)
from .principal import SYSTEM, Actor

SECRET_SIZE = 32  #: bytes of a token's secret
PREFIX_SIZE = 8  #: characters of a token that are stored and shown
PREFIX_ALPHABET = string.ascii_lowercase + string.digits

Membership: Any = Person.groups.through


@transaction.atomic
def create_organisation(
    *, slug: str, name: str, language: str = "ru", time_zone: str = "Europe/Moscow", by: Actor = SYSTEM
) -> Organisation:
    """An organisation with the group of every role, so that granting a role later is one row."""
    organisation = Organisation.objects.create(slug=slug, name=name, language=language, time_zone=time_zone)
    create_role_groups(organisation)
    _record(organisation.pk, "organisation.created", by, slug=slug)
    return organisation


@transaction.atomic
def create_departments(
    *, organisation: Organisation, names: Sequence[tuple[str, str]], by: Actor = SYSTEM
) -> list[Department]:
    """Departments by (slug, name), each with the group of its report readers."""
    departments = Department.objects.bulk_create(
        Department(organisation=organisation, slug=slug, name=name) for slug, name in names
    )
    create_report_readers(departments)
    for department in departments:
        _record(organisation.pk, "department.created", by, department=department.slug)
    return departments


@transaction.atomic
def create_role_groups(organisation: Organisation) -> None:
    """One group per role, with the role's rights on the organisation."""
    groups = _create_groups([(organisation, role, None) for role in Role])
    permissions = _permissions(Organisation)
    OrganisationGroupRight.objects.bulk_create(
        OrganisationGroupRight(group=group, permission=permissions[right.value], content_object=organisation)
        for role, group in zip(Role, groups, strict=True)
        for right in sorted(RIGHTS_OF_ROLE[role])
    )


@transaction.atomic
def create_report_readers(departments: Sequence[Department]) -> None:
    """The group that opens the documents of one department, for each of `departments`."""
    groups = _create_groups([(dep.organisation, Role.REPORT_READER, dep) for dep in departments])
    permission = _permissions(Department)[Right.OPEN_DOCUMENTS.value]
    DepartmentGroupRight.objects.bulk_create(
        DepartmentGroupRight(group=group, permission=permission, content_object=department)
        for department, group in zip(departments, groups, strict=True)
    )


def grant_role(
    *,
    person: Person,
    organisation: Organisation,
    role: Role,
    by: Actor,
    department: Department | None = None,
    facts: Mapping[str, object] | None = None,
) -> bool:
    """Whether the role is new to the person. `facts` go on record, such as the reason.

    Unchecked, for set-ups and tests: an administrator grants by `accounts.granting`.
    """
    added = grant_roles(organisation=organisation, grants=[(person, role)], by=by, department=department, facts=facts)
    return added == 1


@transaction.atomic
def grant_roles(
    *,
    organisation: Organisation,
    grants: Sequence[tuple[Person, Role]],
    by: Actor,
    department: Department | None = None,
    facts: Mapping[str, object] | None = None,
) -> int:
    """How many of the roles are new to their person; those held before are left alone. Raises NotFound."""
    hold_exclusive()
    groups = _group_ids(organisation, {role for _, role in grants}, department)
    wanted = {(person.pk, groups[role]): role for person, role in grants}
    held = set(
        Membership.objects.filter(
            person_id__in={person for person, _ in wanted}, group_id__in=groups.values()
        ).values_list("person_id", "group_id")
    )
    new = {key: role for key, role in wanted.items() if key not in held}
    Membership.objects.bulk_create(Membership(person_id=person, group_id=group) for person, group in new)
    for (person_id, _), role in new.items():
        _record(organisation.pk, "role.granted", by, **_facts_of_role(person_id, role, department), **(facts or {}))
    return len(new)


@transaction.atomic
def revoke_role(
    *,
    person: Person,
    organisation: Organisation,
    role: Role,
    by: Actor,
    department: Department | None = None,
    facts: Mapping[str, object] | None = None,
) -> bool:
    """Whether the person had the role. A send that begins after this no longer counts their approval.

    Unchecked, as `grant_role` is.
    """
    hold_exclusive()
    group_id = _group_ids(organisation, {role}, department)[role]
    gone, _ = Membership.objects.filter(person_id=person.pk, group_id=group_id).delete()
    if gone:
        _record(organisation.pk, "role.revoked", by, **_facts_of_role(person.pk, role, department), **(facts or {}))
        tell_rights_taken(organisation.pk)
    return bool(gone)


@transaction.atomic
def create_service_account(
    *, organisation: Organisation, name: str, owner: Person, rights: Iterable[Right], by: Actor
) -> ServiceAccount:
    """Raises BadInput `right_not_for_services` for a right that only people may hold."""
    wanted = frozenset(rights)
    if beyond := wanted - RIGHTS_OF_SERVICES:
        raise BadInput(
            code="right_not_for_services",
            path="$.rights",
            problem=f"a service account never holds {', '.join(sorted(beyond))}",
        )
    values = sorted(right.value for right in wanted)
    account = ServiceAccount.objects.create(organisation=organisation, name=name, owner=owner, rights=values)
    _record(
        organisation.pk, "service_account.created", by, account=account.pk, name=name, owner=owner.pk, rights=values
    )
    return account


@transaction.atomic
def issue_token(
    *, account: ServiceAccount, expires_at: datetime | None = None, by: Actor = SYSTEM
) -> tuple[ServiceToken, str]:
    """The token and its text. The text is known here and now only: what is stored is a digest of its secret."""
    prefix = "".join(secrets.choice(PREFIX_ALPHABET) for _ in range(PREFIX_SIZE))
    secret = secrets.token_urlsafe(SECRET_SIZE)
    token = ServiceToken.objects.create(
        account=account, prefix=prefix, digest=digest_of_secret(secret), expires_at=expires_at
    )
    _record(account.organisation_id, "token.issued", by, account=account.pk, prefix=prefix)
    return token, f"cf_{prefix}_{secret}"


@transaction.atomic
def revoke_token(*, token: ServiceToken, by: Actor) -> bool:
    """Whether the token was alive until now."""
    revoked = ServiceToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=Now())
    if revoked:
        _record(token.account.organisation_id, "token.revoked", by, account=token.account_id, prefix=token.prefix)
    return bool(revoked)


def digest_of_secret(secret: str) -> str:
    """SHA-256, hex. A secret of 32 random bytes needs no slow hash: there is nothing to guess."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _create_groups(places: Sequence[tuple[Organisation, Role, Department | None]]) -> list[Group]:
    groups = Group.objects.bulk_create(
        Group(name=":".join([organisation.slug, role.value, *([department.slug] if department else [])]))
        for organisation, role, department in places
    )
    RoleGroup.objects.bulk_create(
        RoleGroup(organisation=organisation, role=role.value, department=department, group=group)
        for (organisation, role, department), group in zip(places, groups, strict=True)
    )
    return groups


def _group_ids(organisation: Organisation, roles: set[Role], department: Department | None) -> dict[Role, int]:
    rows = RoleGroup.objects.filter(organisation=organisation, department=department, role__in=roles)
    found = {Role(role): group_id for role, group_id in rows.values_list("role", "group_id")}
    if roles - found.keys():
        raise NotFound
    return found


def _permissions(model: type[Organisation] | type[Department]) -> dict[str, Permission]:
    rows = Permission.objects.filter(
        content_type__app_label=model._meta.app_label, content_type__model=model._meta.model_name
    )
    return {permission.codename: permission for permission in rows}


def _facts_of_role(person_id: int, role: Role, department: Department | None) -> dict[str, object]:
    facts: dict[str, object] = {"person": person_id, "role": role.value}
    return facts | {"department": department.slug} if department else facts


def _record(organisation_id: int, kind: str, by: Actor, **facts: object) -> None:
    record_organisation_event(organisation_id, kind, actor=by, facts=facts)
