"""Recoveries: GET asks for confirmation and says what will not happen, POST orders; the second person signs here."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from caseflow.console import recoveries
from caseflow.console.case_page import gather
from caseflow.console.door import console_page, get_case, person_of, refusal_page, render_page, require
from caseflow.console.problems import input_sentence, problem_of
from caseflow.console.recoveries import RecoveryForm, SignForm
from caseflow.domain.errors import BadInput, CaseflowError, NotPermitted
from caseflow.domain.recovery import RULES, Kind
from cases.models import Case
from cases.processes import get_process
from cases.selectors import get_intake
from operations.authorising import authorise_recovery, take_back_recovery
from operations.models import Recovery
from operations.ordering import order_recovery
from operations.selectors import Choices, choices_for, get_recovery


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def order(request: HttpRequest, public_id: str, kind: str) -> HttpResponse:
    """One kind of recovery of one case."""
    found, person = get_case(request, public_id), person_of(request)
    wanted = recoveries.kind_of(kind)
    if wanted is None:
        raise Http404
    choices = choices_for(person, found)
    if request.method == "POST":
        return _order(request, found, wanted, choices)
    for right in RULES[wanted].rights:
        require(request, found, right)
    if wanted not in choices.kinds:
        return redirect("console:case", public_id)  # which says what is possible
    form = _form(wanted, found, choices, initial=recoveries.seen_by(wanted, found, choices))
    return _confirmation(request, found, wanted, choices, form)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def recovery(request: HttpRequest, public_id: str) -> HttpResponse:
    """An order and what came of it; POST signs it."""
    person = person_of(request)
    row = get_recovery(person, public_id)
    if request.method == "POST":
        form = SignForm(request.POST)
        try:
            if not form.is_valid():
                raise BadInput(code="missing", path="$.version", problem="the form is incomplete")
            seen = form.cleaned_data
            authorise_recovery(
                recovery=row, person=person, seen_version=seen["version"], action_status=seen["action_status"]
            )
        except CaseflowError as error:
            return _refused(request, row.case, error)
        messages.success(request, gettext("Signed. Order %(id)s is carried out.") % {"id": public_id})
        return redirect("console:case", row.case.public_id)
    return _show(request, row)


@require_POST
@console_page
def take_back(request: HttpRequest, public_id: str) -> HttpResponse:
    """End an order that waits for a second person."""
    row = get_recovery(person_of(request), public_id)
    try:
        take_back_recovery(recovery=row, person=person_of(request))
    except CaseflowError as error:
        return _refused(request, row.case, error)
    messages.success(request, gettext("Order %(id)s is ended. Nothing was changed.") % {"id": public_id})
    return redirect("console:case", row.case.public_id)


def _order(request: HttpRequest, found: Case, kind: Kind, choices: Choices) -> HttpResponse:
    form = _form(kind, found, choices, data=request.POST)
    if not form.is_valid():
        for right in RULES[kind].rights:
            require(request, found, right)
        return _confirmation(request, found, kind, choices, form, status=400)
    try:
        ordered = order_recovery(case_id=found.pk, kind=kind, person=person_of(request), **form.said)
    except BadInput as error:
        name = str(error.params["path"]).rpartition(".")[2]
        field = next((one for one in (name, f"data_{name}") if one in form.fields), None)
        form.add_error(field, input_sentence(error.code))
        return _confirmation(request, found, kind, choices, form, status=400)
    except CaseflowError as error:
        return _refused(request, found, error)
    if ordered.recovery.status == Recovery.Status.WAITING:
        said = gettext("Order %(id)s is recorded. Nothing is changed before a second person has signed it.")
        messages.info(request, said % {"id": ordered.recovery.public_id})
    else:
        messages.success(request, gettext("Order %(id)s is carried out.") % {"id": ordered.recovery.public_id})
    return redirect("console:case", found.public_id)


def _form(
    kind: Kind,
    found: Case,
    choices: Choices,
    *,
    data: object = None,
    initial: dict[str, object] | None = None,
) -> RecoveryForm:
    known = {name: value for name, value in get_intake(found.pk).body.items() if isinstance(value, str)}
    process = get_process(found.process, found.process_version)
    name = recoveries.name_to_type(kind, found, choices)
    return RecoveryForm(kind, process, name, known, data=data, initial=initial)


def _confirmation(
    request: HttpRequest, found: Case, kind: Kind, choices: Choices, form: RecoveryForm, *, status: int = 200
) -> HttpResponse:
    context = {"case": found, "asking": recoveries.asking_of(kind, found, choices), "form": form, "kind": kind}
    return render_page(request, "console/recoveries/confirm.html", context, status=status)


def _show(request: HttpRequest, row: Recovery) -> HttpResponse:
    person, case = person_of(request), row.case
    choices = choices_for(person, case)
    line = recoveries.line_of(row, case, person, may_authorise=choices.may_authorise)
    form = None
    if line.may_sign:
        doubt = choices.seen.standing.doubt
        form = SignForm(initial={"version": case.version, "action_status": doubt.status if doubt else ""})
    context = {
        "line": line,
        "case": case,
        "known": gather(case, person),
        "form": form,
        "asking": recoveries.asking_of(Kind(row.kind), case, choices) if form else None,
        "may_authorise": choices.may_authorise,
    }
    return render_page(request, "console/recoveries/recovery.html", context)


def _refused(request: HttpRequest, found: Case, error: CaseflowError) -> HttpResponse:
    """What is against it, and what happened since the version that was seen."""
    page_url = reverse("console:case", args=[found.public_id])
    if isinstance(error, NotPermitted):
        return refusal_page(request, error, context={"page_url": page_url})
    problem = problem_of(error)
    context = {"problem": problem, "case": found, "events": error.params.get("events", []), "page_url": page_url}
    return render_page(request, "console/recoveries/conflict.html", context, status=problem.status)
