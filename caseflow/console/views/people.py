"""Who has which role in an organisation; an administrator grants and revokes. GET asks, POST performs."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from accounts import access, granting
from accounts.models import Organisation, Person
from caseflow.console import words
from caseflow.console.door import console_page, get_organisation, person_of, render_page
from caseflow.console.people_page import GrantForm, ReasonForm, role_help, role_shown, rows_of
from caseflow.console.problems import problem_of
from caseflow.domain.errors import LastAdministrator, NotFound, NotPermitted, OwnGrant
from caseflow.domain.roles import Right, Role

PAGE = 50  #: people


@require_safe
@console_page
def people(request: HttpRequest) -> HttpResponse:
    """The first organisation that the person administers."""
    first = _administered(person_of(request)).first()
    if first is None:
        raise NotPermitted(right=Right.ADMINISTER.value)
    return redirect("console:people-of", first.slug)


@require_safe
@console_page
def people_of(request: HttpRequest, organisation: str) -> HttpResponse:
    found = get_organisation(request, organisation, Right.ADMINISTER)
    page = Paginator(granting.list_people(found), PAGE).get_page(request.GET.get("page"))
    context = {
        "organisation": found,
        "others": [one for one in _administered(person_of(request)) if one.pk != found.pk],
        "page": page,
        "rows": rows_of(found, list(page.object_list)),
        "links": _links(page),
    }
    return render_page(request, "console/people/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def grant(request: HttpRequest, organisation: str) -> HttpResponse:
    """A form, then what it would do, then doing it."""
    found = get_organisation(request, organisation, Right.ADMINISTER)
    if request.method != "POST":
        return _ask(request, found, GrantForm(found, initial=_initial(found, request.GET.get("person", ""))))
    form = GrantForm(found, request.POST)
    if not form.is_valid():
        return _ask(request, found, form, status=400)
    try:
        person = granting.find_person(found, form.cleaned_data["username"])
    except NotFound:
        form.add_error("username", gettext("Nobody here and nobody without a role has this sign-in name."))
        return _ask(request, found, form, status=400)
    role, department = form.role_chosen, form.department_chosen
    if request.POST.get("confirmed") != "yes":
        shown = role_shown(granting.Held(role, department))
        context = {"organisation": found, "form": form, "person": person, "role": shown, "help": role_help(role)}
        return render_page(request, "console/people/confirm.html", context)
    try:
        is_new = granting.grant(
            admin=person_of(request),
            person=person,
            organisation=found,
            role=role,
            department=department,
            reason=form.cleaned_data["reason"],
        )
    except OwnGrant as error:
        return _refused(request, error)
    said = {"name": person.get_full_name(), "role": words.ROLES[role.value]}
    if is_new:
        messages.success(request, gettext("%(name)s now has the role “%(role)s”.") % said)
    else:
        messages.info(request, gettext("%(name)s had the role “%(role)s” already.") % said)
    return redirect("console:people-of", found.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def revoke(request: HttpRequest, organisation: str, person: int, role: str) -> HttpResponse:
    """The confirmation with the reason, then doing it. `?department=` names the department of a report reader."""
    found = get_organisation(request, organisation, Right.ADMINISTER)
    whose, held = _held(found, person, role, request.GET.get("department", ""))
    form = ReasonForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        context = {"organisation": found, "form": form, "person": whose, "role": role_shown(held)}
        status = 400 if request.method == "POST" else 200
        return render_page(request, "console/people/revoke.html", context, status=status)
    try:
        granting.revoke(
            admin=person_of(request),
            person=whose,
            organisation=found,
            role=held.role,
            department=held.department,
            reason=form.cleaned_data["reason"],
        )
    except LastAdministrator as error:
        return _refused(request, error)
    said = {"name": whose.get_full_name(), "role": words.ROLES[held.role.value]}
    messages.success(request, gettext("%(name)s no longer has the role “%(role)s”.") % said)
    # Who gave up their own right has nothing to see here any more.
    stays = access.has_right(person_of(request), found, Right.ADMINISTER)
    return redirect("console:people-of", found.slug) if stays else redirect("console:home")


def _administered(person: Person) -> QuerySet[Organisation]:
    return access.organisations_with(person, Right.ADMINISTER).order_by("name", "pk")


def _held(organisation: Organisation, person_id: int, role: str, department: str) -> tuple[Person, granting.Held]:
    """The person and the role as it is held. Raises NotFound where this person has no such role there."""
    person = granting.list_people(organisation).filter(pk=person_id).first()
    if person is None:
        raise NotFound
    for held in granting.roles_of(organisation, [person])[person.pk]:
        if held.role.value == role and (held.department.slug if held.department else "") == department:
            return person, held
    raise NotFound


def _links(page: Page[Person]) -> dict[str, str]:
    links = {}
    if page.has_previous():
        links["previous"] = f"?page={page.previous_page_number()}"
    if page.has_next():
        links["next"] = f"?page={page.next_page_number()}"
    return links


def _initial(organisation: Organisation, person: str) -> dict[str, str]:
    if not (person.isascii() and person.isdigit() and len(person) < 19):
        return {}
    found = granting.list_people(organisation).filter(pk=int(person)).first()
    return {"username": found.username} if found else {}


def _ask(request: HttpRequest, organisation: Organisation, form: GrantForm, *, status: int = 200) -> HttpResponse:
    roles = [(words.ROLES[one.value], role_help(one)) for one in Role]
    context = {"organisation": organisation, "form": form, "roles": roles}
    return render_page(request, "console/people/grant.html", context, status=status)


def _refused(request: HttpRequest, error: OwnGrant | LastAdministrator) -> HttpResponse:
    problem = problem_of(error)
    return render_page(request, "console/refused.html", {"problem": problem}, status=problem.status)
