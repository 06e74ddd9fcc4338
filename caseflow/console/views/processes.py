"""Processes: the list, one of them, and its table as a Mermaid diagram to take along."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts import access
from caseflow.console import processes_page
from caseflow.console.addresses import plain
from caseflow.console.door import console_page, person_of, render_page
from caseflow.domain.drawing import mermaid
from caseflow.domain.roles import Right


@require_safe
@console_page
def processes(request: HttpRequest) -> HttpResponse:
    person, organisation = person_of(request), plain(request.GET, "organisation", 50)
    organisations = list(access.organisations_with(person, Right.SEE_CASES).order_by("name"))
    context = {
        "rows": processes_page.list_processes(person, organisation),
        "choices": processes_page.choices_of(organisations, organisation),
        "organisations": organisations,
        "organisation": organisation,
    }
    return render_page(request, "console/processes/list.html", context)


@require_safe
@console_page
def process(request: HttpRequest, slug: str) -> HttpResponse:
    page = processes_page.gather(person_of(request), slug, request.GET)
    return render_page(request, "console/processes/process.html", {"page": page, "picture": page.picture})


@require_safe
@console_page
def diagram(request: HttpRequest, slug: str) -> HttpResponse:
    """Plain text; a process holds no case and no secret."""
    person_of(request)
    text = "\n".join(mermaid(processes_page.newest(slug).table)) + "\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
