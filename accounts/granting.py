"""An administrator grants and revokes roles: with a reason, behind the gate, on record (design §9).

Nobody grants to themselves, so that it takes two people to give an administrator the right to decide; and an
organisation always keeps an administrator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from audit.services import record_organisation_event
from caseflow.domain.errors import BadInput, CaseflowError, LastAdministrator, NotFound, NotPermitted, OwnGrant
from caseflow.domain.roles import Right, Role

from . import access
from .gate import hold_exclusive
from .models import Department, Organisation, OrganisationPersonRight, Person, RoleGroup
from .principal import actor_of_person
from .services import grant_role, revoke_role

MAX_REASON = 500  #: characters


@dataclass(frozen=True, slots=True)
class Held:
    """One role of a person, in the organisation or in one of its departments."""

    role: Role
    department: Department | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What an administrator asks for, checked for form. `facts` are further primitives for the record."""

    admin: Person
    person: Person
    organisation: Organisation
    role: Role
    department: Department | None
    reason: str
    facts: dict[str, Any]


def grant(
    *,
    admin: Person,
    person: Person,
    organisation: Organisation,
    role: Role,
    reason: str,
    department: Department | None = None,
    **facts: str,
) -> bool:
    """Whether the role is new to the person. `facts` go on record, such as the account of the machine.

    Raises BadInput, NotPermitted, OwnGrant, and NotFound for a department without this role; a refusal is recorded.
    """
    return _order("role.grant_refused", _grant, _asked(admin, person, organisation, role, department, reason, facts))


def revoke(
    *,
    admin: Person,
    person: Person,
    organisation: Organisation,
    role: Role,
    reason: str,
    department: Department | None = None,
    **facts: str,
) -> bool:
    """Whether the person had the role. A send that begins after this no longer counts their approval.

    Raises BadInput, NotPermitted, LastAdministrator, and NotFound; a refusal is recorded.
    """
    return _order("role.revoke_refused", _revoke, _asked(admin, person, organisation, role, department, reason, facts))


def list_people(organisation: Organisation) -> QuerySet[Person]:
    """Everybody with a right in the organisation or in one of its departments, dismissed people too; by name."""
    by_role = RoleGroup.objects.filter(organisation=organisation, group__user__isnull=False).values("group__user")
    directly = OrganisationPersonRight.objects.filter(content_object=organisation).values("user_id")
    return Person.objects.filter(Q(pk__in=by_role) | Q(pk__in=directly)).order_by("name", "username")


def roles_of(organisation: Organisation, people: list[Person]) -> dict[int, list[Held]]:
    """Person's key → their roles there; two queries."""
    rows = RoleGroup.objects.filter(organisation=organisation, group__user__in=people)
    pairs = list(rows.order_by("id").values_list("group__user", "role", "department_id"))
    departments = Department.objects.in_bulk([department for _, _, department in pairs if department])
    held: dict[int, list[Held]] = {person.pk: [] for person in people}
    for person_id, role, department_id in pairs:
        held[person_id].append(Held(Role(role), departments.get(department_id)))
    return held


def find_person(organisation: Organisation, username: str) -> Person:
    """An active person by their exact sign-in name: one of the organisation, or one without any role yet.

    Raises NotFound, the same for nobody and for somebody of other organisations.
    """
    if "\x00" in username:
        raise NotFound
    elsewhere = RoleGroup.objects.exclude(organisation=organisation).filter(group__user__isnull=False)
    here = list_people(organisation).order_by().values("pk")
    person = (
        Person.objects.filter(username=username, is_active=True)
        .filter(Q(pk__in=here) | ~Q(pk__in=elsewhere.values("group__user")))
        .first()
    )
    if person is None:
        raise NotFound
    return person


def _asked(
    admin: Person,
    person: Person,
    organisation: Organisation,
    role: Role,
    department: Department | None,
    reason: Any,
    facts: dict[str, str],
) -> Asked:
    if not isinstance(reason, str) or not reason.strip():
        raise BadInput(code="empty", path="$.reason", problem="history needs a reason")
    if len(reason) > MAX_REASON:
        raise BadInput(code="too_long", path="$.reason", problem=f"longer than {MAX_REASON} characters")
    if "\x00" in reason:
        raise BadInput(code="nul", path="$.reason", problem="a NUL character")
    return Asked(admin, person, organisation, role, department, reason.strip(), dict(facts))


def _order(refusal: str, work: Callable[[Asked], bool], asked: Asked) -> bool:
    try:
        with transaction.atomic():
            # Before the look at the administrator's own right: who revokes them a moment earlier has won.
            hold_exclusive()
            access.require(asked.admin, asked.organisation, Right.ADMINISTER)
            return work(asked)
    except (NotPermitted, OwnGrant, LastAdministrator) as error:
        _record_refusal(refusal, asked, error)
        raise


def _grant(asked: Asked) -> bool:
    if asked.person.pk == asked.admin.pk:
        raise OwnGrant
    return grant_role(**_words_of(asked))


def _revoke(asked: Asked) -> bool:
    if asked.role is Role.ORG_ADMIN:
        others = access.persons_with_right(asked.organisation.pk, Right.ADMINISTER).exclude(pk=asked.person.pk)
        if not others.exists():
            raise LastAdministrator
    return revoke_role(**_words_of(asked))


def _words_of(asked: Asked) -> dict[str, Any]:
    return {
        "person": asked.person,
        "organisation": asked.organisation,
        "role": asked.role,
        "department": asked.department,
        "by": actor_of_person(asked.admin),
        "facts": {"reason": asked.reason, **asked.facts},
    }


def _record_refusal(kind: str, asked: Asked, error: CaseflowError) -> None:
    facts = {"person": asked.person.pk, "role": asked.role.value, "code": error.code, **asked.facts}
    if asked.department:
        facts["department"] = asked.department.slug
    with transaction.atomic():
        record_organisation_event(asked.organisation.pk, kind, actor=actor_of_person(asked.admin), facts=facts)
