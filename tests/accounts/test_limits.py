"""How often one caller may do the same, and what a lost count means."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from accounts import limits
from accounts.addresses import client_address
from accounts.limits import caller_of, spend
from accounts.models import Person, ServiceAccount
from accounts.principal import ServiceUser
from caseflow.domain.errors import TooManyRequests


@pytest.fixture(autouse=True)
def _asks_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_silent_until", 0.0)


@pytest.fixture
def three_an_hour(settings: Any) -> None:
    settings.CASEFLOW_LIMITS = {"search": (3, 3600), "export": (3, 3600)}


def test_the_fourth_of_three_is_told_when_the_window_ends(three_an_hour: None) -> None:
    for _ in range(3):
        spend("search", "person-1")
    with pytest.raises(TooManyRequests) as refusal:
        spend("search", "person-1")
    assert 3590 <= refusal.value.params["wait"] <= 3600


def test_callers_and_kinds_of_requests_are_counted_apart(three_an_hour: None) -> None:
    for caller in ("person-1", "person-2"):
        for scope in ("search", "export"):
            for _ in range(3):
                spend(scope, caller)


def test_what_has_no_limit_is_free(settings: Any) -> None:
    settings.CASEFLOW_LIMITS = {"search": (0, 1)}
    for _ in range(20):
        spend("search", "person-1")
        spend("unheard_of", "person-1")


def test_where_redis_is_away_everybody_passes_and_it_is_not_asked_at_once_again(
    three_an_hour: None, settings: Any
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    for _ in range(9):
        spend("search", "person-1")
    assert limits._silent_until > 0


def test_a_flushed_redis_forgives(three_an_hour: None, settings: Any) -> None:
    for _ in range(3):
        spend("search", "person-1")
    redis = limits._redis(settings.REDIS_URL)
    redis.delete(*redis.keys(f"caseflow:limit:{settings.CASEFLOW_LIMITS_NAME}:*"))
    spend("search", "person-1")


def test_a_person_a_machine_and_a_stranger_are_three_callers() -> None:
    request = RequestFactory().get("/")
    found = []
    for user in (Person(pk=7), ServiceUser(ServiceAccount(pk=7)), AnonymousUser()):
        request.user = user
        found.append(caller_of(request))
    assert found == ["person-7", "service-7", "address-127.0.0.1"]


@pytest.mark.parametrize(
    ("trusted", "forwarded", "seen"),
    [
        (False, "203.0.113.9", "10.0.0.1"),
        (True, "203.0.113.9", "203.0.113.9"),
        (True, "6.6.6.6, 203.0.113.9", "203.0.113.9"),  # what stands before the last is the client's own word
        (True, "", "10.0.0.1"),
        (True, "rubbish", "0.0.0.0"),  # noqa: S104
        (True, "2001:DB8:0:0::1", "2001:db8::1"),
    ],
)
def test_the_address_is_the_peers_or_what_the_trusted_proxy_says(
    settings: Any, trusted: bool, forwarded: str, seen: str
) -> None:
    settings.CASEFLOW_TRUST_PROXY = trusted
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    request = RequestFactory().get("/", headers=headers, REMOTE_ADDR="10.0.0.1")
    assert client_address(request) == seen
