"""Deciding: GET shows the confirmation, POST performs it. The dialogs of the proposal's page hold the same forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from actions.withdrawing import withdraw
from approvals.deciding import decide
from approvals.models import Decision, Proposal
from caseflow import traces
from caseflow.console import waiting
from caseflow.console.door import console_page, get_proposal, person_of, render_page, require
from caseflow.console.forms import AskDataForm, DecisionForm, ReasonedForm, RejectForm
from caseflow.console.history import changes_of
from caseflow.console.problems import problem_of
from caseflow.console.proposal_page import ProposalPage, gather
from caseflow.domain.errors import CaseflowError
from caseflow.domain.roles import Right

FORMS: dict[str, type[DecisionForm]] = {
    "approve": DecisionForm,
    "reject": RejectForm,
    "return": ReasonedForm,
    "ask-data": AskDataForm,
}
KINDS = {
    "approve": Decision.Kind.APPROVE,
    "reject": Decision.Kind.REJECT,
    "return": Decision.Kind.RETURN,
    "ask-data": Decision.Kind.ASK_DATA,
}


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def confirm(request: HttpRequest, public_id: str, step: str) -> HttpResponse:
    """One step of deciding on one proposal."""
    proposal = get_proposal(request, public_id)
    if request.method == "POST":
        return _perform(request, public_id, step)
    require(request, proposal.case, Right.DECIDE)
    page = gather(proposal, person_of(request))
    if step not in page.steps:
        return redirect("console:proposal", public_id)  # which says why
    return _confirmation(request, page, step, _empty_form(page, step))


@require_POST
@console_page
def take_back(request: HttpRequest, public_id: str) -> HttpResponse:
    """Withdraw an approval whose call has not begun."""
    proposal = get_proposal(request, public_id)
    try:
        withdrawn = withdraw(proposal=proposal, person=person_of(request))
    except CaseflowError as error:
        return _refused(request, public_id, error)
    again = withdrawn.proposal.public_id
    messages.success(
        request, gettext("Decision withdrawn. Nothing was sent. The plan is proposed again as %(id)s.") % {"id": again}
    )
    return redirect("console:proposal", again)


def view_of(query: Mapping[str, Any]) -> str:
    """The list that the person comes from: all in sight, or what waits for them."""
    return "all" if query.get("view") == "all" else ""


def context_of(page: ProposalPage, view: str = "") -> dict[str, Any]:
    """A page with its forms, one per step that may be taken."""
    return {
        "view": view,
        "page": page,
        "case": page.case,
        "proposal": page.proposal,
        "undo_seconds": settings.CASEFLOW_UNDO_SECONDS,
        "forms": {step.replace("-", "_"): _empty_form(page, step) for step in page.steps},
    }


def _empty_form(page: ProposalPage, step: str) -> DecisionForm:
    seen = {"digest": page.proposal.digest, "version": page.case.version}
    return FORMS[step](initial=seen, auto_id=f"{step}-%s")


def _lead_on(request: HttpRequest, proposal: Proposal, otherwise: HttpResponse) -> HttpResponse:
    """To the next one that waits in the same view, which keeps the way back; `otherwise` where none waits."""
    view = view_of(request.POST)
    following = waiting.find_next(person_of(request), proposal, everything=view == "all")
    if following is None:
        return otherwise
    query = urlencode({"done": proposal.public_id} | ({"view": view} if view else {}))
    return redirect(f"{reverse('console:proposal', args=[following.public_id])}?{query}")


def _perform(request: HttpRequest, public_id: str, step: str) -> HttpResponse:
    proposal, person = get_proposal(request, public_id), person_of(request)
    traces.bind_ids(proposal.case.public_id)
    form = FORMS[step](request.POST, auto_id=f"{step}-%s")
    if not form.is_valid():
        require(request, proposal.case, Right.DECIDE)
        return _confirmation(request, gather(proposal, person), step, form, status=400)
    try:
        decided = decide(proposal=proposal, person=person, kind=KINDS[step], **form.said)
    except CaseflowError as error:
        return _refused(request, public_id, error)
    if step == "approve":
        # There, and beside the next one, it can be withdrawn.
        return _lead_on(request, proposal, redirect("console:proposal", public_id))
    done = {
        "reject": gettext("Proposal %(id)s is rejected. Nothing was sent."),
        "return": gettext("Proposal %(id)s is returned for review. Nothing was sent."),
        "ask-data": gettext("Data is asked for. Proposal %(id)s is not used any more; nothing was sent."),
    }
    messages.success(request, done[step] % {"id": public_id})
    return _lead_on(request, proposal, redirect("console:case", decided.case.public_id))


def _confirmation(
    request: HttpRequest, page: ProposalPage, step: str, form: DecisionForm, *, status: int = 200
) -> HttpResponse:
    context = {
        **context_of(page, view_of(request.POST or request.GET)),
        "step": step,
        "form": form,
        "fragment": f"console/approvals/steps/{step.replace('-', '_')}.html",
    }
    return render_page(request, "console/approvals/confirm.html", context, status=status)


def _refused(request: HttpRequest, public_id: str, error: CaseflowError) -> HttpResponse:
    """Who decided, or what differs; read again, because the refused transaction saw something newer than we did."""
    problem = problem_of(error)
    page = gather(get_proposal(request, public_id), person_of(request))
    context = {
        "problem": problem,
        "page": page,
        "case": page.case,
        "proposal": page.proposal,
        "differences": changes_of(error.params.get("differences") or {}),
        "page_url": reverse("console:proposal", args=[public_id]),
    }
    return render_page(request, "console/approvals/conflict.html", context, status=problem.status)
