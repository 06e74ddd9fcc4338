"""Pauses: what stands still and why, pausing, and resuming."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from caseflow.console.door import console_page, person_of, render_page
from caseflow.console.pauses import PauseForm, Reach, ResumeForm, gather, reach_of, shown
from caseflow.console.problems import input_sentence
from caseflow.domain.errors import BadInput, NotPermitted
from caseflow.domain.roles import PLATFORM, Right
from cases.models import Pause
from cases.rows import database_now
from operations.pauses import get_pause
from operations.pausing import get_organisation, pause, resume

#: Where on the form a refused value stands.
FIELDS = {"$.kind": "what", "$.name": "what", "$.organisation": "where", "$.until": "lasts", "$.reason": "reason"}


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def pauses(request: HttpRequest) -> HttpResponse:
    reach = reach_of(person_of(request))
    if request.method == "POST":
        return _pause(request, reach)
    return _show(request, reach, PauseForm(reach))


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def end(request: HttpRequest, public_id: str) -> HttpResponse:
    """GET asks, POST resumes."""
    person = person_of(request)
    found = get_pause(person, public_id)
    form = ResumeForm(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        if not reach_of(person).covers(found):
            raise NotPermitted(right=Right.RECOVER if found.kind == Pause.Kind.PROCESS else PLATFORM)
    elif form.is_valid():
        # Whoever was quicker resumed it: the page says the same.
        resume(pause=found, by=person, reason=form.cleaned_data["reason"])
        messages.success(request, gettext("Resumed. What waited goes on now."))
        return redirect("console:pauses")
    (line,) = shown([found])
    context = {"pause": line, "form": form, "page_url": reverse("console:pause-end", args=[public_id])}
    return render_page(request, "console/pauses/end.html", context, status=400 if form.errors else 200)


def _pause(request: HttpRequest, reach: Reach) -> HttpResponse:
    person, form = person_of(request), PauseForm(reach, request.POST)
    if not form.is_valid():
        return _show(request, reach, form, status=400)
    where = form.cleaned_data["where"]
    kind, name = form.kind_and_name
    try:
        paused = pause(
            kind=kind,
            name=name,
            organisation=get_organisation(person, where) if where else None,
            by=person,
            reason=form.cleaned_data["reason"],
            until=database_now() + form.length if form.length else None,
        )
    except BadInput as error:
        form.add_error(FIELDS[str(error.params["path"])], input_sentence(error.code))
        return _show(request, reach, form, status=400)
    if paused.created:
        messages.success(request, gettext("Paused. What waits is kept and goes on when somebody resumes."))
    elif paused.prolonged:
        messages.success(request, gettext("It was paused already; it lasts longer now."))
    else:
        messages.info(request, gettext("It was paused already, for at least as long."))
    return redirect("console:pauses")


def _show(request: HttpRequest, reach: Reach, form: PauseForm, *, status: int = 200) -> HttpResponse:
    page = gather(person_of(request), reach)
    context = {"page": page, "form": form, "page_url": reverse("console:pauses")}
    return render_page(request, "console/pauses/list.html", context, status=status)
