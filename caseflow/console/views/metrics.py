"""What is watched, as charts with tables, and how much of what is proposed holds."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from caseflow.console import proposers_page
from caseflow.console.door import console_page, person_of, render_page
from caseflow.console.metrics_page import gather


@require_safe
@console_page
def metrics(request: HttpRequest) -> HttpResponse:
    return render_page(request, "console/metrics/page.html", {"page": gather(person_of(request), request.GET)})


@require_safe
@console_page
def proposers(request: HttpRequest) -> HttpResponse:
    page = gather(person_of(request), request.GET, proposers_page.sections)
    return render_page(request, "console/metrics/proposers.html", {"page": page})
