"""Taking a case, handing it over, letting it go, and writing a note: one press each, back to the case."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from accounts import access
from accounts.models import Person
from caseflow.console.door import console_page, get_case, person_of, render_page, require
from caseflow.console.problems import problem_of
from caseflow.domain.errors import BadInput, CaseflowError
from caseflow.domain.roles import Right
from cases.holding import add_note, hand_over, hold_case, release_case
from cases.models import Case


@require_POST
@console_page
def take(request: HttpRequest, public_id: str) -> HttpResponse:
    """Take the case, or hold it longer."""

    def work(case: Case, person: Person) -> str:
        held = hold_case(case_id=case.pk, person=person)
        return gettext("You have this case now.") if held.created else gettext("You have this case for longer now.")

    return _done(request, public_id, work)


@require_POST
@console_page
def release(request: HttpRequest, public_id: str) -> HttpResponse:
    """Let go of the case."""

    def work(case: Case, person: Person) -> str:
        release_case(case_id=case.pk, person=person)
        return gettext("You have let go of this case.")

    return _done(request, public_id, work)


@require_POST
@console_page
def give(request: HttpRequest, public_id: str) -> HttpResponse:
    """Hand the case over; without a name it is taken over."""

    def work(case: Case, person: Person) -> str:
        to = _colleague(case, person, request.POST.get("to", ""))
        hand_over(case_id=case.pk, to=to, person=person)
        if to.pk == person.pk:
            return gettext("You have this case now.")
        return gettext("%(person)s has this case now.") % {"person": to.get_full_name()}

    return _done(request, public_id, work)


@require_POST
@console_page
def note(request: HttpRequest, public_id: str) -> HttpResponse:
    """Write a note."""

    def work(case: Case, person: Person) -> str:
        add_note(case_id=case.pk, text=request.POST.get("text", ""), principal=person)
        return gettext("The note is kept.")

    return _done(request, public_id, work)


def _done(request: HttpRequest, public_id: str, work: Callable[[Case, Person], str]) -> HttpResponse:
    """Work on a case in sight by somebody with the right; a refusal says why and leads back."""
    found, person = get_case(request, public_id), person_of(request)
    require(request, found, Right.SUPPLY_DATA)
    try:
        messages.success(request, work(found, person))
    except CaseflowError as error:
        problem = problem_of(error)
        context = {"problem": problem, "case": found, "events": []}
        return render_page(request, "console/recoveries/conflict.html", context, status=problem.status)
    return redirect("console:case", public_id)


def _colleague(case: Case, person: Person, username: str) -> Person:
    """Raises BadInput for anybody who may not work on the case."""
    if not username:
        return person
    able = access.persons_with_right(case.organisation_id, Right.SUPPLY_DATA)
    found = able.filter(username=username.replace("\x00", "")).first()
    if found is None:
        raise BadInput(code="unknown_holder", path="$.to", problem="this person may not work on the case")
    return found
