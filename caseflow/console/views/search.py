"""Search by any id: an exact one goes straight to its object."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from caseflow.console import searching
from caseflow.console.door import console_page, person_of, render_page


@require_safe
@console_page
def search(request: HttpRequest) -> HttpResponse:
    found = searching.search(person_of(request), request.GET)
    if found.jump:
        return HttpResponseRedirect(found.jump)
    return render_page(request, "console/search.html", {"found": found, "search": found.text})
