"""Actions: the list, the desk of unknown results, and one of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from actions.selectors import get_action
from caseflow.console import action_page, actions_page
from caseflow.console.door import console_page, person_of, render_page


@require_safe
@console_page
def actions(request: HttpRequest) -> HttpResponse:
    page = actions_page.gather(person_of(request), request.GET)
    return render_page(request, "console/actions/list.html", {"page": page})


@require_safe
@console_page
def action(request: HttpRequest, public_id: str) -> HttpResponse:
    person = person_of(request)
    page = action_page.gather(get_action(person, public_id), person)
    return render_page(request, "console/actions/action.html", {"page": page, "action": page.action})
