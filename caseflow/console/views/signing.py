"""Signing in and out. django-axes counts wrong passwords behind `authenticate`."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.signing import SignInForm
from caseflow.console.door import render_page


class SignIn(LoginView):
    """Returns to `next` where that is a page of ours."""

    authentication_form = SignInForm
    template_name = "console/sign_in.html"
    redirect_authenticated_user = True


@method_decorator(never_cache, name="dispatch")
class SignOut(LogoutView):
    """By POST only: a link somewhere else signs nobody out."""


def locked_out(request: HttpRequest, credentials: dict[str, Any] | None = None, *args: Any) -> HttpResponse:
    """Too many wrong passwords (the setting AXES_LOCKOUT_CALLABLE)."""
    return render_page(request, "console/locked_out.html", {"page_url": "/console/sign-in/"}, status=429)
