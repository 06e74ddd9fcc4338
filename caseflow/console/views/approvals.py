"""Proposals that wait for a decision, and one of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.models import Person
from caseflow.console import waiting
from caseflow.console.door import console_page, get_proposal, person_of, render_page
from caseflow.console.paging import Order, page_by_key
from caseflow.console.proposal_page import JustDecided, find_just_decided, gather
from caseflow.domain.errors import NotFound

from .deciding import context_of, view_of

PAGE = 50  #: proposals
FIRST_TO_EXPIRE = Order("valid_until")


@require_safe
@console_page
def proposals(request: HttpRequest) -> HttpResponse:
    """Those I may decide; `?view=all` adds those that wait for others."""
    person = person_of(request)
    everything = request.GET.get("view") == "all"
    found = waiting.proposals_in_sight(person) if everything else waiting.proposals_for(person)
    places, chosen = waiting.places(person), {"view": "all" if everything else ""}
    page = page_by_key(found, places, FIRST_TO_EXPIRE, request.GET, chosen, size=PAGE)
    return render_page(request, "console/approvals/list.html", {"page": page, "everything": everything})


@require_safe
@console_page
def proposal(request: HttpRequest, public_id: str) -> HttpResponse:
    person = person_of(request)
    page = gather(get_proposal(request, public_id), person)
    context = context_of(page, view_of(request.GET)) | {"done": _just_decided(request, person)}
    return render_page(request, "console/approvals/proposal.html", context)


def _just_decided(request: HttpRequest, person: Person) -> JustDecided | None:
    """What `?done=` names, where it is in sight and this person decided on it."""
    if not (name := request.GET.get("done", "")):
        return None
    try:
        return find_just_decided(get_proposal(request, name), person)
    except NotFound:
        return None
