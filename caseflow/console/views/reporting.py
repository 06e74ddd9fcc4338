"""Reports are asked for and corrected, and an administrator puts them on a schedule. GET asks, POST performs."""

from __future__ import annotations

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access
from accounts.models import Organisation
from caseflow.console.door import console_page, get_organisation, person_of, render_page
from caseflow.console.problems import input_sentence, problem_of
from caseflow.console.schedules_page import LENGTHS, AskForm, CorrectionForm, ScheduleForm, initial_of
from caseflow.domain.errors import BadInput, EditionOpen, NotFound, NotPermitted
from caseflow.domain.periods import Length
from caseflow.domain.roles import Right
from documents.wording import kind_title
from operations.models import Obligation, ReportSchedule
from operations.report_selectors import get_obligation, list_schedules
from operations.reporting import correct_report, request_report
from operations.scheduling import set_schedule, switch_off


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def ask(request: HttpRequest, organisation: str) -> HttpResponse:
    """A report of a period that is over; one that is owed already is shown, and nothing is made twice."""
    found = get_organisation(request, organisation, Right.OPEN_CASE)
    form = AskForm(found, request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        return _asked(request, found, form)
    try:
        requested = request_report(organisation=found, principal=person_of(request), **form.cleaned_data)
    except BadInput as error:
        _blame(form, error)
        return _asked(request, found, form)
    if requested.created:
        messages.success(request, gettext("The report is asked for."))
    else:
        said = {"number": requested.edition.number}
        messages.info(request, gettext("This report is owed already (edition %(number)s). No new file is made.") % said)
    return _shown(requested.obligation)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def correct(request: HttpRequest, organisation: str, department: str, kind: str, period: str) -> HttpResponse:
    """Another edition, for a reason."""
    person = person_of(request)
    obligation = get_obligation(person, organisation, department, kind, period)
    form = CorrectionForm(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        access.require(person, obligation.organisation_id, Right.RECOVER)
    if request.method != "POST" or not form.is_valid():
        context = {"form": form, "obligation": obligation, "title": kind_title(kind)}
        status = 400 if request.method == "POST" else 200
        return render_page(request, "console/reports/correct.html", context, status=status)
    try:
        requested = correct_report(obligation=obligation, reason=form.cleaned_data["reason"], person=person)
    except EditionOpen as error:
        problem = problem_of(error)
        return render_page(request, "console/refused.html", {"problem": problem}, status=problem.status)
    said = {"number": requested.edition.number}
    messages.success(request, gettext("Edition %(number)s is being prepared.") % said)
    return _shown(obligation)


@require_safe
@console_page
def schedules(request: HttpRequest) -> HttpResponse:
    """Those of every organisation that the person administers."""
    administered = list(access.organisations_with(person_of(request), Right.ADMINISTER).order_by("name", "pk"))
    if not administered:
        raise NotPermitted(right=Right.ADMINISTER.value)
    rows = [
        {"schedule": row, "kind": kind_title(row.kind), "often": LENGTHS[Length(row.length)]}
        for row in list_schedules(person_of(request))
    ]
    return render_page(request, "console/schedules/list.html", {"organisations": administered, "rows": rows})


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def schedule(request: HttpRequest, organisation: str) -> HttpResponse:
    """A new schedule, or one changed: a department has one of each kind and length."""
    found = get_organisation(request, organisation, Right.ADMINISTER)
    if request.method != "POST":
        there = _there(request, found)
        return _set(request, found, ScheduleForm(found, initial=initial_of(there, found)))
    form = ScheduleForm(found, request.POST)
    if not form.is_valid():
        return _set(request, found, form)
    try:
        set_schedule(organisation=found, wanted=form.wanted, person=person_of(request))
    except BadInput as error:
        _blame(form, error)
        return _set(request, found, form)
    messages.success(request, gettext("The schedule is set."))
    return redirect("console:schedules")


@require_POST
@console_page
def schedule_off(request: HttpRequest, organisation: str, number: int) -> HttpResponse:
    found = get_organisation(request, organisation, Right.ADMINISTER)
    row = (
        ReportSchedule.objects.select_related("organisation", "department")
        .filter(organisation=found, pk=number)
        .first()
    )
    if row is None:
        raise NotFound
    if switch_off(schedule=row, person=person_of(request)):
        messages.success(request, gettext("The schedule is switched off. What is owed already stays owed."))
    return redirect("console:schedules")


def _there(request: HttpRequest, organisation: Organisation) -> ReportSchedule | None:
    number = request.GET.get("change", "")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    rows = ReportSchedule.objects.select_related("department")
    return rows.filter(organisation=organisation, pk=int(number)).first()


def _shown(obligation: Obligation) -> HttpResponse:
    key = obligation.key
    return redirect("console:report", key.organisation, key.department, key.kind, key.period)


def _blame(form: Form, error: BadInput) -> None:
    """The refusal beside the field it is about."""
    name = error.params["path"].rpartition(".")[2].replace("grace_minutes", "grace")
    form.add_error(name if name in form.fields else None, input_sentence(error.code))


def _asked(request: HttpRequest, organisation: Organisation, form: AskForm) -> HttpResponse:
    context = {"form": form, "organisation": organisation}
    return render_page(request, "console/reports/ask.html", context, status=400 if form.errors else 200)


def _set(request: HttpRequest, organisation: Organisation, form: ScheduleForm) -> HttpResponse:
    context = {"form": form, "organisation": organisation}
    return render_page(request, "console/schedules/set.html", context, status=400 if form.errors else 200)
