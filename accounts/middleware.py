"""A signed-in person reads in their own language and time zone; everybody else as LocaleMiddleware decided."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

from .models import Person

#: Paths that nobody reads in a language; they must not cost a query for the person.
QUIET_PATHS = ("/healthz", "/readyz", "/static/", "/favicon.ico")


class PreferencesMiddleware:
    """Stands after LocaleMiddleware and AuthenticationMiddleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        person = request.user if may_have_person(request) else None
        if not isinstance(person, Person):
            return self.get_response(request)
        # LocaleMiddleware reads the active language again for Content-Language, so it stays on after this returns.
        translation.activate(person.language)
        request.LANGUAGE_CODE = translation.get_language()  # type: ignore[attr-defined]
        with timezone.override(_zone(person.time_zone)):
            return self.get_response(request)


def may_have_person(request: HttpRequest) -> bool:
    """Whether it is worth asking who is signed in."""
    # `request.user` costs a session and a person: not for probes, and not for machines, who have no session.
    return (
        settings.SESSION_COOKIE_NAME in request.COOKIES
        and not request.path_info.startswith(QUIET_PATHS)
        and not request.headers.get("Authorization", "").lower().startswith("bearer ")
    )


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        # A zone that the operating system has dropped must not lock anybody out.
        return ZoneInfo(settings.TIME_ZONE)
