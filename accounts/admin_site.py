"""Django admin as this installation has it: our sign-in form, and one's own new password on record."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from .models import Person
from .session_events import record_for_person
from .signing import AdminSignInForm


class AdminSite(admin.AdminSite):
    login_form = AdminSignInForm

    def password_change(  # type: ignore[override]  # Django's own sends on to another page where it was taken
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        with transaction.atomic():
            response = super().password_change(request, extra_context)
            if was_accepted(request, response) and isinstance(request.user, Person):
                record_for_person("person.password_set", request.user, None)
        return response


def was_accepted(request: HttpRequest, response: HttpResponse) -> bool:
    """A form of Django admin that was taken sends the browser on; one that was not is shown again."""
    return request.method == "POST" and response.status_code == 302
