"""The audit trail: reading it, and taking it out."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from audit.exporting import MEDIA_TYPES
from caseflow.console.door import console_page, person_of, render_page
from caseflow.console.limiting import limit
from caseflow.console.trail import Filters, gather, organisation_for
from caseflow.domain.errors import BadInput
from caseflow.files import file_of, sheet_of
from operations.trail import COLUMNS, export_trail, row_of


@require_safe
@console_page
def trail(request: HttpRequest) -> HttpResponse:
    page = gather(person_of(request), request.GET)
    return render_page(request, "console/trail/list.html", {"trail": page, "filters": page.filters})


@require_POST
@console_page
def export(request: HttpRequest) -> HttpResponseBase:
    """A file of what the filters leave; that it was taken out is recorded."""
    person, filters = person_of(request), Filters.of(request.POST)
    form = request.POST.get("form", "")
    organisation = organisation_for(person, filters)
    limit(request, "export")
    form = form if form in (*MEDIA_TYPES, "xlsx") else "jsonl"
    try:
        entries = export_trail(person, organisation, filters.wanted, form=form)
    except BadInput:
        messages.error(request, gettext("This is more than one file holds. Choose a shorter period."))
        return redirect(reverse("console:audit") + filters.address())
    rows = (row_of(entry, organisation) for entry in entries)
    if form == "xlsx":
        return sheet_of([(column, column) for column in COLUMNS], rows, form, name=f"audit-{organisation.slug}")
    return file_of(COLUMNS, rows, form, name=f"audit-{organisation.slug}")
