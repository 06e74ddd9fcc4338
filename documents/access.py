"""Who may open a document: a grant for its department, or for the whole organisation; asked at every opening."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts import access
from accounts.models import Department, DepartmentGroupRight, DepartmentPersonRight, Person
from accounts.principal import Principal
from caseflow.domain.roles import Right

from .models import Document


def may_open_in(principal: Principal, department: Department) -> bool:
    """One query, of this moment. Whether every document of the department may be opened."""
    return access.has_department_right(principal, department, Right.OPEN_DOCUMENTS)


def documents_in_sight(principal: Principal) -> QuerySet[Document]:
    """Those that `principal` may open now."""
    return access.visible(
        Document.objects.select_related("organisation", "department"), principal, Right.OPEN_DOCUMENTS
    )


def get_document(principal: Principal, public_id: str) -> Document:
    """Raises NotFound, the same for "does not exist" and for "may not be opened"."""
    documents = Document.objects.select_related("organisation", "department")
    return access.get_visible(documents, public_id, principal, Right.OPEN_DOCUMENTS)


def who_may_open(department: Department) -> QuerySet[Person]:
    """Active people with the right for the department or its organisation, by name."""
    held = {"content_object_id": department.pk, "permission__codename": Right.OPEN_DOCUMENTS.value}
    direct = DepartmentPersonRight.objects.filter(**held).values("user_id")
    by_role = DepartmentGroupRight.objects.filter(**held, group__user__isnull=False).values("group__user")
    everywhere = access.persons_with_right(department.organisation_id, Right.OPEN_DOCUMENTS).values("pk")
    people = Person.objects.filter(is_active=True, pk__in=direct.union(by_role))
    return (people | Person.objects.filter(pk__in=everywhere)).order_by("name", "username")
