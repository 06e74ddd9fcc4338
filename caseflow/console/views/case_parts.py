"""What stands under one case: its whole history, its facts, its plans."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from caseflow.console import facts_page, timeline_page, versions_page
from caseflow.console.door import console_page, get_case, person_of, render_page
from caseflow.console.personal_texts import known_of


@require_safe
@console_page
def timeline(request: HttpRequest, public_id: str) -> HttpResponse:
    """Events, attempts and requests; `?show=` narrows them."""
    case = get_case(request, public_id)
    page = timeline_page.gather(case, request.GET.get("show", ""))
    context = {"case": case, "page": page, "known": known_of(case, person_of(request)), "part": "timeline"}
    return render_page(request, "console/cases/timeline.html", context)


@require_safe
@console_page
def facts(request: HttpRequest, public_id: str) -> HttpResponse:
    """Every reading of every fact."""
    case, person = get_case(request, public_id), person_of(request)
    page = facts_page.gather(case, person)
    context = {"case": case, "page": page, "known": known_of(case, person), "part": "facts"}
    return render_page(request, "console/cases/facts.html", context)


@require_safe
@console_page
def proposals(request: HttpRequest, public_id: str) -> HttpResponse:
    """Every plan beside the one before it."""
    case, person = get_case(request, public_id), person_of(request)
    page = versions_page.gather(case, person)
    context = {"case": case, "page": page, "known": known_of(case, person), "part": "proposals"}
    return render_page(request, "console/cases/versions.html", context)
