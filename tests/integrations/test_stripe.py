"""Stripe through its own package: the contract of design §8 against the public fake `localstripe`, over real sockets.

The fake knows no idempotency keys, keeps no metadata of a subscription, and makes no event of a change; it cannot pause
a collection either. What Stripe promises of those is answered by a scripted server, in the words of Stripe's reference.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx2
import pytest

from caseflow.domain.outcomes import Confirmed, FaultKind, NotApplied, ReadFailed, Refused, Unknown
from integrations.contract import Adapter
from integrations.stripe_client import money
from integrations.stripe_payments import StripePayments
from integrations.stripe_subscriptions import StripeSubscriptions
from tests.integrations.between import Between, between

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = timedelta(seconds=1)
API_KEY = "sk_test_caseflow"
CARD = {"number": "4242424242424242", "exp_month": "12", "exp_year": "2040", "cvc": "123"}


class Stripe:
    """The fake's own door: what a shop did at Stripe before anybody complained."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx2.Client(base_url=url, trust_env=False, headers={"Authorization": f"Bearer {API_KEY}"})

    def post(self, path: str, **fields: Any) -> dict[str, Any]:
        answer = self._http.post(path, json=fields)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def get(self, path: str) -> dict[str, Any]:
        told: dict[str, Any] = self._http.get(path).json()
        return told

    def new_customer(self) -> str:
        customer = self.post("/v1/customers", email="person@example.org", preferred_locales=["ru-RU"])
        method = self.post("/v1/payment_methods", type="card", card=CARD)["id"]
        self.post(f"/v1/payment_methods/{method}/attach", customer=customer["id"])
        settings = {"default_payment_method": method}
        self.post(f"/v1/customers/{customer['id']}", invoice_settings=settings)
        return str(customer["id"])

    def new_payment(self, customer: str, *, paid: bool = True) -> str:
        method = self.post("/v1/payment_methods", type="card", card=CARD)["id"]
        intent = self.post(
            "/v1/payment_intents",
            amount=99000,
            currency="rub",
            customer=customer,
            metadata={"subscription_id": "sub_1"},
            **({"payment_method": method, "confirm": True} if paid else {}),
        )
        return str(intent["id"])

    def new_subscription(self, customer: str, *, stopped: bool = True) -> str:
        product = self.post("/v1/products", name="Basic", type="service")["id"]
        plan = self.post("/v1/plans", amount=99000, currency="rub", interval="month", product=product)["id"]
        subscription = self.post("/v1/subscriptions", customer=customer, items=[{"plan": plan}])
        assert subscription["status"] == "active", subscription
        if stopped:
            self.post(f"/v1/subscriptions/{subscription['id']}", cancel_at_period_end=True)
        return str(subscription["id"])

    def close(self) -> None:
        self._http.close()


@pytest.fixture(scope="module")
def stripe() -> Iterator[Stripe]:
    command = [sys.executable, "-m", "tests.integrations.local_stripe"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with closing(Stripe(process.stdout.readline().strip())) as fake:
        yield fake
    process.terminate()
    assert process.wait(10) == 0
    process.stdout.close()


@pytest.fixture(scope="module")
def customer(stripe: Stripe) -> str:
    return stripe.new_customer()


@pytest.fixture
def line(stripe: Stripe) -> Iterator[Between]:
    """The way to the fake, where answers can be lost."""
    with between(stripe.url) as found:
        yield found


@pytest.fixture
def payments(line: Between) -> Iterator[StripePayments]:
    with closing(StripePayments(api_key=API_KEY, base_url=line.url, deadline=DEADLINE)) as adapter:
        yield adapter


@pytest.fixture
def subscriptions(line: Between) -> Iterator[StripeSubscriptions]:
    with closing(
        StripeSubscriptions(api_key=API_KEY, base_url=line.url, stops_by="cancel_at_period_end", deadline=DEADLINE)
    ) as adapter:
        yield adapter


@pytest.fixture
def key() -> str:
    return f"restore_access:{uuid.uuid4()}"


# Against the fake -----------------------------------------------------------------------------------------------------


def test_both_adapters_say_what_the_engine_asks_about(
    payments: StripePayments, subscriptions: StripeSubscriptions
) -> None:
    assert isinstance(payments, Adapter) and isinstance(subscriptions, Adapter)
    assert subscriptions.honours_keys and subscriptions.can_lookup
    assert timedelta(0) < subscriptions.settles_after < subscriptions.key_life <= timedelta(hours=24)


def test_a_payment_and_its_customer_are_read_as_the_facts_of_a_case(
    stripe: Stripe, customer: str, payments: StripePayments
) -> None:
    assert payments.read("payment", stripe.new_payment(customer), call_id="call-1") == {
        "status": "confirmed",
        "amount": "990.00",
        "expected_amount": "990.00",
        "currency": "RUB",
        "customer_id": customer,
        "subscription_id": "sub_1",
    }
    unpaid = payments.read("payment", stripe.new_payment(customer, paid=False), call_id="call-2")
    assert unpaid["status"] == "pending"
    known = payments.read("customer", customer, call_id="call-3")
    assert known == {"status": "known", "language": "ru", "email": "person@example.org"}


def test_money_given_back_is_read_as_refunded(stripe: Stripe, customer: str, payments: StripePayments) -> None:
    payment = stripe.new_payment(customer)
    stripe.post("/v1/refunds", payment_intent=payment)
    assert payments.read("payment", payment, call_id="call-1")["status"] == "refunded"


def test_what_does_not_exist_is_a_fact_and_an_odd_name_asks_nobody(
    payments: StripePayments, subscriptions: StripeSubscriptions, line: Between
) -> None:
    assert payments.read("payment", "pi_missing", call_id="call-1") == {"status": "not_found"}
    assert payments.read("customer", "cus_missing", call_id="call-2") == {"status": "unknown"}
    assert subscriptions.read("subscription", "sub_missing", call_id="call-3") == {"status": "not_found"}
    asked = len(line.asked)
    assert subscriptions.read("subscription", "../customers", call_id="call-4") == {"status": "not_found"}
    assert len(line.asked) == asked


def test_a_stopped_subscription_is_let_go_on_and_read_back(
    stripe: Stripe, customer: str, subscriptions: StripeSubscriptions, key: str
) -> None:
    subject = stripe.new_subscription(customer)
    before = subscriptions.read("subscription", subject, call_id="call-1")
    assert (before["status"], before["price"], before["currency"]) == ("inactive", "990.00", "RUB")
    assert before["customer_id"] == customer
    outcome = subscriptions.perform("activate", subject, {}, key=key, call_id="call-2")
    assert outcome == Confirmed(subject, {"replayed": False})
    assert subscriptions.read("subscription", subject, call_id="call-3")["status"] == "active"
    assert isinstance(subscriptions.perform("deactivate", subject, {}, key=key, call_id="call-4"), Confirmed)
    assert stripe.get(f"/v1/subscriptions/{subject}")["cancel_at_period_end"] is True


def test_the_same_request_twice_leaves_one_effect(
    stripe: Stripe, customer: str, subscriptions: StripeSubscriptions, line: Between, key: str
) -> None:
    subject = stripe.new_subscription(customer)
    for call in ("call-1", "call-2"):
        assert isinstance(subscriptions.perform("activate", subject, {}, key=key, call_id=call), Confirmed)
    first, second = line.writes()
    # Stripe compares what came under one key: not a byte may differ.
    assert (first.body, first.headers["idempotency-key"]) == (second.body, second.headers["idempotency-key"])
    assert first.headers["idempotency-key"] == key


def test_a_lost_answer_is_doubt_and_the_subject_shows_the_effect(
    stripe: Stripe, customer: str, subscriptions: StripeSubscriptions, line: Between, key: str
) -> None:
    subject = stripe.new_subscription(customer)
    line.fail("drop_after")
    assert isinstance(subscriptions.perform("activate", subject, {}, key=key, call_id="call-1"), Unknown)
    assert subscriptions.read("subscription", subject, call_id="call-2")["status"] == "active"


def test_a_lost_request_is_doubt_and_is_sent_once_by_the_package(
    stripe: Stripe, customer: str, subscriptions: StripeSubscriptions, line: Between, key: str
) -> None:
    subject = stripe.new_subscription(customer)
    line.fail("drop_before")
    assert isinstance(subscriptions.perform("activate", subject, {}, key=key, call_id="call-1"), Unknown)
    assert len(line.writes()) == 1
    assert subscriptions.read("subscription", subject, call_id="call-2")["status"] == "inactive"


def test_a_refusal_is_a_refusal(subscriptions: StripeSubscriptions, line: Between, key: str) -> None:
    refused = subscriptions.perform("activate", "sub_missing", {}, key=key, call_id="call-1")
    assert refused == Refused("invalid_request_error", "it answered 404", FaultKind.INVALID_DATA)
    with closing(StripeSubscriptions(api_key="pk_of_somebody", base_url=line.url, deadline=DEADLINE)) as stranger:
        outcome = stranger.perform("activate", "sub_1", {}, key=key, call_id="call-2")
    assert isinstance(outcome, Refused) and outcome.kind is FaultKind.NOT_PERMITTED
    unknown = subscriptions.perform("refund", "sub_1", {}, key=key, call_id="call-3")
    assert isinstance(unknown, Refused) and unknown.code == "unknown_operation"


def test_a_refused_connection_is_provably_not_applied(key: str) -> None:
    with between() as gone:
        pass
    with closing(StripeSubscriptions(api_key=API_KEY, base_url=gone.url, deadline=DEADLINE)) as adapter:
        outcome = adapter.perform("activate", "sub_1", {}, key=key, call_id="call-1")
        assert isinstance(outcome, NotApplied) and outcome.code == "connection_refused"
        assert isinstance(adapter.lookup(key=key, call_id="call-2"), Unknown)


def test_a_slow_drip_ends_by_the_deadline(subscriptions: StripeSubscriptions, line: Between, key: str) -> None:
    line.fail("drip")
    began = time.monotonic()
    outcome = subscriptions.perform("activate", "sub_1", {}, key=key, call_id="call-1")
    assert outcome == Unknown("timeout", "no answer within the deadline")
    assert time.monotonic() - began < DEADLINE.total_seconds() + 0.5


# In Stripe's own words ------------------------------------------------------------------------------------------------


def _error(kind: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"type": kind, "message": "…", **({"code": code} if code else {})}}


@pytest.mark.parametrize(
    ("status", "kind", "code", "outcome"),
    [
        (409, "idempotency_error", "idempotency_key_in_use", Unknown),
        (500, "api_error", None, Unknown),
        (503, "api_error", None, Unknown),
        (400, "idempotency_error", None, Refused("idempotency_mismatch", "it answered 400")),
        (402, "card_error", "card_declined", Refused("card_declined", "it answered 402", FaultKind.INVALID_DATA)),
        (403, "invalid_request_error", None, FaultKind.NOT_PERMITTED),
    ],
)
def test_each_error_of_stripe_means_one_thing(
    subscriptions: StripeSubscriptions, line: Between, key: str, status: int, kind: str, code: str | None, outcome: Any
) -> None:
    line.answer(status, _error(kind, code))
    got = subscriptions.perform("activate", "sub_1", {}, key=key, call_id="call-1")
    if isinstance(outcome, FaultKind):
        assert isinstance(got, Refused) and got.kind is outcome
    elif isinstance(outcome, type):
        assert isinstance(got, outcome)
    else:
        assert got == outcome
    assert len(line.writes()) == 1


def test_too_many_requests_are_not_applied_and_name_the_wait(
    subscriptions: StripeSubscriptions, line: Between, key: str
) -> None:
    line.answer(429, _error("invalid_request_error", "rate_limit"), Retry_After="7")
    outcome = subscriptions.perform("activate", "sub_1", {}, key=key, call_id="call-1")
    assert outcome == NotApplied("rate_limit", "it answered 429", timedelta(seconds=7))


def test_a_replayed_answer_is_known_as_one(subscriptions: StripeSubscriptions, line: Between, key: str) -> None:
    line.answer(200, {"id": "sub_1", "object": "subscription", "status": "active"}, Idempotent_Replayed="true")
    outcome = subscriptions.perform("activate", "sub_1", {}, key=key, call_id="call-1")
    assert outcome == Confirmed("sub_1", {"replayed": True})
    line.answer(200, {"id": "sub_2", "object": "subscription", "status": "active"})
    assert subscriptions.perform("activate", "sub_1", {}, key=key, call_id="call-2") == Unknown(
        "bad_answer", "the answer is about something else"
    )
    line.answer(200, b"<html>")
    assert isinstance(subscriptions.perform("activate", "sub_1", {}, key=key, call_id="call-3"), Unknown)


def test_a_paused_collection_is_taken_up_again(line: Between, key: str) -> None:
    with closing(StripeSubscriptions(api_key=API_KEY, base_url=line.url, deadline=DEADLINE)) as adapter:
        line.answer(200, {"id": "sub_1", "object": "subscription", "status": "active"})
        assert isinstance(adapter.perform("activate", "sub_1", {}, key=key, call_id="call-1"), Confirmed)
        line.answer(200, {"id": "sub_1", "object": "subscription", "status": "active"})
        assert isinstance(adapter.perform("deactivate", "sub_1", {}, key=key, call_id="call-2"), Confirmed)
        line.answer(200, _subscription(pause_collection={"behavior": "void"}))
        assert adapter.read("subscription", "sub_1", call_id="call-3")["status"] == "inactive"
    taken_up, paused = [parse_qs(one.body.decode(), keep_blank_values=True) for one in line.writes()]
    assert taken_up == {"metadata[caseflow_key]": [key], "pause_collection": [""]}
    assert paused["pause_collection[behavior]"] == ["void"]


def test_an_event_under_the_key_settles_a_doubt(subscriptions: StripeSubscriptions, line: Between, key: str) -> None:
    other = _event("evt_1", "another", {})
    line.answer(200, {"object": "list", "has_more": True, "data": [other]})
    line.answer(200, {"object": "list", "has_more": False, "data": [_event("evt_2", key, {})]})
    found = subscriptions.lookup(key=key, call_id="call-1")
    assert isinstance(found, Confirmed) and found.external_id == "sub_1"
    assert "starting_after=evt_1" in line.asked[-1].path
    # A later change of somebody else still shows our mark.
    line.answer(200, {"object": "list", "has_more": False, "data": [_event("evt_3", None, {"caseflow_key": key})]})
    assert isinstance(subscriptions.lookup(key=key, call_id="call-2"), Confirmed)


def test_no_event_under_the_key_says_not_applied_only_when_all_were_seen(
    subscriptions: StripeSubscriptions, line: Between, key: str
) -> None:
    line.answer(200, {"object": "list", "has_more": False, "data": [_event("evt_1", "another", {})]})
    assert isinstance(subscriptions.lookup(key=key, call_id="call-1"), NotApplied)
    for number in range(10):
        page = {"object": "list", "has_more": True, "data": [_event(f"evt_{number}", None, {})]}
        line.answer(200, page)
    assert subscriptions.lookup(key=key, call_id="call-2").code == "too_many_events"
    line.answer(500, _error("api_error"))
    assert isinstance(subscriptions.lookup(key=key, call_id="call-3"), Unknown)


def test_stripe_is_told_nothing_but_the_request(subscriptions: StripeSubscriptions, line: Between, key: str) -> None:
    line.answer(200, {"id": "sub_1", "object": "subscription", "status": "active"})
    subscriptions.perform("activate", "sub_1", {"payment_id": "pi_1"}, key=key, call_id="call-1")
    (sent,) = line.writes()
    assert sent.headers["user-agent"] == "caseflow"
    assert not {name for name in sent.headers if "stripe-client" in name}
    assert sent.headers["authorization"] == f"Bearer {API_KEY}"


def test_a_reading_in_trouble_says_which_way_on_is_right(payments: StripePayments, line: Between) -> None:
    for status, kind in ((429, FaultKind.TRANSIENT), (500, FaultKind.TRANSIENT), (401, FaultKind.NOT_PERMITTED)):
        line.answer(status, _error("api_error"))
        with pytest.raises(ReadFailed) as failed:
            payments.read("payment", "pi_1", call_id="call-1")
        assert failed.value.kind is kind
    # A wrong address answers 404, too; only Stripe's own word makes that a fact.
    line.answer(404, {"detail": "not here"})
    with pytest.raises(ReadFailed):
        payments.read("payment", "pi_1", call_id="call-2")


@pytest.mark.parametrize(
    ("units", "currency", "written"),
    [(99000, "rub", "990.00"), (5, "usd", "0.05"), (990, "jpy", "990"), (1500, "kwd", "1.500"), (-5, "eur", "-0.05")],
)
def test_the_smallest_units_of_a_currency_become_money_as_text(units: int, currency: str, written: str) -> None:
    assert money(units, currency) == written


def _subscription(**fields: Any) -> dict[str, Any]:
    item = {"price": {"id": "price_1", "unit_amount": 99000, "currency": "rub"}, "quantity": 1}
    told = {"id": "sub_1", "object": "subscription", "status": "active", "customer": "cus_1"}
    return json.loads(json.dumps({**told, "items": {"object": "list", "data": [item]}, "metadata": {}, **fields}))


def _event(id: str, key: str | None, metadata: dict[str, str]) -> dict[str, Any]:
    changed = {"id": "sub_1", "object": "subscription", "metadata": metadata}
    asked = {"id": "req_1", "idempotency_key": key}
    return {"id": id, "object": "event", "request": asked, "data": {"object": changed}}
