"""Every adapter with effects keeps the contract of design §8 against a real server over real sockets."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from caseflow.domain.outcomes import Confirmed, FaultKind, LookupOutcome, NotApplied, Outcome, Refused, Unknown
from integrations.addresses import Addresses
from integrations.contract import Adapter
from integrations.mail import Mail
from integrations.rest import RestSystem
from integrations.subscriptions import Subscriptions
from tests.integrations.conftest import DEADLINE, Outside


@dataclass
class Effect:
    """One write of one adapter, ready to be sent as often as a test wants."""

    adapter: Adapter
    operation: str
    subject: str
    request: Mapping[str, Any]
    refused_subject: str
    refusal: Refused

    def perform(self, key: str, **changes: Any) -> Outcome:
        request = {**self.request, **changes}
        return self.adapter.perform(self.operation, self.subject, request, key=key, call_id="call-perform")

    def lookup(self, key: str) -> LookupOutcome:
        return self.adapter.lookup(key=key, call_id="call-lookup")


@pytest.fixture(
    params=["subscriptions.activate", "subscriptions.deactivate", "addresses.apply", "mail.send", "described.activate"]
)
def effect(
    request: pytest.FixtureRequest,
    outside: Outside,
    subscriptions: Subscriptions,
    addresses: Addresses,
    mail: Mail,
    described_subscriptions: RestSystem,
) -> Effect:
    system, operation = request.param.split(".")
    if system == "mail":
        message = {"subject": "Доступ открыт", "text": "Здравствуйте 🙂", "reference": "T-4821"}
        refusal = Refused("bad_address", "it answered 422", FaultKind.INVALID_DATA)
        return Effect(mail, operation, "person@example.org", message, "nowhere", refusal)
    if system == "addresses":
        customer, correction = outside.new_correction()
        refusal = Refused("correction_not_found", "it answered 404", FaultKind.INVALID_DATA)
        return Effect(addresses, operation, customer, {"correction_id": correction}, "cus_missing", refusal)
    subject = outside.new_subscription(status="inactive" if operation == "activate" else "active")
    refusal = Refused("subscription_not_found", "it answered 404", FaultKind.INVALID_DATA)
    adapter = described_subscriptions if system == "described" else subscriptions
    return Effect(adapter, operation, subject, {"payment_id": "pay_1"}, "sub_missing", refusal)


def test_an_adapter_says_what_the_engine_asks_about(effect: Effect) -> None:
    adapter = effect.adapter
    assert isinstance(adapter, Adapter)
    assert adapter.honours_keys and adapter.can_lookup
    assert timedelta(0) < adapter.settles_after < adapter.key_life
    assert adapter.confirms_by == ("receipt" if adapter.name == "mail" else "read")
    assert adapter.owner.team and adapter.owner.contact
    assert effect.operation in adapter.operations


def test_an_effect_is_confirmed_and_leaves_its_request_id_in_the_ledger(
    effect: Effect, outside: Outside, key: str
) -> None:
    outcome = effect.perform(key)
    assert isinstance(outcome, Confirmed)
    (row,) = outside.effects(key)
    assert row["id"] == outcome.external_id
    assert (row["system"], row["operation"]) == (effect.adapter.name, effect.operation)
    assert (row["subject"], row["request_id"]) == (effect.subject, "call-perform")


def test_the_same_key_twice_is_one_effect(effect: Effect, outside: Outside, key: str) -> None:
    first, second = effect.perform(key), effect.perform(key)
    assert isinstance(first, Confirmed) and isinstance(second, Confirmed)
    assert second.external_id == first.external_id
    assert (first.detail["replayed"], second.detail["replayed"]) == (False, True)
    assert len(outside.effects(key)) == 1


@pytest.mark.parametrize(
    "fault", ["drop_after", "reset_after", "error_after", "garbage", "huge", "delay_after", "drip"]
)
def test_a_lost_answer_is_doubt_and_the_look_up_settles_it(
    effect: Effect, outside: Outside, key: str, fault: str
) -> None:
    outside.script(fault, seconds=1.5 if fault == "delay_after" else 0.5)
    assert isinstance(effect.perform(key), Unknown)
    assert len(outside.effects(key)) == 1
    found = effect.lookup(key)
    assert isinstance(found, Confirmed)
    assert found.external_id == outside.effects(key)[0]["id"]
    assert found.detail["operation"] == effect.operation


@pytest.mark.parametrize("fault", ["drop_before", "reset", "error_before", "conflict"])
def test_a_lost_request_is_doubt_and_the_look_up_says_not_applied(
    effect: Effect, outside: Outside, key: str, fault: str
) -> None:
    outside.script(fault)
    assert isinstance(effect.perform(key), Unknown)
    assert effect.lookup(key) == NotApplied("no_such_operation", "the system knows no operation under this key")
    assert isinstance(effect.perform(key), Confirmed)
    assert len(outside.effects(key)) == 1


def test_a_request_that_lands_after_the_deadline_is_still_one_effect(
    effect: Effect, outside: Outside, key: str
) -> None:
    outside.script("delay", seconds=1.2)
    assert effect.perform(key) == Unknown("timeout", "no answer within the deadline")
    assert isinstance(effect.perform(key), Confirmed)
    _wait_for(lambda: all(row["status"] for row in outside.requests(key)))
    assert len(outside.effects(key)) == 1


def test_a_refused_connection_is_provably_not_applied(effect: Effect, outside: Outside, key: str) -> None:
    outside.go_down(1)
    outcome = effect.perform(key)
    assert isinstance(outcome, NotApplied)
    assert outcome.code == "connection_refused"
    assert isinstance(effect.lookup(key), Unknown)
    _wait_for(lambda: isinstance(effect.perform(key), Confirmed))
    assert len(outside.effects(key)) == 1


@pytest.mark.parametrize(
    ("fault", "code"),
    [({"kind": "too_many"}, "too_many_requests"), ({"kind": "error_before", "status": 503}, "maintenance")],
)
def test_too_many_and_maintenance_are_not_applied_and_name_the_wait(
    effect: Effect, outside: Outside, key: str, fault: dict[str, Any], code: str
) -> None:
    outside.script(**fault, retry_after=7)
    assert effect.perform(key) == NotApplied(
        code, f"it answered {429 if code != 'maintenance' else 503}", timedelta(seconds=7)
    )
    assert outside.effects(key) == []


def test_a_503_that_names_no_time_is_doubt(effect: Effect, outside: Outside, key: str) -> None:
    outside.script("error_after", status=503, retry_after=7)
    assert isinstance(effect.perform(key), Unknown)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, FaultKind.INVALID_DATA),
        (401, FaultKind.NOT_PERMITTED),
        (403, FaultKind.NOT_PERMITTED),
        (405, FaultKind.PERMANENT),
    ],
)
def test_a_refusal_is_a_refusal_and_says_which_way_on_is_right(
    effect: Effect, outside: Outside, key: str, status: int, kind: FaultKind
) -> None:
    outside.script("error_before", status=status)
    assert effect.perform(key) == Refused("scripted_error", f"it answered {status}", kind)
    assert outside.effects(key) == []


@pytest.mark.parametrize("status", [302, 408, 409, 500, 502, 504, 599])
def test_an_answer_that_says_neither_yes_nor_no_is_doubt(
    effect: Effect, outside: Outside, key: str, status: int
) -> None:
    outside.script("error_before", status=status)
    assert effect.perform(key) == Unknown("scripted_error", f"it answered {status}")


def test_wrong_data_is_refused_and_changes_nothing(effect: Effect, outside: Outside, key: str) -> None:
    effect.subject = effect.refused_subject
    assert effect.perform(key) == effect.refusal
    assert outside.effects(key) == []


def test_another_body_under_the_same_key_is_refused_for_good(effect: Effect, outside: Outside, key: str) -> None:
    effect.perform(key)
    outcome = effect.perform(key, reference="another")
    assert outcome == Refused("idempotency_mismatch", "it answered 400", FaultKind.PERMANENT)
    assert len(outside.effects(key)) == 1


def test_one_key_used_by_eight_at_once_is_one_effect(effect: Effect, outside: Outside, key: str) -> None:
    outside.script("delay_after", seconds=0.3)
    start = threading.Barrier(8)

    def send(_: int) -> Outcome:
        start.wait()
        return effect.perform(key)

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(send, range(8)))
    assert len(outside.effects(key)) == 1
    assert any(isinstance(outcome, Confirmed) for outcome in outcomes)
    assert all(isinstance(outcome, Confirmed) or outcome.code == "in_progress" for outcome in outcomes)
    assert all(isinstance(outcome, Confirmed | Unknown) for outcome in outcomes)


@pytest.mark.parametrize("head", [False, True])
def test_a_slow_drip_ends_by_the_deadline(effect: Effect, outside: Outside, key: str, head: bool) -> None:
    outside.script("drip", seconds=0.2, head=head)
    began = time.monotonic()
    assert effect.perform(key) == Unknown("timeout", "no answer within the deadline")
    assert time.monotonic() - began < DEADLINE.total_seconds() + 0.5


def test_a_look_up_in_trouble_is_doubt_again(effect: Effect, outside: Outside, key: str) -> None:
    effect.perform(key)
    for fault in ("drop_before", "error_before", "too_many", "huge", "garbage", "drip"):
        outside.script(fault, method="GET", path="/operations/*", seconds=0.2)
        assert isinstance(effect.lookup(key), Unknown), fault
    assert isinstance(effect.lookup(key), Confirmed)


def test_a_404_from_a_wrong_address_never_says_not_applied(outside: Outside, key: str) -> None:
    with closing(Subscriptions(base_url=f"{outside.url}/elsewhere", deadline=DEADLINE)) as lost:
        assert isinstance(lost.lookup(key=key, call_id="call-1"), Unknown)


def test_an_operation_nobody_knows_is_refused_without_a_request(effect: Effect, outside: Outside, key: str) -> None:
    effect.operation = "refund"
    outcome = effect.perform(key)
    assert isinstance(outcome, Refused)
    assert outcome.code == "unknown_operation"
    assert outside.requests(key) == []


def test_a_write_is_sent_once_whatever_happens_to_its_connection(effect: Effect, outside: Outside, key: str) -> None:
    outside.script("reset", times=3)
    effect.perform(key)
    assert len(outside.requests(key)) == 1


def test_an_active_subscription_is_not_activated_again(
    outside: Outside, subscriptions: Subscriptions, key: str
) -> None:
    subject = outside.new_subscription(status="active")
    outcome = subscriptions.perform("activate", subject, {}, key=key, call_id="call-1")
    assert outcome == Refused("already_active", "it answered 409", FaultKind.PERMANENT)
    assert isinstance(subscriptions.lookup(key=key, call_id="call-2"), NotApplied)


def test_the_effect_can_be_read_back_with_its_key(outside: Outside, subscriptions: Subscriptions, key: str) -> None:
    subject = outside.new_subscription()
    subscriptions.perform("activate", subject, {}, key=key, call_id="call-1")
    seen = subscriptions.read("subscription", subject, call_id="call-2")
    assert (seen["status"], seen["activated_by_key"]) == ("active", key)


def _wait_for(true: Any) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end, "it never became true"
        threading.Event().wait(0.05)
