"""Cases: the list, one of them, its live part, and supplying data to it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from accounts.principal import actor_of_person
from accounts.sessions import background
from caseflow.console.bulk_page import bar_for
from caseflow.console.case_page import CasePage, gather, gather_now
from caseflow.console.case_times import times_of
from caseflow.console.door import console_page, get_case, person_of, render_page, render_part, require
from caseflow.console.forms import SupplyForm
from caseflow.console.history import history_of
from caseflow.console.limiting import limit
from caseflow.console.listing import list_cases
from caseflow.console.problems import input_sentence, problem_of
from caseflow.console.recoveries import section_of
from caseflow.domain.errors import BadInput, Purged, StaleCase
from caseflow.domain.lifecycle import State
from caseflow.domain.roles import Right
from cases.models import Case
from cases.processes import get_process
from cases.revealing import reveal
from cases.supplying import MOVED_BY_DATA, supply_data


@require_safe
@console_page
def cases(request: HttpRequest) -> HttpResponse:
    if request.GET.get("q"):
        limit(request, "search")
    person = person_of(request)
    listing = list_cases(person, request.GET)
    if listing.exact:
        return redirect("console:case", listing.exact)
    return render_page(
        request,
        "console/cases/list.html",
        {
            "listing": listing,
            "search": listing.filters.q,
            "all_address": listing.filters.address(state=""),
            "bar": bar_for(person, listing.filters.address(), listing.total),
        },
    )


@require_safe
@console_page
def case(request: HttpRequest, public_id: str) -> HttpResponse:
    found = get_case(request, public_id)
    page = gather(found, person_of(request))
    return _show(request, found, page, _supply_form(found, page))


@background
@require_safe
@console_page
def status(request: HttpRequest, public_id: str) -> HttpResponse:
    """The part of the page that machines change; `seen` is the version that the page was made with."""
    now = gather_now(get_case(request, public_id), person_of(request))
    seen = request.GET.get("seen", "")
    context = {"page": now, "case": now.case, "outdated": seen != str(now.case.version)}
    return render_part(request, "console/cases/now.html", context)


@require_POST
@console_page
def supply(request: HttpRequest, public_id: str) -> HttpResponse:
    """Changed fields become a new revision; a waiting case is checked again."""
    found, person = get_case(request, public_id), person_of(request)
    require(request, found, Right.SUPPLY_DATA)
    page = gather(found, person)
    process = get_process(found.process, found.process_version)
    form = SupplyForm(process, page.fields, page.revision, request.POST)
    if not form.is_valid():
        return _show(request, found, page, form, status=400)
    try:
        supplied = supply_data(
            case_id=found.pk,
            data=form.changed,
            actor=actor_of_person(person),
            seen_revision=form.cleaned_data["revision"],
        )
    except StaleCase as error:
        form.add_error(None, gettext("Somebody supplied other data meanwhile. Open the case again and look at it."))
        return _show(request, found, page, form, status=problem_of(error).status)
    except BadInput as error:
        name = str(error.params["path"]).rpartition(".")[2]
        form.add_error(name if name in form.fields else None, input_sentence(error.code))
        return _show(request, found, page, form, status=400)
    if supplied.moved:
        messages.success(request, gettext("Data recorded. The case is checked again."))
    else:
        messages.info(request, gettext("Data recorded. It did not move the case."))
    return redirect("console:case", public_id)


@require_POST
@console_page
def show_text(request: HttpRequest, public_id: str) -> HttpResponse:
    """The case's page with one personal text in clear. An answer to POST: its address shows nothing."""
    found, person = get_case(request, public_id), person_of(request)
    name = request.POST.get("field", "")
    try:
        revealed = {name: reveal(case=found, field=name, person=person)}
    except Purged:
        messages.info(request, gettext("The personal texts of this case were erased."))
        return redirect("console:case", public_id)
    page = gather(found, person, revealed=revealed)
    return _show(request, found, page, _supply_form(found, page))


def _supply_form(found: Case, page: CasePage) -> SupplyForm | None:
    if found.state not in MOVED_BY_DATA or (found.state != State.WAITING_DATA and not page.may_supply):
        return None
    process = get_process(found.process, found.process_version)
    return SupplyForm(process, page.fields, page.revision)


def _show(
    request: HttpRequest, found: Case, page: CasePage, form: SupplyForm | None, *, status: int = 200
) -> HttpResponse:
    history = history_of(found)
    context = {
        "page": page.now,
        "known": page,
        "hands": page.hands,
        "case": found,
        "history": history,
        "recoveries": section_of(found, person_of(request)),
        "times": times_of(found, history),
        "chain": bytes(found.audit_head).hex(),
        "printed_at": timezone.now(),
        "form": form,
        "page_url": reverse("console:case", args=[found.public_id]),
    }
    return render_page(request, "console/cases/case.html", context, status=status)
