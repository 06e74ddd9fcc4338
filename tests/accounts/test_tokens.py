"""How machines sign in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.test import APIRequestFactory

from accounts.models import Organisation, ServiceAccount, ServiceToken
from accounts.principal import SYSTEM, principal_of
from accounts.services import create_service_account, issue_token, revoke_token
from accounts.tokens import ServiceTokenAuthentication
from caseflow.domain.roles import Right

Make = Callable[..., Any]


@pytest.fixture
def account(acme: Organisation, a_person: Make) -> ServiceAccount:
    return create_service_account(
        organisation=acme, name="intake", owner=a_person("owner"), rights=[Right.OPEN_CASE], by=SYSTEM
    )


def sign_in(header: str | None):
    headers = {} if header is None else {"Authorization": header}
    return ServiceTokenAuthentication().authenticate(APIRequestFactory().get("/", headers=headers))


def test_a_token_signs_its_account_in_with_one_query(account: ServiceAccount) -> None:
    _token, text = issue_token(account=account)
    sign_in(f"Bearer {text}")

    with CaptureQueriesContext(connection) as queries:
        user, _auth = sign_in(f"Bearer {text}")
        principal = principal_of(user)
        seen = (principal, principal.organisation.slug, principal.owner.username)

    assert seen == (account, "acme", "owner")
    assert user.is_authenticated
    assert len(queries) == 1


def test_the_last_use_is_noted_to_the_hour(account: ServiceAccount) -> None:
    token, text = issue_token(account=account)
    sign_in(f"Bearer {text}")
    first = ServiceToken.objects.get().last_used_at
    sign_in(f"Bearer {text}")
    same = ServiceToken.objects.get().last_used_at
    ServiceToken.objects.update(last_used_at=first - timedelta(hours=1, minutes=1))
    sign_in(f"Bearer {text}")

    assert token.last_used_at is None and first is not None
    assert (same, ServiceToken.objects.get().last_used_at > first) == (first, True)


def test_a_wrong_secret_is_no_use_of_the_token(account: ServiceAccount) -> None:
    _token, text = issue_token(account=account)
    with pytest.raises(AuthenticationFailed):
        sign_in(f"Bearer {text[:-1]}{'A' if text[-1] != 'A' else 'B'}")
    assert ServiceToken.objects.get().last_used_at is None


def test_the_database_keeps_no_secret(account: ServiceAccount) -> None:
    token, text = issue_token(account=account)
    secret = text.removeprefix(f"cf_{token.prefix}_")

    stored = ServiceToken.objects.values().get()

    assert len(secret) == 43
    assert not any(secret in str(value) for value in stored.values())


def test_a_wrong_an_expired_a_revoked_and_a_switched_off_token_get_one_and_the_same_answer(
    account: ServiceAccount,
) -> None:
    _good, good = issue_token(account=account)
    _old, old = issue_token(account=account, expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    gone, gone_text = issue_token(account=account)
    assert revoke_token(token=gone, by=SYSTEM)
    assert not revoke_token(token=gone, by=SYSTEM)
    wrong = good[:-1] + ("A" if good[-1] != "A" else "B")

    answers = set()
    unknown = "cf_00000000_" + "x" * 43
    for text in (wrong, old, gone_text, unknown, "", "cf_", "x" * 5000, good + "x", "é"):
        with pytest.raises(AuthenticationFailed) as refusal:
            sign_in(f"Bearer {text}")
        answers.add((refusal.value.status_code, str(refusal.value.detail)))
    ServiceAccount.objects.update(is_active=False)
    with pytest.raises(AuthenticationFailed):
        sign_in(f"Bearer {good}")

    assert len(answers) == 1


@pytest.mark.parametrize("header", [None, "Basic Zm9vOmJhcg=="])
def test_who_brings_no_bearer_token_is_left_to_the_session(header: str | None) -> None:
    assert sign_in(header) is None


def test_a_refusal_says_which_way_in_there_is() -> None:
    request = APIRequestFactory().get("/")
    assert ServiceTokenAuthentication().authenticate_header(request) == 'Bearer realm="caseflow"'
