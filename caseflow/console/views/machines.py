"""Machines that call us and systems that ring us: an administrator sets them up. A secret is on one page, once."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access, machines
from accounts.models import Organisation, ServiceAccount, ServiceToken
from accounts.principal import Actor, actor_of_person
from accounts.services import revoke_token
from caseflow.console import hooks_page, vocabulary, words
from caseflow.console.door import console_page, get_organisation, person_of, render_page
from caseflow.console.machines_page import MachineForm, OwnerForm, RotateForm, RotateSecretForm, SourceForm
from caseflow.console.problems import input_sentence
from caseflow.domain.errors import BadInput, NotFound, NotPermitted
from caseflow.domain.roles import Right
from cases import webhook_sources
from cases.models import WebhookSource


@require_safe
@console_page
def first(request: HttpRequest) -> HttpResponse:
    """The first organisation that the person administers."""
    found = access.organisations_with(person_of(request), Right.ADMINISTER).order_by("name", "pk").first()
    if found is None:
        raise NotPermitted(right=Right.ADMINISTER.value)
    return redirect("console:machines", found.slug)


@require_safe
@console_page
def overview(request: HttpRequest, organisation: str) -> HttpResponse:
    found = get_organisation(request, organisation, Right.ADMINISTER)
    administered = access.organisations_with(person_of(request), Right.ADMINISTER).order_by("name", "pk")
    sources = WebhookSource.objects.filter(organisation=found).order_by("name")
    context = {
        "organisation": found,
        "others": administered.exclude(pk=found.pk),
        "machines": [(one, [words.RIGHTS[right] for right in one.rights]) for one in machines.list_machines(found)],
        "hooks": hooks_page.list_hooks(found),
        "sources": [(one, vocabulary.system_label(one.system)) for one in sources],
    }
    return render_page(request, "console/machines/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def create(request: HttpRequest, organisation: str) -> HttpResponse:
    found = get_organisation(request, organisation, Right.ADMINISTER)
    form = MachineForm(found, request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        return show_form(request, found, form, gettext("New machine"), gettext("Create the machine"))
    try:
        account, text = machines.create_machine(
            organisation=found,
            name=form.cleaned_data["name"],
            owner=form.cleaned_data["owner"],
            rights=[Right(value) for value in form.cleaned_data["rights"]],
            life=form.lasts,
            by=_by(request),
        )
    except BadInput as error:
        form.add_error("name", input_sentence(error.code))
        return show_form(request, found, form, gettext("New machine"), gettext("Create the machine"))
    return shown_once(request, found, account.name, text)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def rotate(request: HttpRequest, organisation: str, public_id: str) -> HttpResponse:
    found, account = _machine(request, organisation, public_id)
    form = RotateForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        title = gettext("New token for “%(name)s”") % {"name": account.name}
        return show_form(request, found, form, title, gettext("Issue the token"))
    text = machines.rotate_token(account=account, life=form.lasts, overlap=form.goes_on, by=_by(request))
    return shown_once(request, found, account.name, text)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def owner(request: HttpRequest, organisation: str, public_id: str) -> HttpResponse:
    found, account = _machine(request, organisation, public_id)
    form = OwnerForm(found, request.POST if request.method == "POST" else None, initial={"owner": account.owner_id})
    if request.method != "POST" or not form.is_valid():
        title = gettext("Owner of “%(name)s”") % {"name": account.name}
        return show_form(request, found, form, title, gettext("Name the owner"))
    machines.change_owner(account=account, owner=form.cleaned_data["owner"], by=_by(request))
    return redirect("console:machines", found.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def revoke(request: HttpRequest, organisation: str, public_id: str, prefix: str) -> HttpResponse:
    """Asks first: the machine that uses the token stops at its next request."""
    found, account = _machine(request, organisation, public_id)
    token = ServiceToken.objects.filter(account=account, prefix=prefix).select_related("account").first()
    if token is None:
        raise NotFound
    if request.method != "POST":
        return render_page(
            request, "console/machines/revoke.html", {"organisation": found, "account": account, "token": token}
        )
    if revoke_token(token=token, by=_by(request)):
        messages.success(request, gettext("The token cf_%(prefix)s_… is revoked.") % {"prefix": prefix})
    return redirect("console:machines", found.slug)


@require_POST
@console_page
def switch(request: HttpRequest, organisation: str, public_id: str) -> HttpResponse:
    """`on` is 1 or 0."""
    found, account = _machine(request, organisation, public_id)
    machines.switch_machine(account=account, is_active=request.POST.get("on") == "1", by=_by(request))
    return redirect("console:machines", found.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def create_source(request: HttpRequest, organisation: str) -> HttpResponse:
    found = get_organisation(request, organisation, Right.ADMINISTER)
    form = SourceForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        return show_form(request, found, form, gettext("New doorbell"), gettext("Create the doorbell"))
    try:
        source, text = webhook_sources.create_source(organisation=found, by=_by(request), **form.cleaned_data)
    except BadInput as error:
        form.add_error("name", input_sentence(error.code))
        return show_form(request, found, form, gettext("New doorbell"), gettext("Create the doorbell"))
    return shown_once(request, found, source.name, text, _address(source))


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def rotate_source(request: HttpRequest, organisation: str, public_id: str) -> HttpResponse:
    found, source = _source(request, organisation, public_id)
    form = RotateSecretForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        title = gettext("New secret for “%(name)s”") % {"name": source.name}
        return show_form(request, found, form, title, gettext("Issue the secret"))
    text = webhook_sources.rotate_secret(source=source, overlap=form.goes_on, by=_by(request))
    return shown_once(request, found, source.name, text, _address(source))


@require_POST
@console_page
def switch_source(request: HttpRequest, organisation: str, public_id: str) -> HttpResponse:
    found, source = _source(request, organisation, public_id)
    webhook_sources.set_active(source=source, is_active=request.POST.get("on") == "1", by=_by(request))
    return redirect("console:machines", found.slug)


def _machine(request: HttpRequest, organisation: str, public_id: str) -> tuple[Organisation, ServiceAccount]:
    found = get_organisation(request, organisation, Right.ADMINISTER)
    rows = ServiceAccount.objects.filter(organisation=found).select_related("organisation")
    return found, access.get_visible(rows, public_id, person_of(request), Right.ADMINISTER)


def _source(request: HttpRequest, organisation: str, public_id: str) -> tuple[Organisation, WebhookSource]:
    found = get_organisation(request, organisation, Right.ADMINISTER)
    rows = WebhookSource.objects.filter(organisation=found)
    return found, access.get_visible(rows, public_id, person_of(request), Right.ADMINISTER)


def _by(request: HttpRequest) -> Actor:
    return actor_of_person(person_of(request))


def _address(source: WebhookSource) -> str:
    return settings.CASEFLOW_BASE_URL.rstrip("/") + reverse("api:webhook", args=[source.public_id])


def show_form(request: HttpRequest, organisation: Organisation, form: object, title: str, button: str) -> HttpResponse:
    context = {"organisation": organisation, "form": form, "heading": title, "button": button}
    status = 400 if request.method == "POST" else 200
    return render_page(request, "console/machines/form.html", context, status=status)


def shown_once(
    request: HttpRequest, organisation: Organisation, name: str, text: str, address: str = ""
) -> HttpResponse:
    """In the answer itself: kept for a next page, it would lie in the session's row in clear text."""
    context = {
        "organisation": organisation,
        "name": name,
        "text": text,
        "address": address,
        "page_url": reverse("console:machines", args=[organisation.slug]),
    }
    return render_page(request, "console/machines/once.html", context)
