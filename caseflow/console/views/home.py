"""The first page: what waits for me, and what stopped."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from caseflow.console import waiting
from caseflow.console.door import console_page, person_of, render_page

SHOWN = 10  #: proposals on the first page; all of them stand in the list


@require_safe
@console_page
def home(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    context = {
        "proposals": waiting.proposals_for(person)[:SHOWN],
        "attention": waiting.attention_groups(person),
    }
    return render_page(request, "console/home.html", context)
