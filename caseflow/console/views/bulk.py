"""Orders for many cases: from a list to a frozen preview, the confirmation, the progress, and the results as a file."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Person
from accounts.sessions import background
from caseflow.console import bulk_page
from caseflow.console.bulk_page import ConfirmForm
from caseflow.console.door import console_page, person_of, render_page, render_part
from caseflow.console.limiting import limit
from caseflow.console.listing import Filters, rows_of
from caseflow.console.paging import Order, page_by_key
from caseflow.console.problems import input_sentence
from caseflow.domain.bulk import MAX_CASES, BulkKind
from caseflow.domain.errors import BadInput, BulkNotPossible
from cases.models import Case
from operations.bulk import cancel_bulk, confirm_bulk, pause_bulk, preview_bulk, resume_bulk
from operations.bulk_selectors import counts_of, get_bulk, list_bulks
from operations.models import Bulk

PAGE = 50  #: bulks


@require_safe
@console_page
def bulks(request: HttpRequest) -> HttpResponse:
    found = list_bulks(person_of(request))
    page = page_by_key(found, found, Order(newest=True), request.GET, {}, size=PAGE)
    return render_page(request, "console/bulk/list.html", {"links": page.links, "rows": bulk_page.rows_of(page.rows)})


@require_POST
@console_page
def new(request: HttpRequest) -> HttpResponse:
    """Freeze the chosen rows, or the whole list as it is filtered now."""
    limit(request, "bulk")
    person, query = person_of(request), request.POST.get("query", "").replace("\x00", "")
    filters = Filters.of(QueryDict(query.removeprefix("?")))
    kind = request.POST.get("kind", "")
    try:
        to = _colleague(person, request) if kind == BulkKind.HAND_OVER else None
        if request.POST.get("which") == "all":
            cases, wanted = rows_of(person, filters), {"list": filters.address()}
        else:
            names = request.POST.getlist("case")[: MAX_CASES + 1]
            cases, wanted = (
                Case.objects.filter(public_id__in=_sane(names)).order_by("state_since", "pk"),
                {"chosen": "rows"},
            )
        bulk = preview_bulk(person=person, kind=kind, cases=cases, wanted=wanted, to=to)
    except BadInput as error:
        messages.error(request, _sentence(error))
        return redirect(reverse("console:cases") + filters.address() + "#bulk")
    return redirect("console:bulk", bulk.public_id)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def bulk(request: HttpRequest, public_id: str) -> HttpResponse:
    """The preview or the progress; POST confirms the preview."""
    person = person_of(request)
    found = get_bulk(person, public_id)
    planned = counts_of(found).planned
    if request.method != "POST":
        return _show(request, found, ConfirmForm(planned))
    form = ConfirmForm(planned, request.POST)
    if not form.is_valid():
        return _show(request, found, form, status=400)
    try:
        confirm_bulk(bulk=found, person=person, **form.cleaned_data)
    except BadInput as error:
        name = str(error.params["path"]).rpartition(".")[2]
        form.add_error(name if name in form.fields else None, input_sentence(error.code))
        return _show(request, found, form, status=400)
    except BulkNotPossible as error:
        return _refused(request, public_id, error)
    messages.success(request, gettext("Order %(id)s is given. This page shows how far it is.") % {"id": public_id})
    return redirect("console:bulk", public_id)


@background
@require_safe
@console_page
def status(request: HttpRequest, public_id: str) -> HttpResponse:
    """The part of the page that moves."""
    person = person_of(request)
    progress = bulk_page.progress_of(get_bulk(person, public_id), person)
    return render_part(request, "console/bulk/progress.html", {"progress": progress})


@require_POST
@console_page
def pause(request: HttpRequest, public_id: str) -> HttpResponse:
    """No further case has its turn."""
    return _step(request, public_id, pause_bulk, gettext("Paused. No further case has its turn."))


@require_POST
@console_page
def resume(request: HttpRequest, public_id: str) -> HttpResponse:
    """Go on where it was."""
    return _step(request, public_id, resume_bulk, gettext("It goes on with the next case."))


@require_POST
@console_page
def cancel(request: HttpRequest, public_id: str) -> HttpResponse:
    """Skip the rest."""
    return _step(request, public_id, cancel_bulk, gettext("The rest is skipped. What was done stays done."))


def _step(request: HttpRequest, public_id: str, step: Callable[..., Bulk], said: str) -> HttpResponse:
    person = person_of(request)
    try:
        step(bulk=get_bulk(person, public_id), person=person)
    except BulkNotPossible as error:
        return _refused(request, public_id, error)
    messages.success(request, said)
    return redirect("console:bulk", public_id)


def _show(request: HttpRequest, found: Bulk, form: ConfirmForm, *, status: int = 200) -> HttpResponse:
    page = bulk_page.gather(found, person_of(request), request.GET)
    may_confirm = found.status == Bulk.Status.PREVIEW and page.mine and page.progress.counts.planned > 0
    context = {
        "bulk": found,
        "page": page,
        "progress": page.progress,
        "form": form if may_confirm else None,
        "page_url": reverse("console:bulk", args=[found.public_id]),
    }
    return render_page(request, "console/bulk/bulk.html", context, status=status)


def _refused(request: HttpRequest, public_id: str, error: BulkNotPossible) -> HttpResponse:
    """What is against it, above how it stands now."""
    messages.error(request, bulk_page.refusal_text(error.params["reason"]))
    found = get_bulk(person_of(request), public_id)
    return _show(request, found, ConfirmForm(counts_of(found).planned), status=409)


def _colleague(person: Person, request: HttpRequest) -> Person:
    found = bulk_page.colleague_named(person, request.POST.get("to", ""))
    if found is None:
        raise BadInput(code="unknown_holder", path="$.to", problem="this person may not work on these cases")
    return found


def _sane(names: list[str]) -> list[str]:
    """Without what PostgreSQL cannot be asked for."""
    return [name for name in names if name.isascii() and name.isprintable()]


def _sentence(error: BadInput) -> str:
    said = {
        "empty": gettext("Choose at least one case."),
        "too_many": gettext("This is more than one order holds. Narrow the list first."),
        "unknown_kind": gettext("Choose what to order."),
        "unknown_holder": gettext("Name a colleague who may work on these cases."),
    }
    return said.get(error.code, input_sentence(error.code))
