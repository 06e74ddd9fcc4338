"""A document's file, for people who may open it."""

from __future__ import annotations

from typing import ClassVar, Literal

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from accounts.models import Person
from caseflow.api import schema
from caseflow.api.reading import Query, read_query
from caseflow.domain.errors import NotFound
from caseflow.files import document_response
from documents.making import FORMS, MEDIA_TYPES
from documents.opening import open_document

from .base import ApiView


class DownloadQuery(Query):
    form: Literal["xlsx", "pdf", "csv"] = "xlsx"


class DocumentDownloadView(ApiView):
    limits: ClassVar = {"GET": "export"}
    http_method_names = ["get", "options"]  # who asks by HEAD would be on record for what they did not get

    @extend_schema(
        operation_id="download_document",
        parameters=[OpenApiParameter("form", str, enum=list(FORMS), description="Of the file; xlsx unless told.")],
        responses={(200, MEDIA_TYPES[form]): OpenApiResponse(OpenApiTypes.BINARY) for form in ("xlsx", "pdf")}
        | schema.answers({}, queries=True),
    )
    def get(self, request: Request, public_id: str) -> FileResponse:
        """The file. Whether you may open it is asked now, and that you did is on record before the first byte."""
        query = read_query(request, DownloadQuery)
        principal = self.principal
        if not isinstance(principal, Person):
            raise NotFound  # a machine opens nothing: to it there is no document
        return document_response(open_document(principal, public_id, query.form))
