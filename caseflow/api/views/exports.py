"""A list as a file, for people and machines who see it: its rows and nothing else, on record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from accounts.principal import Principal
from actions.desk import ActionFilter, list_for_desk
from approvals.selectors import list_waiting
from audit.exporting import MEDIA_TYPES
from caseflow import sheets
from caseflow.api import schema
from caseflow.api.export_shapes import EXPORT, ExportBody, ExportFilter
from caseflow.api.reading import read_body
from caseflow.domain.errors import BadInput
from caseflow.sheets import Sheet
from cases.attention import StoppedFilter, list_stopped
from cases.selectors import CaseFilter, list_cases
from documents.workbook import MEDIA_TYPE as XLSX
from operations.bulk_selectors import get_bulk, list_items

from .base import ApiView

Rows = Callable[[Principal, ExportFilter], QuerySet[Any]]


def _cases(principal: Principal, wanted: ExportFilter) -> QuerySet[Any]:
    named = CaseFilter(wanted.organisation, wanted.state, wanted.process, wanted.external_id, wanted.subject)
    return list_cases(principal, named)


def _actions(principal: Principal, wanted: ExportFilter) -> QuerySet[Any]:
    return list_for_desk(principal, ActionFilter(wanted.status, wanted.kind, wanted.system, wanted.organisation))


def _attention(principal: Principal, wanted: ExportFilter) -> QuerySet[Any]:
    named = StoppedFilter(wanted.organisation, wanted.process, wanted.reason, wanted.stopped_in)
    return list_stopped(principal, named).order_by("reason", "state_since", "pk")


def _approvals(principal: Principal, wanted: ExportFilter) -> QuerySet[Any]:
    rows = list_waiting(principal)
    return rows.filter(case__organisation__slug=wanted.organisation) if wanted.organisation else rows


def _bulk(principal: Principal, wanted: ExportFilter) -> QuerySet[Any]:
    """Raises NotFound."""
    return list_items(get_bulk(principal, wanted.bulk), wanted.status)


#: The list's name → its file, its rows, and the filters it knows.
LISTS: Mapping[str, tuple[Sheet, Rows, frozenset[str]]] = {
    "cases": (sheets.CASES, _cases, frozenset({"organisation", "state", "process", "external_id", "subject"})),
    "actions": (sheets.ACTIONS, _actions, frozenset({"organisation", "status", "kind", "system"})),
    "attention": (sheets.ATTENTION, _attention, frozenset({"organisation", "process", "reason", "stopped_in"})),
    "approvals": (sheets.APPROVALS, _approvals, frozenset({"organisation"})),
    "bulk": (sheets.BULK, _bulk, frozenset({"bulk", "status"})),
}


class ExportsView(ApiView):
    limits: ClassVar = {"POST": "export"}

    @extend_schema(
        operation_id="export_list",
        request=ExportBody,
        responses={
            (200, MEDIA_TYPES["csv"].partition(";")[0]): OpenApiResponse(OpenApiTypes.STR, "With a header."),
            (200, XLSX): OpenApiResponse(OpenApiTypes.BINARY, "A workbook; every cell is text."),
        }
        | schema.answers({}, writes=True),
        examples=[EXPORT],
    )
    def post(self, request: Request) -> StreamingHttpResponse:
        """The rows of a list as a file, in your language and time zone. That they were taken out is recorded."""
        body = read_body(request, ExportBody)
        sheet, rows_of, known = LISTS[body.what]
        told = {name: value for name, value in body.filter.model_dump().items() if value}
        for name in sorted(told.keys() - known):
            # A filter that is not known would show too much.
            raise BadInput(code="not_used", path=f"$.filter.{name}", problem=f"the list {body.what} has no such filter")
        return sheet.take_out(self.principal, rows_of(self.principal, body.filter), form=body.form, told=told)
