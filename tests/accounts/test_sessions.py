"""How long somebody stays signed in, and what ends it at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest, HttpResponse
from django.test import Client

from accounts.models import Organisation, Person
from accounts.principal import SYSTEM, actor_of_person
from accounts.sessions import SEEN_AT, SIGNED_IN_AT, Left, SessionLimits, background, begin, end_sessions, left, over
from audit.models import AuditEvent
from audit.services import PLATFORM, facts_of
from caseflow.domain.roles import Role

Make = Callable[..., Any]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOME = "/console/me/"


@pytest.fixture
def person(acme: Organisation, a_person: Make) -> Person:
    found: Person = a_person("anyone", acme, Role.VIEWER)
    return found


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def is_in(client: Client) -> bool:
    return bool(client.get(HOME).status_code == 200)


def events(kind: str, organisation: int) -> list[dict[str, Any]]:
    rows = AuditEvent.objects.filter(kind=kind, organisation_id=organisation).order_by("id")
    return [facts_of(row.body)["facts"] for row in rows]


@pytest.mark.parametrize(
    ("since_sign_in", "since_seen", "reason"),
    [
        (timedelta(0), timedelta(0), ""),
        (timedelta(minutes=30) - timedelta(seconds=1), timedelta(minutes=30) - timedelta(seconds=1), ""),
        (timedelta(minutes=30), timedelta(minutes=30), "idle"),
        (timedelta(hours=12) - timedelta(seconds=1), timedelta(0), ""),
        (timedelta(hours=12), timedelta(0), "too_long"),
        (timedelta(hours=13), timedelta(hours=1), "too_long"),
    ],
)
def test_a_session_ends_after_half_an_hour_of_silence_and_after_twelve_hours_in_any_case(
    since_sign_in: timedelta, since_seen: timedelta, reason: str
) -> None:
    moments = [int((NOON - since).timestamp()) for since in (since_sign_in, since_seen)]
    assert over(*moments, NOON) == reason


class Watched:
    """The middleware with a clock that the test sets, before one page and one that looks by itself."""

    def __init__(self, person: Person) -> None:
        self.now = NOON
        self.person = person
        self.session = SessionStore()
        self.session["_auth_user_id"] = str(person.pk)
        begin(self.session, NOON)
        self.middleware = SessionLimits(lambda request: HttpResponse(), clock=lambda: self.now)

    def ask(self, after: timedelta, view: Callable[..., Any] = lambda request: None) -> bool:
        """Whether the person is still signed in at the request that comes so much later."""
        self.now += after
        request = HttpRequest()
        request.session, request.user = self.session, self.person  # type: ignore[assignment]
        request.COOKIES[configured.SESSION_COOKIE_NAME] = "given"
        self.middleware(request)
        self.middleware.process_view(request, view, (), {})
        return not isinstance(request.user, AnonymousUser)


def test_who_goes_on_working_stays_in_until_the_day_is_over(person: Person) -> None:
    watched = Watched(person)
    assert all(watched.ask(timedelta(minutes=29)) for _ in range(24))  # 11 h 36 min
    assert not watched.ask(timedelta(minutes=29))
    assert events("session.ended", person.groups.get().role_group.organisation_id) == [
        {"person": person.pk, "reason": "too_long"}
    ]


def test_a_page_that_looks_again_by_itself_keeps_nobody_signed_in(person: Person) -> None:
    def status(request: HttpRequest) -> None: ...

    watched = Watched(person)
    assert all(watched.ask(timedelta(minutes=1), background(status)) for _ in range(29))
    assert not watched.ask(timedelta(minutes=1), background(status))


def test_who_answers_the_warning_stays_in_and_a_request_that_only_looks_renews_nothing(person: Person) -> None:
    client = signed_in(person)
    assert is_in(client)
    session = client.session
    session[SEEN_AT] -= 59  # less than a minute: an ordinary request would not write it
    session.save()
    before = session[SEEN_AT]
    client.get(HOME, headers={"X-Live": "yes"})
    assert client.session[SEEN_AT] == before

    answer = client.post("/console/me/stay/")

    assert (answer.json(), client.get("/console/me/stay/").status_code) == ({"minutes": 30}, 405)
    assert client.session[SEEN_AT] >= before + 59
    assert Client().post("/console/me/stay/").status_code == 302


@pytest.mark.parametrize(
    ("since_sign_in", "since_seen", "minutes", "is_fixed"),
    [
        (timedelta(0), timedelta(0), 30, False),
        (timedelta(hours=2), timedelta(seconds=61), 28, False),
        (timedelta(hours=11, minutes=50), timedelta(0), 10, True),
        (timedelta(hours=12), timedelta(0), 1, True),
    ],
)
def test_a_page_says_how_many_minutes_its_session_lasts_and_whether_activity_helps(
    since_sign_in: timedelta, since_seen: timedelta, minutes: int, is_fixed: bool
) -> None:
    session = SessionStore()
    session[SIGNED_IN_AT], session[SEEN_AT] = (int((NOON - one).timestamp()) for one in (since_sign_in, since_seen))
    assert left(session, NOON) == Left(minutes, is_fixed)


def test_not_every_request_writes_the_session(person: Person) -> None:
    watched = Watched(person)
    watched.ask(timedelta(seconds=59))
    assert watched.session[SEEN_AT] == int(NOON.timestamp())
    watched.ask(timedelta(seconds=1))
    assert watched.session[SEEN_AT] == int(watched.now.timestamp())


def test_the_part_of_a_case_that_refreshes_itself_is_such_a_page() -> None:
    from caseflow.console.views.cases import case, status

    assert getattr(status, "is_background", False)
    assert not getattr(case, "is_background", False)


def test_whoever_was_away_too_long_is_told_why_they_sign_in_again(person: Person) -> None:
    client = signed_in(person)
    session = client.session
    session[SEEN_AT] -= 1800
    session.save()

    asked = client.get(HOME)
    page = client.get(asked.url)

    assert asked.status_code == 302
    assert "30" in page.content.decode() and "banner info" in page.content.decode()


def test_a_dismissed_person_is_out_at_the_next_request_and_does_not_come_back_by_an_old_session(
    person: Person,
) -> None:
    client = signed_in(person)
    Person.objects.filter(pk=person.pk).update(is_active=False)
    away = is_in(client)
    Person.objects.filter(pk=person.pk).update(is_active=True)

    assert (away, is_in(client), is_in(signed_in(Person.objects.get()))) == (False, False, True)


def test_a_dismissed_person_who_asked_nothing_meanwhile_does_not_come_back_either(person: Person) -> None:
    client = signed_in(person)
    for is_active in (False, True):
        Person.objects.filter(pk=person.pk).update(is_active=is_active)
    assert not is_in(client)


def test_a_row_that_was_read_before_does_not_bring_ended_sessions_back(person: Person) -> None:
    client, read_before = signed_in(person), Person.objects.get(pk=person.pk)
    end_sessions(person, by=SYSTEM)
    read_before.name = "Somebody"
    read_before.save()
    assert not is_in(client)


def test_a_new_password_ends_every_session(person: Person) -> None:
    client = signed_in(person)
    person.set_password("another long password")
    person.save(update_fields=["password"])
    assert not is_in(client)


def test_signing_out_everywhere_ends_the_sessions_of_all_devices_and_is_on_record(
    acme: Organisation, person: Person
) -> None:
    here, phone, other = signed_in(person), signed_in(person), signed_in(Person.objects.create_user(username="other"))

    answer = here.post("/console/me/sign-out-everywhere/")

    assert answer.status_code == 302 and answer.url == "/console/sign-in/"
    assert (is_in(here), is_in(phone), is_in(other)) == (False, False, True)
    assert {"person": person.pk, "reason": "everywhere"} in events("session.ended", acme.pk)


def test_signing_in_gives_the_session_another_key(acme: Organisation, person: Person) -> None:
    person.set_password("correct horse battery")
    person.save()
    client = Client()
    session = client.session
    session["planted"] = "by somebody else"
    session.save()
    planted = session.session_key
    client.cookies[configured.SESSION_COOKIE_NAME] = planted

    client.post("/console/sign-in/", {"username": "anyone", "password": "correct horse battery"})

    assert client.session.session_key != planted
    assert not SessionStore().exists(planted)


def test_coming_and_going_is_on_record_in_each_of_the_persons_organisations(acme: Organisation, person: Person) -> None:
    person.set_password("correct horse battery")
    person.save()
    client = Client()
    client.post("/console/sign-in/", {"username": "anyone", "password": "correct horse battery"})
    client.post("/console/sign-out/")

    assert events("session.begun", acme.pk) == [{"address": "127.0.0.1", "person": person.pk}]
    assert events("session.ended", acme.pk) == [{"person": person.pk, "reason": "signed_out"}]
    assert events("session.begun", PLATFORM) == []


def test_a_wrong_password_is_on_record_and_a_strangers_guess_is_not_written_down(
    acme: Organisation, person: Person
) -> None:
    client = Client()
    for username in ("anyone", "MyPassw0rd!typed-here"):
        client.post("/console/sign-in/", {"username": username, "password": "Secret-1234"})

    assert events("sign_in.failed", acme.pk) == [{"address": "127.0.0.1", "person": person.pk}]
    assert events("sign_in.failed", PLATFORM) == [{"address": "127.0.0.1", "person": None}]
    written = b"".join(bytes(row.body) for row in AuditEvent.objects.all())
    assert b"Passw0rd" not in written and b"Secret" not in written


def test_the_beginning_of_a_lock_out_is_on_record_once(acme: Organisation, person: Person) -> None:
    client = Client()
    for _ in range(8):
        client.post("/console/sign-in/", {"username": "anyone", "password": "wrong"})

    assert len(events("sign_in.failed", acme.pk)) == 5
    assert len(events("sign_in.locked", acme.pk)) == 1


def test_an_end_by_somebody_else_names_who_did_it(acme: Organisation, person: Person, a_person: Make) -> None:
    admin = a_person("admin", acme, Role.ORG_ADMIN)
    end_sessions(person, by=actor_of_person(admin))
    row = AuditEvent.objects.get(kind="session.ended")
    assert (row.actor_id, facts_of(row.body)["facts"]["person"]) == (admin.pk, person.pk)
