"""Holding a case, handing it over, letting it go, and notes beside it."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Person
from caseflow.api import schema
from caseflow.api.bodies import MAX_LIMIT, NoQuery
from caseflow.api.holding_shapes import (
    HoldBody,
    HoldNowSerializer,
    NoteBody,
    NoteListSerializer,
    NoteSerializer,
    ReleaseBody,
)
from caseflow.api.reaching import get_case_for, require_holder
from caseflow.api.reading import read_body, read_query
from caseflow.domain.errors import BadInput
from caseflow.domain.roles import Right
from cases.holding import add_note, find_hold, hand_over, hold_case, list_notes, release_case
from cases.selectors import get_case

from .base import ApiView


class CaseHoldView(ApiView):
    @extend_schema(operation_id="get_hold", responses=schema.answers({200: HoldNowSerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """Who has the case now."""
        read_query(request, NoQuery)
        case = get_case(self.principal, public_id)
        return Response(HoldNowSerializer({"hold": find_hold(case.pk)}).data)

    @extend_schema(
        operation_id="hold_case",
        request=HoldBody,
        responses=schema.answers({200: HoldNowSerializer, 201: HoldNowSerializer}, writes=True),
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Take the case, or hand it over. Taken anew by its holder it lasts longer and answers 200."""
        person = require_holder(self.principal, public_id)
        body = read_body(request, HoldBody)
        case = get_case_for(person, public_id, Right.SUPPLY_DATA)
        created = True
        if body.to:
            hand_over(case_id=case.pk, to=_colleague(body.to), person=person)
        else:
            created = hold_case(case_id=case.pk, person=person).created
        code = status.HTTP_201_CREATED if created else status.HTTP_200_OK
        return Response(HoldNowSerializer({"hold": find_hold(case.pk)}).data, status=code)


class CaseReleaseView(ApiView):
    @extend_schema(
        operation_id="release_case",
        request=ReleaseBody,
        responses=schema.answers({200: HoldNowSerializer}, writes=True),
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Let go of a case one holds; of a case that nobody holds it changes nothing."""
        person = require_holder(self.principal, public_id)
        read_body(request, ReleaseBody)
        case = get_case_for(person, public_id, Right.SUPPLY_DATA)
        release_case(case_id=case.pk, person=person)
        return Response(HoldNowSerializer({"hold": None}).data)


class CaseNotesView(ApiView):
    @extend_schema(operation_id="list_notes", responses=schema.answers({200: NoteListSerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """The newest notes of a case, without their words."""
        read_query(request, NoQuery)
        case = get_case(self.principal, public_id)
        return Response(NoteListSerializer({"results": list_notes(case.pk)[:MAX_LIMIT]}).data)

    @extend_schema(
        operation_id="add_note",
        request=NoteBody,
        responses=schema.answers({201: NoteSerializer}, writes=True) | schema.ERASED,
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Write a note beside a case, open or closed. It moves nothing."""
        principal = self.principal
        body = read_body(request, NoteBody)
        case = get_case_for(principal, public_id, Right.SUPPLY_DATA)
        note = add_note(case_id=case.pk, text=body.text, principal=principal)
        return Response(NoteSerializer(note).data, status=status.HTTP_201_CREATED)


def _colleague(username: str) -> Person:
    """Raises BadInput, the same for a stranger and for somebody without the right."""
    found = Person.objects.filter(username=username, is_active=True).first() if username.isprintable() else None
    if found is None:
        raise BadInput(code="unknown_holder", path="$.to", problem="this person may not work on the case")
    return found
