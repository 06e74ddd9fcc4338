"""The audit trail of one organisation, for its auditors: page by page, and as a file."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlencode

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit.exporting import MEDIA_TYPES
from caseflow.api import audit_shapes, schema
from caseflow.api.bodies import MAX_LIMIT, AuditExportBody, AuditQuery
from caseflow.api.reaching import get_organisation
from caseflow.api.reading import read_body, read_query
from caseflow.domain.roles import Right
from caseflow.files import file_of
from operations.trail import COLUMNS, Wanted, export_trail, list_trail, moment_of, row_of, trail_page

from .base import ApiView

_FILTERS = [
    OpenApiParameter("organisation", str, required=True, description="Short name."),
    OpenApiParameter("kind", str, description="Only events of this kind, such as role.granted."),
    OpenApiParameter("person", str, description="Only what this person did, by sign-in name."),
    OpenApiParameter("case", str, description="Only events of this case, by its id or its ticket's."),
    OpenApiParameter("since", str, description="Not before this moment, such as 2026-03-02T09:14:03+00:00."),
    OpenApiParameter("until", str, description="Before this moment."),
    OpenApiParameter("after", str, description="The place where the page before ended."),
    OpenApiParameter("limit", int, description=f"Rows of a page, 1 to {MAX_LIMIT}; 50 unless told."),
]


class AuditView(ApiView):
    limits: ClassVar = {"GET": "search"}

    @extend_schema(
        operation_id="list_audit",
        parameters=_FILTERS,
        responses=schema.answers({200: audit_shapes.TrailPageSerializer}, queries=True) | schema.FORBIDDEN,
    )
    def get(self, request: Request) -> Response:
        """Events of the organisation and of its cases, newest first. Personal values are masked."""
        query = read_query(request, AuditQuery)
        organisation = get_organisation(self.principal, query.organisation, Right.READ_AUDIT)
        wanted = _wanted(query, "$query")
        page = trail_page(list_trail(self.principal, organisation, wanted), after=query.after, limit=query.limit)
        following = ""
        if page.after:
            parameters = dict(request.query_params.items()) | {"after": page.after}
            following = f"{request.path}?{urlencode(parameters)}"
        data = audit_shapes.TrailPageSerializer({"results": page.entries, "next": following or None}).data
        return Response(data)


class AuditExportView(ApiView):
    limits: ClassVar = {"POST": "export"}

    @extend_schema(
        operation_id="export_audit",
        request=AuditExportBody,
        responses={
            (200, media_type.partition(";")[0]): OpenApiResponse(OpenApiTypes.STR, "One event a line, oldest first.")
            for media_type in MEDIA_TYPES.values()
        }
        | schema.answers({}, writes=True),
    )
    def post(self, request: Request) -> StreamingHttpResponse:
        """The events as a file. That they were taken out is recorded."""
        body = read_body(request, AuditExportBody)
        organisation = get_organisation(self.principal, body.organisation, Right.READ_AUDIT)
        entries = export_trail(self.principal, organisation, _wanted(body, "$"), form=body.form)
        rows = (row_of(entry, organisation) for entry in entries)
        return file_of(COLUMNS, rows, body.form, name=f"audit-{organisation.slug}")


def _wanted(asked: AuditQuery | AuditExportBody, path: str) -> Wanted:
    return Wanted(
        kind=asked.kind,
        person=asked.person,
        case=asked.case,
        since=moment_of(asked.since, f"{path}.since"),
        until=moment_of(asked.until, f"{path}.until"),
    )
