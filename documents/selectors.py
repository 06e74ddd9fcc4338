"""Reading documents for pages; what a person may open is asked of `documents.access`."""

from __future__ import annotations

from .models import Document, DocumentOpening

MAX_OPENINGS = 200  #: newest that a page names


def list_editions(organisation_id: int, department_id: int, kind: str, period: str) -> list[Document]:
    """Every document of one obligation; the current one last."""
    asked = {"organisation_id": organisation_id, "department_id": department_id, "kind": kind, "period": period}
    return list(Document.objects.select_related("department").filter(**asked).order_by("edition"))


def list_openings(document_ids: list[int]) -> list[DocumentOpening]:
    """Who opened these, newest first; one query."""
    openings = DocumentOpening.objects.select_related("person", "document").filter(document__in=document_ids)
    return list(openings.order_by("-id")[:MAX_OPENINGS])
