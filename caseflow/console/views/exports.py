"""Any list as a file: an answer to POST, recorded, and never more than one file holds."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from caseflow.console import metrics_export
from caseflow.console.door import console_page, person_of
from caseflow.console.exports import LISTS
from caseflow.console.limiting import limit
from caseflow.domain.errors import BadInput
from caseflow.sheets import FORMS


@require_POST
@console_page
def export(request: HttpRequest, what: str) -> HttpResponseBase:
    """The rows that the list of this address shows, or the numbers of the metrics."""
    if what not in (*LISTS, *metrics_export.PAGES):
        raise Http404
    person, form = person_of(request), request.POST.get("form", "")
    form = form if form in FORMS else FORMS[0]
    query = request.POST.get("query", "").replace("\x00", "").removeprefix("?")
    if what in metrics_export.PAGES:
        limit(request, "export")
        return metrics_export.take_out(person, QueryDict(query), what=what, form=form)
    sheet, rows_of = LISTS[what]
    rows, told = rows_of(person, QueryDict(query))
    limit(request, "export")
    try:
        return sheet.take_out(person, rows, form=form, told=told)
    except BadInput:
        messages.error(request, gettext("This is more than one file holds. Narrow the list first."))
        place = reverse("console:bulks") if what == "bulk" else reverse(f"console:{what}") + f"?{query}"
        return redirect(place)
