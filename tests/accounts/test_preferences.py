"""Each person reads in their own language and time zone."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.utils import timezone, translation

from accounts.middleware import PreferencesMiddleware
from accounts.models import Person


class Asked:
    """A request's person, and whether anybody asked for them."""

    def __init__(self, person: Person | AnonymousUser) -> None:
        self.person = person
        self.times = 0


def visit(path: str, asked: Asked, *, signed_in: bool = True, **headers: str) -> tuple[str | None, str]:
    """The language and the time zone in which the page was made."""
    seen: list[tuple[str | None, str]] = []

    class Request(type(RequestFactory().get(path))):  # type: ignore[misc]
        @property
        def user(self) -> Person | AnonymousUser:
            asked.times += 1
            return asked.person

    def page(request: HttpRequest) -> HttpResponse:
        seen.append((translation.get_language(), timezone.get_current_timezone_name()))
        return HttpResponse()

    request = RequestFactory(headers=headers).get(path)
    request.__class__ = Request
    if signed_in:
        request.COOKIES[settings.SESSION_COOKIE_NAME] = "a"
    with translation.override("en"):
        PreferencesMiddleware(page)(request)
    return seen[0]


def test_a_page_is_made_in_the_persons_language_and_zone() -> None:
    asked = Asked(Person(username="a", language="ru", time_zone="Asia/Vladivostok"))
    assert visit("/console/", asked) == ("ru", "Asia/Vladivostok")
    assert timezone.get_current_timezone_name() == settings.TIME_ZONE


def test_a_zone_that_is_gone_locks_nobody_out() -> None:
    asked = Asked(Person(username="a", language="ru", time_zone="Mars/Base"))
    assert visit("/console/", asked) == ("ru", settings.TIME_ZONE)


def test_somebody_not_signed_in_reads_as_the_browser_asks() -> None:
    assert visit("/console/sign-in/", Asked(AnonymousUser())) == ("en", settings.TIME_ZONE)


@pytest.mark.parametrize(
    ("path", "headers", "signed_in"),
    [
        ("/healthz", {}, True),
        ("/static/console.css", {}, True),
        ("/api/v1/cases/", {"Authorization": "Bearer cf_a_b"}, True),
        ("/console/sign-in/", {}, False),
    ],
)
def test_probes_files_machines_and_strangers_cost_no_query_for_a_person(
    path: str, headers: dict[str, str], signed_in: bool
) -> None:
    asked = Asked(Person(username="a", language="ru"))
    visit(path, asked, signed_in=signed_in, **headers)
    assert asked.times == 0
