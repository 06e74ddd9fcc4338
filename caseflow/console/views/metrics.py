"""What is watched, as charts with tables."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from caseflow.console.door import console_page, person_of, render_page
from caseflow.console.metrics_page import gather


@require_safe
@console_page
def metrics(request: HttpRequest) -> HttpResponse:
    return render_page(request, "console/metrics/page.html", {"page": gather(person_of(request), request.GET)})
