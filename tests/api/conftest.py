"""Machines and people at the REST face."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.db.models.functions import Now
from django.middleware.csrf import CSRF_ALLOWED_CHARS, CSRF_SECRET_LENGTH
from django.test import Client
from django.utils.crypto import get_random_string

from accounts.models import Organisation, Person, ServiceToken
from tests.driving import engine, simulator
from tests.factories import T4821, make_organisation, make_token

__all__ = ["engine", "simulator"]

JSON = "application/json"
CASES = "/api/v1/cases/"


class Caller:
    """Somebody who speaks JSON with the API. People are checked for CSRF as in a browser."""

    def __init__(self, client: Client, headers: dict[str, str] | None = None) -> None:
        self.client = client
        self.headers = headers or {}

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(path, query, headers=self.headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """`body` as bytes is sent as it is."""
        return self.client.post(path, body or {}, content_type=JSON, headers=self.headers | headers)


def machine_of(organisation: Organisation, **account: Any) -> Caller:
    """A machine whose token was used within the hour: a first use is noted, and would count as a change."""
    token = make_token(organisation, **account)
    ServiceToken.objects.filter(last_used_at=None).update(last_used_at=Now())
    return Caller(Client(headers={"Authorization": f"Bearer {token}"}))


def browser_of(person: Person) -> Caller:
    """A signed-in session that sends the CSRF token, as the console's pages do."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    token = get_random_string(CSRF_SECRET_LENGTH, CSRF_ALLOWED_CHARS)
    client.cookies[settings.CSRF_COOKIE_NAME] = token
    return Caller(client, {"X-CSRFToken": token})


@pytest.fixture
def acme(committing_database: None) -> Organisation:
    return make_organisation("acme")


@pytest.fixture
def machine(acme: Organisation) -> Caller:
    return machine_of(acme)


@pytest.fixture
def opened(machine: Caller) -> Callable[..., dict[str, Any]]:
    """Open a case; the answer."""

    def open_one(**changes: Any) -> dict[str, Any]:
        answer = machine.post(CASES, T4821(**changes))
        assert answer.status_code == 201, answer.content
        body: dict[str, Any] = answer.json()
        return body

    return open_one
