"""Regular reports and their documents. Whether a document may be opened is asked at every request for it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from accounts import access
from caseflow.console import document_page, reports_page
from caseflow.console.door import console_page, person_of, render_page
from caseflow.console.limiting import limit
from caseflow.domain.roles import Right
from caseflow.files import document_response
from documents.access import get_document
from documents.opening import open_document
from operations.report_selectors import get_obligation


@require_safe
@console_page
def reports(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    page = reports_page.gather_list(person, request.GET)
    askable = access.organisations_with(person, Right.OPEN_CASE).order_by("name", "pk")
    return render_page(request, "console/reports/list.html", {"page": page, "askable": askable})


@require_safe
@console_page
def report(request: HttpRequest, organisation: str, department: str, kind: str, period: str) -> HttpResponse:
    """For who sees the organisation's cases, and for who may open the department's documents."""
    person = person_of(request)
    rights = (Right.SEE_CASES, Right.OPEN_DOCUMENTS)
    obligation = get_obligation(person, organisation, department, kind, period, rights=rights)
    page = reports_page.gather(person, obligation)
    standing = page.current.standing
    context = {
        "page": page,
        "obligation": obligation,
        "editions": list(obligation.editions.all()),
        "edition": standing.edition,
        "case": standing.case,
        "person": person,
        "may_correct": access.has_right(person, obligation.organisation_id, Right.RECOVER),
    }
    return render_page(request, "console/reports/report.html", context)


@require_safe
@console_page
def document(request: HttpRequest, public_id: str) -> HttpResponse:
    found = get_document(person_of(request), public_id)
    page = document_page.gather(person_of(request), found)
    return render_page(request, "console/documents/document.html", {"page": page, "document": found})


@require_safe
@console_page
def download(request: HttpRequest, public_id: str, form: str) -> HttpResponseBase:
    """The file; that it was opened is on record before the first byte."""
    person = person_of(request)
    if request.method == "HEAD":
        # Whoever only asks what there is has opened nothing.
        get_document(person, public_id)
        return HttpResponse()
    limit(request, "export")
    return document_response(open_document(person, public_id, form))
