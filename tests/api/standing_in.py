"""A document that stands in for those that are still to come: the row of a case, reached as a document will be."""

from __future__ import annotations

from typing import ClassVar

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from caseflow.api.views.base import ApiView
from caseflow.domain.roles import Right
from caseflow.urls import handler400, handler403, handler404, handler500
from caseflow.urls import urlpatterns as all_addresses
from cases.models import Case

__all__ = ["handler400", "handler403", "handler404", "handler500"]


class StandIn(Case):
    """It belongs to the department of its case; its text is what only a reader may see."""

    organisation_path: ClassVar[str] = "organisation"
    department_path: ClassVar[str] = "department"

    class Meta:
        proxy = True
        app_label = "standing_in"


class DownloadView(ApiView):
    def get(self, request: Request, public_id: str) -> Response:
        """The document, for who may open documents of its department."""
        found = access.get_visible(StandIn.objects.all(), public_id, self.principal, Right.OPEN_DOCUMENTS)
        return Response({"document": found.public_id})


urlpatterns = [path("api/v1/documents/<str:public_id>/download/", DownloadView.as_view()), *all_addresses]
