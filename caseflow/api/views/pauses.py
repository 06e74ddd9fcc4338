"""Pauses: list, set, show, end."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Person
from accounts.principal import Principal
from caseflow.api import schema
from caseflow.api.bodies import MAX_LIMIT, NoQuery
from caseflow.api.pages import page_of
from caseflow.api.pause_shapes import (
    EndPauseBody,
    PauseBody,
    PauseListQuery,
    PausePageSerializer,
    PauseSerializer,
    moment_of,
)
from caseflow.api.reaching import refuse
from caseflow.api.reading import read_body, read_query
from caseflow.domain.roles import Right
from cases.models import Pause
from cases.pausing import live_pauses
from operations.pauses import get_pause, in_sight
from operations.pausing import get_organisation, pause, resume

from .base import ApiView

_FILTERS = [
    OpenApiParameter("live", bool, description="Only what is paused now."),
    OpenApiParameter("after", str, description="Id of the last pause of the page before."),
    OpenApiParameter("limit", int, description=f"Rows of a page, 1 to {MAX_LIMIT}; 50 unless told."),
]
_PAUSE = OpenApiExample(
    "Pause a process within one organisation",
    value={
        "kind": "process",
        "name": "restore_access",
        "organisation": "acme",
        "reason": "The payment service shows wrong amounts.",
        "until": "2026-03-02T12:00:00Z",
    },
    request_only=True,
)


class PausesView(ApiView):
    @extend_schema(
        operation_id="list_pauses",
        parameters=_FILTERS,
        responses=schema.answers({200: PausePageSerializer}, queries=True),
    )
    def get(self, request: Request) -> Response:
        """The pauses in sight, newest first."""
        query = read_query(request, PauseListQuery)
        places = in_sight(Pause.objects.all(), self.principal)
        rows = in_sight(live_pauses(), self.principal) if query.live else places
        page = page_of(rows, places, request, after=query.after, limit=query.limit)
        return Response(PausePageSerializer(page).data)

    @extend_schema(
        operation_id="set_pause",
        request=PauseBody,
        responses=schema.answers({201: PauseSerializer, 200: PauseSerializer}, writes=True),
        examples=[_PAUSE],
    )
    def post(self, request: Request) -> Response:
        """Pause a process, a system, an organisation or everything. What is paused already answers 200."""
        person = _person(self.principal)
        body = read_body(request, PauseBody)
        paused = pause(
            kind=body.kind,
            name=body.name,
            organisation=get_organisation(person, body.organisation) if body.organisation else None,
            by=person,
            reason=body.reason,
            until=moment_of(body.until),
        )
        code = status.HTTP_201_CREATED if paused.created else status.HTTP_200_OK
        data = PauseSerializer(paused.pause).data
        return Response(data, status=code, headers={"Location": data["links"]["self"]})


class PauseView(ApiView):
    @extend_schema(operation_id="get_pause", responses=schema.answers({200: PauseSerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """One pause."""
        read_query(request, NoQuery)
        return Response(PauseSerializer(get_pause(self.principal, public_id)).data)


class PauseEndView(ApiView):
    @extend_schema(
        operation_id="end_pause", request=EndPauseBody, responses=schema.answers({200: PauseSerializer}, writes=True)
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Resume. What waited goes on at once; a pause that is over already stays as it is."""
        found = get_pause(self.principal, public_id)
        person = _person(self.principal)
        body = read_body(request, EndPauseBody)
        resume(pause=found, by=person, reason=body.reason)
        return Response(PauseSerializer(get_pause(person, public_id)).data)


def _person(principal: Principal) -> Person:
    """Raises NotPermitted for a machine, on record: the same whatever it asked for."""
    if isinstance(principal, Person):
        return principal
    refuse(principal, principal.organisation_id, Right.RECOVER, asked="pause")
