"""The first page: what waits for me, and what stopped."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from caseflow.console.door import console_page, person_of, render_page
from caseflow.console.home_page import gather


@require_safe
@console_page
def home(request: HttpRequest) -> HttpResponse:
    return render_page(request, "console/home.html", {"page": gather(person_of(request))})
