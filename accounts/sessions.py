"""How long a person stays signed in: idle for a while or there for long, and the session is over (settings).

A session also ends with the password it began under, and when `end_sessions` or a dismissal counts the person's
`session_epoch` up, which is a part of what Django compares at every request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from .middleware import may_have_person
from .models import Person
from .principal import Actor
from .session_events import record_for_person

Over = Literal["", "idle", "too_long"]
View = TypeVar("View", bound=Callable[..., Any])

#: Keys of a session: moments in whole seconds since 1970, and why the session before this one ended.
SIGNED_IN_AT, SEEN_AT, ENDED = "signed_in_at", "seen_at", "ended"
NOTED_EVERY = timedelta(minutes=1)  #: of activity: not every request writes


def begin(session: SessionBase, now: datetime) -> None:
    """Both limits count from here."""
    session[SIGNED_IN_AT] = session[SEEN_AT] = int(now.timestamp())


def over(signed_in_at: int, seen_at: int, now: datetime) -> Over:
    """Why a session is over, if it is."""
    if now.timestamp() - signed_in_at >= settings.CASEFLOW_SESSION_LIMIT.total_seconds():
        return "too_long"
    if now.timestamp() - seen_at >= settings.CASEFLOW_SESSION_IDLE.total_seconds():
        return "idle"
    return ""


@dataclass(frozen=True, slots=True)
class Left:
    """How long a session still lasts without any activity; `is_fixed` where activity does not make it longer."""

    minutes: int
    is_fixed: bool


def left(session: SessionBase, now: datetime) -> Left | None:
    """Whole minutes, so that two pages of one minute are the same page; None for a session without an end."""
    if SIGNED_IN_AT not in session or SEEN_AT not in session:
        return None
    moment = int(now.timestamp())
    idle = session[SEEN_AT] + settings.CASEFLOW_SESSION_IDLE.total_seconds() - moment
    whole = session[SIGNED_IN_AT] + settings.CASEFLOW_SESSION_LIMIT.total_seconds() - moment
    return Left(max(1, int(min(idle, whole) // 60)), whole <= idle)


def renew(session: SessionBase, now: datetime) -> None:
    """The person says that they are there: the time without activity counts from here."""
    session[SEEN_AT] = int(now.timestamp())


def background(view: View) -> View:
    """A page that looks again by itself: its requests are nobody's activity and keep no session alive."""
    view.is_background = True  # type: ignore[attr-defined]
    return view


@transaction.atomic
def end_sessions(person: Person, *, by: Actor) -> None:
    """Every session of `person` is over at its next request, on every device."""
    Person.objects.filter(pk=person.pk).update(session_epoch=F("session_epoch") + 1)
    record_for_person("session.ended", person, by, reason="everywhere")


class SessionLimits:
    """Middleware after AuthenticationMiddleware. `clock` is the server's, and a test's own."""

    def __init__(
        self, get_response: Callable[[HttpRequest], HttpResponse], clock: Callable[[], datetime] = timezone.now
    ) -> None:
        self.get_response = get_response
        self.clock = clock

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if may_have_person(request) and SESSION_KEY in request.session:
            self._end_if_over(request)
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any) -> None:
        """Note that the person is active, unless the page asked by itself."""
        asks_by_itself = getattr(view, "is_background", False) or request.headers.get("X-Live") == "yes"
        if asks_by_itself or not may_have_person(request) or SESSION_KEY not in request.session:
            return
        now = int(self.clock().timestamp())
        if now - request.session[SEEN_AT] >= NOTED_EVERY.total_seconds():
            request.session[SEEN_AT] = now

    def _end_if_over(self, request: HttpRequest) -> None:
        session, now = request.session, self.clock()
        if SIGNED_IN_AT not in session or SEEN_AT not in session:
            begin(session, now)
        reason = over(session[SIGNED_IN_AT], session[SEEN_AT], now)
        if not reason:
            return
        person = request.user
        session.flush()
        request.user = AnonymousUser()
        # The sign-in page tells it; whoever comes back to a form must not think that it was sent.
        session[ENDED] = reason
        if isinstance(person, Person):
            record_for_person("session.ended", person, None, reason=reason)
