"""Signing in and out. django-axes counts wrong passwords behind `authenticate`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.principal import actor_of_person
from accounts.sessions import ENDED, end_sessions, left, renew
from accounts.signing import SignInForm
from caseflow.console.door import console_page, person_of, render_page


class SignIn(LoginView):
    """Returns to `next` where that is a page of ours."""

    authentication_form = SignInForm
    template_name = "console/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """`ended` says why the last session here ended, if it did by itself; `idle` and `limit` are the two limits."""
        told = {
            "ended": self.request.session.get(ENDED, ""),
            "idle": int(settings.CASEFLOW_SESSION_IDLE.total_seconds() // 60),
            "limit": int(settings.CASEFLOW_SESSION_LIMIT.total_seconds() // 3600),
        }
        return super().get_context_data(**kwargs) | told


@method_decorator(never_cache, name="dispatch")
class SignOut(LogoutView):
    """By POST only: a link somewhere else signs nobody out."""


@require_POST
@console_page
def sign_out_everywhere(request: HttpRequest) -> HttpResponse:
    """Every session of this person ends, this one first."""
    person = person_of(request)
    logout(request)
    end_sessions(person, by=actor_of_person(person))
    messages.success(request, gettext("You are signed out on every device."))
    return redirect("console:sign-in")


@require_POST
@console_page
def stay(request: HttpRequest) -> JsonResponse:
    """Somebody answered the warning before the end of the session: how many minutes it lasts now."""
    now = timezone.now()
    renew(request.session, now)
    return JsonResponse({"minutes": found.minutes if (found := left(request.session, now)) else 0})


def locked_out(request: HttpRequest, credentials: dict[str, Any] | None = None, *args: Any) -> HttpResponse:
    """Too many wrong passwords (the setting AXES_LOCKOUT_CALLABLE)."""
    response = render_page(request, "console/locked_out.html", {"page_url": "/console/sign-in/"}, status=429)
    response.headers["Retry-After"] = str(int(settings.AXES_COOLOFF_TIME.total_seconds()))
    return response
