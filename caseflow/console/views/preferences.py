"""How a person reads: language, zone, theme, density, shortcuts. Kept with the person; for a stranger in a cookie."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Language, Person
from caseflow.console.door import console_page, person_of, render_page
from caseflow.console.forms import PreferencesForm

YEAR = 365 * 24 * 60 * 60  #: seconds


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Back to the page where it was chosen; an address that is not ours, or a language we have not, changes nothing."""
    wanted = request.POST.get("language", "")
    back = request.POST.get("next", "")
    # `redirect` would also take a word for the name of a page.
    if not back.startswith("/") or not url_has_allowed_host_and_scheme(
        back, {request.get_host()}, require_https=request.is_secure()
    ):
        back = settings.LOGIN_REDIRECT_URL
    response = HttpResponseRedirect(back)
    if wanted not in Language.values:
        return response
    if isinstance(request.user, Person):
        Person.objects.filter(pk=request.user.pk).update(language=wanted)
    return _keep(response, wanted)


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def preferences(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if request.method != "POST":
        return render_page(request, "console/me.html", {"form": PreferencesForm(instance=person)})
    # The form writes what was typed into its instance, also when it is wrong: not into the person of this request.
    form = PreferencesForm(request.POST, instance=Person.objects.get(pk=person.pk))
    if not form.is_valid():
        return render_page(request, "console/me.html", {"form": form}, status=400)
    chosen = ["language", "time_zone", "theme", "density", "shortcuts", "muted_notices"]
    form.instance.save(update_fields=chosen)
    with translation.override(form.instance.language):
        messages.success(request, gettext("Preferences saved."))
    return _keep(redirect("console:me"), form.instance.language)


def _keep(response: HttpResponse, language: str) -> HttpResponse:
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=YEAR,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
    )
    return response
