"""What has stopped, by reason, and which reports are late."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from caseflow.console.attention import gather
from caseflow.console.door import console_page, person_of, render_page
from operations.report_selectors import list_overdue

LATE = 20  #: reports named here; the list of reports has all


@require_safe
@console_page
def attention(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    late = list(list_overdue(person)[:LATE])
    return render_page(request, "console/attention.html", {"page": gather(person, request.GET), "late": late})
