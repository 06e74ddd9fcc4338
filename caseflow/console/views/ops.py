"""How the machinery is, for who looks after it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from caseflow.console.door import console_page, person_of, render_page
from caseflow.console.ops_page import gather


@require_safe
@console_page
def ops(request: HttpRequest) -> HttpResponse:
    return render_page(request, "console/ops/page.html", {"page": gather(person_of(request))})
