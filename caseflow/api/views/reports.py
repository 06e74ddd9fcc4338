"""Reports: list, ask for, show, correct."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlencode

from django.db.models import Q
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from caseflow.api import schema
from caseflow.api.bodies import MAX_LIMIT, NoQuery
from caseflow.api.reaching import get_organisation, require_recoverer
from caseflow.api.reading import read_body, read_query
from caseflow.api.report_shapes import (
    CorrectionBody,
    ReportBody,
    ReportDetailSerializer,
    ReportListQuery,
    ReportPageSerializer,
    ReportSerializer,
)
from caseflow.domain.errors import BadInput, NotFound
from caseflow.domain.periods import ObligationKey
from caseflow.domain.roles import Right
from operations.report_selectors import get_obligation, list_obligations
from operations.reporting import correct_report, request_report

from .base import ApiView

_FILTERS = [
    OpenApiParameter("organisation", str, description="Short name of an organisation."),
    OpenApiParameter("department", str, description="Short name of a department."),
    OpenApiParameter("after", str, description="Id of the last report of the page before."),
    OpenApiParameter("limit", int, description=f"Rows of a page, 1 to {MAX_LIMIT}; 50 unless told."),
]
_REPORT = OpenApiExample(
    "The requests of one day",
    value={"organisation": "acme", "department": "sales", "kind": "requests", "period": "2026-10-01"},
    request_only=True,
)


class ReportsView(ApiView):
    limits: ClassVar = {"POST": "intake"}

    @extend_schema(
        operation_id="list_reports",
        parameters=_FILTERS,
        responses=schema.answers({200: ReportPageSerializer}, queries=True),
    )
    def get(self, request: Request) -> Response:
        """The reports in sight, the newest period first."""
        query = read_query(request, ReportListQuery)
        in_sight = list_obligations(self.principal)
        names = {"organisation__slug": query.organisation, "department__slug": query.department}
        rows = in_sight.filter(**{name: value for name, value in names.items() if value})
        if query.after:
            try:
                last = get_obligation(self.principal, *_names(query.after))
                rows = rows.filter(Q(period_end__lt=last.period_end) | Q(period_end=last.period_end, pk__lt=last.pk))
            except NotFound:
                rows = rows.none()
        found = list(rows[: query.limit + 1])
        following = None
        if len(found) > query.limit:
            found = found[: query.limit]
            asked = dict(request.query_params.items()) | {"after": str(found[-1].key)}
            following = f"{request.path}?{urlencode(asked)}"
        return Response(ReportPageSerializer({"results": found, "next": following}).data)

    @extend_schema(
        operation_id="request_report",
        request=ReportBody,
        responses=schema.answers({201: ReportSerializer, 200: ReportSerializer}, writes=True),
        examples=[_REPORT],
    )
    def post(self, request: Request) -> Response:
        """Ask for a report of a closed period. One that is owed already answers 200, and nothing is made twice."""
        principal = self.principal
        body = read_body(request, ReportBody)
        requested = request_report(
            organisation=get_organisation(principal, body.organisation, Right.OPEN_CASE),
            department=body.department,
            kind=body.kind,
            period=body.period,
            principal=principal,
            recipients=body.recipients,
        )
        code = status.HTTP_201_CREATED if requested.created else status.HTTP_200_OK
        data = ReportSerializer(requested.obligation).data
        return Response(data, status=code, headers={"Location": data["links"]["self"]})


class ReportView(ApiView):
    @extend_schema(operation_id="get_report", responses=schema.answers({200: ReportDetailSerializer}))
    def get(self, request: Request, organisation: str, department: str, kind: str, period: str) -> Response:
        """One report with its editions, and the recipients of the newest."""
        read_query(request, NoQuery)
        found = get_obligation(self.principal, organisation, department, kind, period)
        return Response(ReportDetailSerializer(found).data)


class ReportCorrectionsView(ApiView):
    @extend_schema(
        operation_id="correct_report",
        request=CorrectionBody,
        responses=schema.answers({201: ReportSerializer}, writes=True),
    )
    def post(self, request: Request, organisation: str, department: str, kind: str, period: str) -> Response:
        """Prepare another edition. Both documents stay; while one is under way there is no next one."""
        person = require_recoverer(self.principal, "")
        body = read_body(request, CorrectionBody)
        found = get_obligation(person, organisation, department, kind, period)
        requested = correct_report(obligation=found, reason=body.reason, person=person)
        return Response(ReportSerializer(requested.obligation).data, status=status.HTTP_201_CREATED)


def _names(text: str) -> tuple[str, str, str, str]:
    """Raises BadInput for what is no id of a report."""
    try:
        key = ObligationKey.parse(text)
    except ValueError:
        raise BadInput(code="wrong_format", path="$query.after", problem="an id from a page before is needed") from None
    return key.organisation, key.department, key.kind, key.period
