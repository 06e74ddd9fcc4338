"""Before every page: signed in, fresh, inside one's reach. After it: the frame that all pages share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from accounts import access
from accounts.models import Person
from accounts.principal import actor_of_person
from approvals.models import Proposal
from caseflow.domain.errors import NotFound, NotPermitted
from caseflow.domain.roles import Right
from cases.advancing import record_event
from cases.models import Case
from cases.rows import CaseRow

from . import waiting
from .problems import problem_of

View = Callable[..., HttpResponse]


def console_page(view: View) -> View:
    """Sign-in first; what is out of sight is the 404 of what does not exist; what is not permitted is a 403."""

    @never_cache
    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
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
    return access.get_visible(
        Case.objects.select_related("organisation"), public_id, person_of(request), Right.SEE_CASES
    )


def get_proposal(request: HttpRequest, public_id: str) -> Proposal:
    """Raises NotFound."""
    return access.get_visible(
        Proposal.objects.select_related("case__organisation"), public_id, person_of(request), Right.SEE_CASES
    )


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
    """`page_url` in the context is where a reader comes back to after choosing a language."""
    frame: dict[str, Any] = {"theme": "system", "zone": timezone.get_current_timezone_name(), "now": timezone.now()}
    frame["page_url"] = request.get_full_path() if request.method == "GET" else request.path
    if isinstance(request.user, Person):
        frame |= {"theme": request.user.theme, "counts": waiting.counts_for(request.user)}
    return render(request, template, frame | dict(context or {}), status=status)


def refusal_page(
    request: HttpRequest, error: NotPermitted, *, context: Mapping[str, Any] | None = None
) -> HttpResponse:
    """In sight, but not permitted."""
    problem = problem_of(error)
    return render_page(
        request, "console/refused.html", {"problem": problem, "page_url": "/console/"} | dict(context or {}), status=403
    )
