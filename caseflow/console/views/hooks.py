"""Programs that are told of an organisation's cases: an administrator sets them up and reads what they were told."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access
from accounts.models import Organisation
from accounts.principal import actor_of_person
from caseflow.console import hooks_page
from caseflow.console.door import console_page, get_organisation, person_of, render_page
from caseflow.console.machines_page import RotateSecretForm
from caseflow.console.problems import input_sentence
from caseflow.console.views.machines import show_form, shown_once
from caseflow.domain.errors import BadInput, NotFound
from caseflow.domain.roles import Right
from operations import hooks
from operations.hook_models import Hook, HookDelivery


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def create(request: HttpRequest, organisation: str) -> HttpResponse:
    found = get_organisation(request, organisation, Right.ADMINISTER)
    form = hooks_page.HookForm(request.POST if request.method == "POST" else None)
    heading, button = gettext("New program that is told"), gettext("Tell this program")
    if request.method != "POST" or not form.is_valid():
        return show_form(request, found, form, heading, button)
    try:
        hook, text = hooks.create_hook(organisation=found, wanted=form.wanted, by=actor_of_person(person_of(request)))
    except BadInput as error:
        field = error.params["path"].removeprefix("$.")
        form.add_error(field if field in form.fields else None, input_sentence(error.code))
        return show_form(request, found, form, heading, button)
    if text:
        return shown_once(request, found, hook.name, text)
    return redirect("console:hook", found.slug, hook.public_id)


@require_safe
@console_page
def log(request: HttpRequest, organisation: str, public_id: str) -> HttpResponse:
    found, hook = _hook(request, organisation, public_id)
    context = {"organisation": found, "page": hooks_page.gather(hook, request.GET)}
    return render_page(request, "console/machines/hook.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def rotate(request: HttpRequest, organisation: str, public_id: str) -> HttpResponse:
    found, hook = _hook(request, organisation, public_id)
    if hook.channel != Hook.Channel.WEBHOOK:
        raise NotFound
    form = RotateSecretForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        title = gettext("New secret for “%(name)s”") % {"name": hook.name}
        return show_form(request, found, form, title, gettext("Issue the secret"))
    text = hooks.rotate_secret(hook=hook, overlap=form.goes_on, by=actor_of_person(person_of(request)))
    return shown_once(request, found, hook.name, text)


@require_POST
@console_page
def switch(request: HttpRequest, organisation: str, public_id: str) -> HttpResponse:
    """`on` is 1 or 0."""
    found, hook = _hook(request, organisation, public_id)
    hooks.set_active(hook=hook, is_active=request.POST.get("on") == "1", by=actor_of_person(person_of(request)))
    return redirect("console:hook", found.slug, hook.public_id)


@require_POST
@console_page
def again(request: HttpRequest, organisation: str, public_id: str, case: str, version: int) -> HttpResponse:
    """Try once more what was given up."""
    found, hook = _hook(request, organisation, public_id)
    delivery = HookDelivery.objects.filter(hook=hook, case__public_id=case, version=version).first()
    if delivery is None:
        raise NotFound
    if hooks.send_again(delivery=delivery, by=actor_of_person(person_of(request))):
        messages.success(request, gettext("It is sent again."))
    else:
        messages.info(request, gettext("Nothing to do: it arrived, or it is on its way."))
    return redirect("console:hook", found.slug, hook.public_id)


def _hook(request: HttpRequest, organisation: str, public_id: str) -> tuple[Organisation, Hook]:
    found = get_organisation(request, organisation, Right.ADMINISTER)
    rows = Hook.objects.filter(organisation=found).select_related("organisation")
    return found, access.get_visible(rows, public_id, person_of(request), Right.ADMINISTER)
