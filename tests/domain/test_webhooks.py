"""Whether a delivery is believed: the rule of Standard Webhooks, by the server's own clock."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from caseflow.domain.webhooks import Delivery, refusal_of, signature, written

SECRET, OTHER = b"s" * 32, b"o" * 32
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def delivery(*secrets: bytes, at: datetime = NOW, id: str = "evt_1", body: bytes = b"{}") -> Delivery:
    bare = Delivery(id, str(int(at.timestamp())), "", body)
    signed = [f"v1,{base64.b64encode(signature(secret, bare)).decode()}" for secret in secrets]
    return replace(bare, signatures=" ".join(signed))


def test_the_published_example_is_believed() -> None:
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    published = Delivery(
        id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp="1614265330",
        signatures="v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        body=b'{"test": 2432232314}',
    )
    assert refusal_of(published, [secret], datetime.fromtimestamp(1614265330, UTC)) is None


@pytest.mark.parametrize("secrets", [[SECRET], [OTHER, SECRET], [SECRET, OTHER]])
def test_any_secret_in_use_is_enough(secrets: list[bytes]) -> None:
    assert refusal_of(delivery(SECRET), secrets, NOW) is None


def test_any_signature_of_several_is_enough_and_other_schemes_are_passed_over() -> None:
    two = delivery(OTHER, SECRET)
    assert refusal_of(replace(two, signatures=f"v1a,AAAA v2,x {two.signatures}"), [SECRET], NOW) is None


@pytest.mark.parametrize(
    ("age", "reason"),
    [
        (timedelta(minutes=5), None),
        (timedelta(minutes=-5), None),
        (timedelta(minutes=5, seconds=1), "too_old"),
        (timedelta(minutes=-5, seconds=-1), "too_new"),
        (timedelta(days=365), "too_old"),
    ],
)
def test_five_minutes_either_way_by_the_servers_clock(age: timedelta, reason: str | None) -> None:
    assert refusal_of(delivery(SECRET, at=NOW - age), [SECRET], NOW) == reason


@pytest.mark.parametrize(
    "change",
    [
        {"id": "evt_2"},
        {"timestamp": str(int(NOW.timestamp()) + 1)},
        {"body": b"{} "},
        {"signatures": "v1,"},
        {"signatures": "v1,not base64!"},
        {"signatures": "v1,ключ"},
        {"signatures": "v1"},
        {"signatures": ","},
    ],
)
def test_whatever_was_changed_after_signing_is_refused(change: dict[str, object]) -> None:
    assert refusal_of(replace(delivery(SECRET), **change), [SECRET], NOW) == "bad_signature"


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"id": "evt.1"},
        {"id": "е" * 5},
        {"id": "x" * 129},
        {"timestamp": ""},
        {"timestamp": "-1"},
        {"timestamp": "1e9"},
        {"timestamp": "9" * 400},
        {"signatures": ""},
    ],
)
def test_what_is_not_a_signed_delivery_at_all_is_refused(change: dict[str, str]) -> None:
    assert refusal_of(replace(delivery(SECRET), **change), [SECRET], NOW) == "unsigned"


def test_without_a_secret_nothing_is_believed() -> None:
    assert refusal_of(delivery(SECRET), [], NOW) == "bad_signature"


def test_a_signature_past_the_tenth_is_not_looked_at() -> None:
    right = delivery(SECRET)
    flood = replace(right, signatures=" ".join(["v1,AAAA"] * 10 + [right.signatures]))
    assert refusal_of(flood, [SECRET], NOW) == "bad_signature"


def test_a_secret_is_written_as_the_rule_says() -> None:
    assert written(b"\x00" * 24) == "whsec_" + "A" * 32
