"""Orders for many cases: preview, confirm, watch, pause, go on, cancel. Persons only."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar
from urllib.parse import urlencode

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Person
from caseflow.api import bulk_shapes, schema
from caseflow.api.bodies import MAX_LIMIT, NoQuery
from caseflow.api.bulk_shapes import BulkBody, BulkItemQuery, BulkListQuery, BulkStepBody, ConfirmBulkBody
from caseflow.api.pages import page_of
from caseflow.api.reaching import require_recoverer
from caseflow.api.reading import read_body, read_query
from caseflow.domain.bulk import BulkKind
from caseflow.domain.errors import BadInput, NotFound
from caseflow.domain.lifecycle import State
from cases.models import Case
from cases.selectors import CaseFilter, list_cases
from operations.bulk import cancel_bulk, confirm_bulk, pause_bulk, preview_bulk, resume_bulk
from operations.bulk_selectors import get_bulk, list_bulks, list_items
from operations.models import Bulk

from .base import ApiView

_PAGES = [
    OpenApiParameter("after", str, description="Id of the last order of the page before."),
    OpenApiParameter("limit", int, description=f"Rows of a page, 1 to {MAX_LIMIT}; 50 unless told."),
]
_ITEMS = [
    OpenApiParameter("status", str, enum=["planned", "done", "failed", "skipped"], description="Only those."),
    OpenApiParameter("after", int, description="Place of the last case of the page before."),
    _PAGES[1],
]


class BulksView(ApiView):
    limits: ClassVar = {"POST": "bulk"}

    @extend_schema(
        operation_id="list_bulks",
        parameters=_PAGES,
        responses=schema.answers({200: bulk_shapes.BulkPageSerializer}, queries=True),
    )
    def get(self, request: Request) -> Response:
        """The orders of which every case is in sight, newest first."""
        query = read_query(request, BulkListQuery)
        rows = list_bulks(self.principal)
        page = page_of(rows, rows, request, after=query.after, limit=query.limit)
        return Response(bulk_shapes.BulkPageSerializer(page).data)

    @extend_schema(
        operation_id="preview_bulk",
        request=BulkBody,
        responses=schema.answers({201: bulk_shapes.BulkSerializer}, writes=True),
        examples=[bulk_shapes.PREVIEW],
    )
    def post(self, request: Request) -> Response:
        """Freeze a list of cases and see what would be ordered for them. Nothing is ordered yet."""
        person = require_recoverer(self.principal, "")
        body = read_body(request, BulkBody)
        cases, wanted = _cases(person, body)
        to = _colleague(body.to) if body.kind == BulkKind.HAND_OVER else None
        made = preview_bulk(person=person, kind=body.kind, cases=cases, wanted=wanted, to=to)
        data = bulk_shapes.BulkSerializer(get_bulk(person, made.public_id)).data
        return Response(data, status=status.HTTP_201_CREATED, headers={"Location": data["links"]["self"]})


class BulkView(ApiView):
    @extend_schema(operation_id="get_bulk", responses=schema.answers({200: bulk_shapes.BulkSerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """One order and how far it is."""
        read_query(request, NoQuery)
        return Response(bulk_shapes.BulkSerializer(get_bulk(self.principal, public_id)).data)


class BulkItemsView(ApiView):
    @extend_schema(
        operation_id="list_bulk_items",
        parameters=_ITEMS,
        responses=schema.answers({200: bulk_shapes.BulkItemPageSerializer}, queries=True),
    )
    def get(self, request: Request, public_id: str) -> Response:
        """The cases of an order, each with what came of it."""
        query = read_query(request, BulkItemQuery)
        rows = list_items(get_bulk(self.principal, public_id), query.status).filter(position__gt=query.after)
        found = list(rows[: query.limit + 1])
        following = None
        if len(found) > query.limit:
            found = found[: query.limit]
            parameters = dict(request.query_params.items()) | {"after": str(found[-1].position)}
            following = f"{request.path}?{urlencode(parameters)}"
        return Response(bulk_shapes.BulkItemPageSerializer({"results": found, "next": following}).data)


class BulkConfirmView(ApiView):
    @extend_schema(
        operation_id="confirm_bulk",
        request=ConfirmBulkBody,
        responses=schema.answers({200: bulk_shapes.BulkSerializer}, writes=True),
        examples=[bulk_shapes.CONFIRM],
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Start what was previewed, by naming how many cases are planned."""
        person = require_recoverer(self.principal, public_id)
        body = read_body(request, ConfirmBulkBody)
        found = get_bulk(person, public_id)
        confirm_bulk(bulk=found, person=person, count=body.count, reason=body.reason, rate=body.rate)
        return Response(bulk_shapes.BulkSerializer(get_bulk(person, public_id)).data)


class BulkPauseView(ApiView):
    @extend_schema(
        operation_id="pause_bulk",
        request=BulkStepBody,
        responses=schema.answers({200: bulk_shapes.BulkSerializer}, writes=True),
    )
    def post(self, request: Request, public_id: str) -> Response:
        """No further case has its turn."""
        return _step(self, request, public_id, pause_bulk)


class BulkResumeView(ApiView):
    @extend_schema(
        operation_id="resume_bulk",
        request=BulkStepBody,
        responses=schema.answers({200: bulk_shapes.BulkSerializer}, writes=True),
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Go on with the next case."""
        return _step(self, request, public_id, resume_bulk)


class BulkCancelView(ApiView):
    @extend_schema(
        operation_id="cancel_bulk",
        request=BulkStepBody,
        responses=schema.answers({200: bulk_shapes.BulkSerializer}, writes=True),
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Skip what is left; what is done stays done."""
        return _step(self, request, public_id, cancel_bulk)


def _step(view: ApiView, request: Request, public_id: str, step: Callable[..., Bulk]) -> Response:
    person = require_recoverer(view.principal, public_id)
    read_body(request, BulkStepBody)
    step(bulk=get_bulk(person, public_id), person=person)
    return Response(bulk_shapes.BulkSerializer(get_bulk(person, public_id)).data)


def _cases(person: Person, body: BulkBody) -> tuple[QuerySet[Case], dict[str, str]]:
    """Raises BadInput for none or both, and NotFound where a named case is not in sight."""
    if (body.filter is None) == (not body.cases):
        raise BadInput(code="wrong_data", path="$.cases", problem="name cases, or a filter, and not both")
    if body.filter is not None:
        if body.filter.state and body.filter.state not in list(State):
            raise BadInput(code="unknown_state", path="$.filter.state", problem=", ".join(State))
        wanted = {name: value for name, value in body.filter.model_dump().items() if value}
        return list_cases(person, CaseFilter(**wanted)).order_by("state_since", "pk"), wanted
    names = set(body.cases)
    if not all(name.isascii() and name.isprintable() for name in names):
        raise NotFound
    rows = list_cases(person).filter(public_id__in=names)
    if rows.count() != len(names):
        raise NotFound
    return rows.order_by("state_since", "pk"), {"chosen": "rows"}


def _colleague(username: str) -> Person:
    """Raises BadInput, the same for a stranger; whether they may work on a case is judged case by case."""
    found = Person.objects.filter(username=username, is_active=True).first() if username.isprintable() else None
    if found is None:
        raise BadInput(code="unknown_holder", path="$.to", problem="this person may not work on these cases")
    return found
