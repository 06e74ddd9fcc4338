"""Before every page: signed in, fresh, inside one's reach. After it: the frame that all pages share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from accounts import access, sessions
from accounts.models import Organisation, Person
from accounts.principal import actor_of_person
from accounts.reach import reach_of
from approvals import selectors as proposal_selectors
from approvals.models import Proposal
from audit.services import record_access
from caseflow.domain.errors import NotFound, NotPermitted
from caseflow.domain.roles import Right
from cases import selectors as case_selectors
from cases.advancing import record_event
from cases.models import Case
from cases.rows import CaseRow

from . import navigation, pauses
from .health import health_for
from .problems import problem_of

View = Callable[..., HttpResponseBase]


def console_page(view: View) -> View:
    """Sign-in first; what is out of sight is the 404 of what does not exist; what is not permitted is a 403."""

    @never_cache
    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except NotFound:
            raise Http404 from None
        except NotPermitted as error:
            return refusal_page(request, error)

    return guarded


def person_of(request: HttpRequest) -> Person:
    """Raises NotPermitted for a machine: the console is for people."""
    if not isinstance(request.user, Person):
        raise NotPermitted(right=Right.SEE_CASES.value)
    return request.user


def get_case(request: HttpRequest, public_id: str) -> Case:
    """Raises NotFound."""
    return case_selectors.get_case(person_of(request), public_id)


def get_proposal(request: HttpRequest, public_id: str) -> Proposal:
    """Raises NotFound."""
    return proposal_selectors.get_proposal(person_of(request), public_id)


def get_organisation(request: HttpRequest, slug: str, right: Right) -> Organisation:
    """The organisation, where the person holds `right`. Raises NotFound where they hold none, and NotPermitted, which
    is put on record where something was to be changed."""
    person = person_of(request)
    # PostgreSQL cannot even be asked for a NUL.
    found = Organisation.objects.filter(slug=slug).first() if slug.isascii() and slug.isprintable() else None
    rights = access.rights_in(person, found.pk) if found else frozenset()
    if found is None or not rights:
        raise NotFound
    if right not in rights:
        if request.method == "POST":
            facts = {"right": right.value, "by": "console"}
            record_access(found.pk, "access.refused", actor=actor_of_person(person), facts=facts)
        raise NotPermitted(right=right.value)
    return found


def require(request: HttpRequest, case: Case, right: Right) -> None:
    """For a case in sight. Raises NotPermitted; a refused change is part of the case's history (design §9)."""
    person = person_of(request)
    try:
        access.require(person, case.organisation_id, right)
    except NotPermitted:
        if request.method == "POST":
            record_event(
                CaseRow.of_case(case), "access.refused", actor=actor_of_person(person), facts={"right": right.value}
            )
        raise


def render_page(
    request: HttpRequest, template: str, context: Mapping[str, Any] | None = None, *, status: int = 200
) -> HttpResponse:
    """`page_url` in the context is where a reader comes back to after choosing a language, if not here."""
    frame: dict[str, Any] = {}
    if isinstance(request.user, Person):
        # Four queries. The reach is for the frame only: each page asks again for what it shows.
        reach, counts = reach_of(request.user), navigation.counts_for(request.user)
        frame = {
            "counts": counts,
            "navigation": list(navigation.entries_for(request, counts, reach.anywhere)),
            "health": health_for(reach),
            "banner": pauses.banner_for(request.user),
            "session_left": sessions.left(request.session, timezone.now()),
        }
    return render(request, template, frame | dict(context or {}), status=status)


def render_part(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """A part of a page that is looked at again and again: without a frame, which costs four queries."""
    return render(request, template, {"fragment": True} | dict(context))


def refusal_page(
    request: HttpRequest, error: NotPermitted, *, context: Mapping[str, Any] | None = None
) -> HttpResponse:
    """In sight, but not permitted."""
    problem = problem_of(error)
    return render_page(
        request, "console/refused.html", {"problem": problem, "page_url": "/console/"} | dict(context or {}), status=403
    )
