"""What has stopped, by reason."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from caseflow.console.attention import gather
from caseflow.console.door import console_page, person_of, render_page


@require_safe
@console_page
def attention(request: HttpRequest) -> HttpResponse:
    page = gather(person_of(request), request.GET)
    return render_page(request, "console/attention.html", {"page": page})
