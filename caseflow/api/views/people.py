"""People of an organisation and their roles: an administrator lists, grants and revokes."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access, granting
from accounts.models import Department, Organisation, Person
from accounts.principal import Principal
from caseflow.api import schema
from caseflow.api.bodies import MAX_LIMIT
from caseflow.api.people_shapes import PeoplePageSerializer, PeopleQuery, PersonSerializer, RoleBody
from caseflow.api.reaching import get_organisation, refuse
from caseflow.api.reading import read_body, read_query
from caseflow.domain.errors import BadInput, NotFound
from caseflow.domain.roles import Right, Role

from .base import ApiView

_PAGE = [
    OpenApiParameter("after", str, description="Sign-in name of the last one of the page before."),
    OpenApiParameter("limit", int, description=f"Rows of a page, 1 to {MAX_LIMIT}; 50 unless told."),
]


class PeopleView(ApiView):
    limits: ClassVar = {"GET": "search"}

    @extend_schema(
        operation_id="list_people",
        parameters=_PAGE,
        responses=schema.answers({200: PeoplePageSerializer}, queries=True) | schema.FORBIDDEN,
    )
    def get(self, request: Request, organisation: str) -> Response:
        """Everybody with a role there, by sign-in name."""
        found, _ = _administered(self.principal, organisation)
        query = read_query(request, PeopleQuery)
        people = granting.list_people(found).order_by("username").filter(username__gt=query.after)
        rows = list(people[: query.limit + 1])
        page, following = rows[: query.limit], None
        if len(rows) > query.limit:
            parameters = dict(request.query_params.items()) | {"after": page[-1].username}
            following = f"{request.path}?{urlencode(parameters)}"
        return Response(PeoplePageSerializer({"results": _shown(found, page), "next": following}).data)

    @extend_schema(
        operation_id="grant_role",
        request=RoleBody,
        responses=schema.answers({201: PersonSerializer, 200: PersonSerializer}, writes=True),
    )
    def post(self, request: Request, organisation: str) -> Response:
        """Grant a role, to somebody of the organisation or without any role yet. Who has it already answers 200.

        Nobody grants to themselves.
        """
        found, admin = _administered(self.principal, organisation)
        body = read_body(request, RoleBody)
        asked = _asked(found, body)
        try:
            person = granting.find_person(found, body.username)
        except NotFound:
            raise _unknown_person() from None
        is_new = granting.grant(admin=admin, person=person, organisation=found, reason=body.reason, **asked)
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(PersonSerializer(_shown(found, [person])[0]).data, status=code)


class RevocationView(ApiView):
    @extend_schema(
        operation_id="revoke_role", request=RoleBody, responses=schema.answers({200: PersonSerializer}, writes=True)
    )
    def post(self, request: Request, organisation: str) -> Response:
        """Revoke a role; who does not have it stays as they are. The last administrator cannot be revoked."""
        found, admin = _administered(self.principal, organisation)
        body = read_body(request, RoleBody)
        asked = _asked(found, body)
        person = granting.list_people(found).filter(username=body.username).first()
        if person is None:
            raise _unknown_person()
        granting.revoke(admin=admin, person=person, organisation=found, reason=body.reason, **asked)
        return Response(PersonSerializer(_shown(found, [person])[0]).data)


def _administered(principal: Principal, slug: str) -> tuple[Organisation, Person]:
    """Raises NotFound, and NotPermitted for everybody else than its administrators, on record."""
    # PostgreSQL cannot even be asked for a NUL.
    if not (slug.isascii() and slug.isprintable()):
        raise NotFound
    found = get_organisation(principal, slug, Right.ADMINISTER)
    if not isinstance(principal, Person):
        refuse(principal, found.pk, Right.ADMINISTER, organisation=slug)
    return found, principal


def _asked(organisation: Organisation, body: RoleBody) -> dict[str, Any]:
    """Raises BadInput for a role or a department that is not there, and for one with the other's."""
    try:
        role = Role(body.role)
    except ValueError:
        raise BadInput(code="unknown_role", path="$.role", problem="there is no such role") from None
    if body.department and role is not Role.REPORT_READER:
        raise BadInput(code="not_used", path="$.department", problem="only report readers belong to a department")
    key = access.get_department_id(organisation, body.department)
    return {"role": role, "department": Department.objects.get(pk=key) if key else None}


def _unknown_person() -> BadInput:
    """The same for nobody and for somebody of other organisations."""
    return BadInput(code="unknown_person", path="$.username", problem="nobody here has this sign-in name")


def _shown(organisation: Organisation, people: list[Person]) -> list[dict[str, Any]]:
    held = granting.roles_of(organisation, people)
    return [{"person": person, "roles": held[person.pk]} for person in people]
