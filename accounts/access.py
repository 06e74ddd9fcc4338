"""The one door to "may this person": it knows rights and organisations, and no case (design §9).

Rights are read only from the guardian rows of the direct foreign-key models, never from a Django permission: a
superuser without a row sees nothing, an inactive person has no right. A service account has its own list of rights
in its own organisation. A model says how it reaches its organisation by a class attribute `organisation_path`; one
that belongs to a department says `department_path`, too: a right that is granted per department then counts there.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from django.db.models.expressions import RawSQL

from caseflow.domain.errors import BadInput, NotFound, NotPermitted
from caseflow.domain.roles import PLATFORM, RIGHTS_OF_DEPARTMENTS, Right

from . import reach
from .models import (
    Department,
    Organisation,
    OrganisationGroupRight,
    OrganisationPersonRight,
    Person,
    PlatformOperator,
    ServiceAccount,
)
from .principal import Principal
from .reach import reach_of

Row = TypeVar("Row", bound=Model)
MOST_SAID = 100  #: organisations that a statement names


def visible(queryset: QuerySet[Row], principal: Principal, right: Right) -> QuerySet[Row]:
    """The rows whose organisation gives `right` to `principal`: the same statement with a subquery, no query more.

    For a right that departments give, also the rows of the departments that give it.
    """
    path: str = queryset.model.organisation_path  # type: ignore[attr-defined]
    reach = Q(**{f"{path}__in": _organisation_ids(principal, right)})
    if isinstance(principal, ServiceAccount):
        reach &= Q(**{path: principal.organisation_id})  # the planner knows how many rows this one has
    department_path: str = getattr(queryset.model, "department_path", "")
    if department_path and right in RIGHTS_OF_DEPARTMENTS:
        reach |= Q(**{f"{department_path}__in": _department_ids(principal, right)})
    return queryset.filter(reach)


def within(queryset: QuerySet[Row], organisations: Collection[Organisation]) -> QuerySet[Row]:
    """Of rows that are in sight already those of some organisations, whose keys stand in the statement as numbers.

    The planner then knows whether these are most rows or few. Otherwise a list for somebody of a small organisation
    would be looked for among the rows of all others. Of very many organisations nothing is said.
    """
    if not 0 < len(organisations) <= MOST_SAID:
        return queryset
    path: str = queryset.model.organisation_path  # type: ignore[attr-defined]
    return queryset.filter(**{f"{path}__in": [organisation.pk for organisation in organisations]})


def get_visible(queryset: QuerySet[Row], public_id: str, principal: Principal, right: Right) -> Row:
    """One row by its public id. Raises NotFound, the same for "out of sight" and for "does not exist"."""
    if not (public_id.isascii() and public_id.isprintable()):
        # No name of ours; PostgreSQL cannot even be asked for a NUL or a lone surrogate.
        raise NotFound
    rows = visible(queryset, principal, right)
    try:
        return rows.get(public_id=public_id)
    except queryset.model.DoesNotExist:  # type: ignore[attr-defined]
        raise NotFound from None


def has_right(principal: Principal, organisation: Organisation | int, right: Right) -> bool:
    """One query."""
    return organisations_with(principal, right).filter(pk=_key(organisation)).exists()


def require(principal: Principal, organisation: Organisation | int, right: Right) -> None:
    """One query. Raises NotPermitted."""
    if not has_right(principal, organisation, right):
        raise NotPermitted(right=right.value)


def has_department_right(principal: Principal, department: Department, right: Right) -> bool:
    """By a grant for the department, or for its whole organisation. One query."""
    return visible(Department.objects.all(), principal, right).filter(pk=department.pk).exists()


def get_department_id(organisation: Organisation, slug: str) -> int | None:
    """Raises BadInput for a department that the organisation does not have. One query, none without a name."""
    if not slug:
        return None
    found = Department.objects.filter(organisation=organisation, slug=slug).values_list("pk", flat=True).first()
    if found is None:
        raise BadInput(code="unknown_department", path="$.department", problem="there is no such department")
    return found


def organisations_with(principal: Principal, right: Right) -> QuerySet[Organisation]:
    return Organisation.objects.filter(pk__in=_organisation_ids(principal, right))


def persons_with_right(organisation_id: int, right: Right) -> QuerySet[Person]:
    """Active people who hold the right, by a role or directly; also good as a subquery (`pk__in=…`)."""
    held = {"content_object_id": organisation_id, "permission__codename": right.value}
    direct = OrganisationPersonRight.objects.filter(**held).values("user_id")
    by_role = OrganisationGroupRight.objects.filter(**held, group__user__isnull=False).values("group__user")
    return Person.objects.filter(is_active=True, pk__in=direct.union(by_role))


def rights_in(principal: Principal, organisation_id: int) -> frozenset[Right]:
    """Every right of `principal` there, in one query."""
    if isinstance(principal, ServiceAccount):
        found = ServiceAccount.objects.filter(pk=principal.pk, organisation_id=organisation_id, is_active=True)
        values = {value for rights in found.values_list("rights", flat=True) for value in rights}
    else:
        values = set(reach.rights_at(principal, organisation_id))
    # Django keeps permissions of its own (add, change, …) beside ours; they are no rights.
    return frozenset(right for right in Right if right.value in values)


def rights_anywhere(principal: Principal) -> frozenset[str]:
    """Every right of `principal` in any organisation or department, and PLATFORM for a platform operator; one query.

    For entries of a navigation: what a page shows is asked of the object itself.
    """
    return frozenset(principal.rights) if isinstance(principal, ServiceAccount) else reach_of(principal).anywhere


def is_platform_operator(principal: Principal) -> bool:
    """Whether `principal` looks after the platform: queues, workers, counts and pauses, and no case. One query."""
    return platform_operators(principal).exists()


def platform_operators(principal: Principal) -> QuerySet[PlatformOperator]:
    """The row that makes `principal` one, or nothing; also good as a condition of another statement (`Exists(…)`)."""
    if not isinstance(principal, Person):
        return PlatformOperator.objects.none()
    return PlatformOperator.objects.filter(person=principal.pk, person__is_active=True)


def require_platform(principal: Principal) -> None:
    """One query. Raises NotPermitted."""
    if not is_platform_operator(principal):
        raise NotPermitted(right=PLATFORM)


def _organisation_ids(principal: Principal, right: Right) -> QuerySet[Any, Any] | RawSQL:
    if isinstance(principal, ServiceAccount):
        return ServiceAccount.objects.filter(pk=principal.pk, is_active=True, rights__contains=[right.value]).values(
            "organisation_id"
        )
    return reach.organisations_of(principal, right)


def _department_ids(principal: Principal, right: Right) -> QuerySet[Any, Any] | RawSQL:
    if isinstance(principal, ServiceAccount):
        return Department.objects.none().values("pk")
    return reach.departments_of(principal, right)


def _key(organisation: Organisation | int) -> int:
    return organisation if isinstance(organisation, int) else organisation.pk
