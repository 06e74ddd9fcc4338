"""What the comparison with the outside systems found."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from caseflow.console.door import console_page, person_of, render_page
from caseflow.console.drift_page import gather


@require_safe
@console_page
def drift(request: HttpRequest) -> HttpResponse:
    return render_page(request, "console/drift.html", {"page": gather(person_of(request), request.GET)})
