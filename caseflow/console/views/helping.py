"""Help: the glossary, the promises and their limits."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from caseflow.console.door import console_page, render_page
from caseflow.console.helping import gather


@require_safe
@console_page
def help_page(request: HttpRequest) -> HttpResponse:
    return render_page(request, "console/help.html", {"page": gather()})
