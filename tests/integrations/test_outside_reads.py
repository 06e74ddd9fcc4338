"""What a read makes of the outside world: facts, missing things that are facts too, and failures of a kind."""

from __future__ import annotations

import os
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from caseflow.domain.outcomes import FaultKind, ReadFailed, Refused, Unknown
from integrations.addresses import Addresses
from integrations.mail import Mail
from integrations.payments import Payments
from integrations.subscriptions import Subscriptions
from tests.integrations.conftest import DEADLINE, Outside


def test_a_payment_is_read_with_its_money_as_text(outside: Outside, payments: Payments) -> None:
    payment = outside.new_payment(amount="990.10", note="not on the list of fields")
    assert payments.read("payment", payment, call_id="call-1") == {
        "status": "confirmed",
        "amount": "990.10",
        "expected_amount": "990.10",
        "currency": "RUB",
        "customer_id": "cus_1",
        "subscription_id": "sub_1",
    }


def test_a_customer_is_read_without_the_name(outside: Outside, payments: Payments) -> None:
    customer = {"id": "cus_read", "email": "person@example.org", "language": "ru", "name": "Person"}
    outside.ask("PUT", "/world", {"customers": [customer]})
    seen = payments.read("customer", "cus_read", call_id="call-1")
    assert seen == {"status": "known", "language": "ru", "email": "person@example.org"}


def test_something_missing_is_a_fact(outside: Outside, payments: Payments, subscriptions: Subscriptions) -> None:
    for subject in ("missing", "платёж 🙂", "a/../b", "..", "", "\ud800", "x" * 600):
        assert payments.read("payment", subject, call_id="call-1") == {"status": "not_found"}
        assert payments.read("customer", subject, call_id="call-1") == {"status": "unknown"}
        assert subscriptions.read("subscription", subject, call_id="call-1") == {"status": "not_found"}


def test_a_correction_is_read_beside_the_address_that_it_changes(outside: Outside, addresses: Addresses) -> None:
    customer, correction = outside.new_correction(check="pending", note="not on the list of fields")
    assert addresses.read("correction", correction, call_id="call-1") == {
        "status": "pending",
        "customer_id": customer,
        "check": "pending",
        "line": "Улица Мира, 2",
    }
    old = {"status": "known", "line": "Улица Мира, 1", "correction_id": None}
    assert addresses.read("address", customer, call_id="call-2") == old
    addresses.perform("apply", customer, {"correction_id": correction}, key=f"k-{correction}", call_id="call-3")
    new = {"status": "known", "line": "Улица Мира, 2", "correction_id": correction}
    assert addresses.read("address", customer, call_id="call-4") == new
    assert addresses.read("correction", correction, call_id="call-5")["status"] == "applied"
    assert addresses.read("address", "missing", call_id="call-6") == {"status": "unknown"}
    assert addresses.read("correction", "..", call_id="call-7") == {"status": "not_found"}
    outside.ask("PATCH", f"/corrections/{correction}", {"status": "withdrawn"}).raise_for_status()
    again = addresses.perform("apply", customer, {"correction_id": correction}, key=f"l-{correction}", call_id="call-8")
    assert again == Refused("correction_withdrawn", "it answered 409", FaultKind.PERMANENT)


def test_a_404_from_a_wrong_address_is_no_fact(outside: Outside) -> None:
    with closing(Payments(base_url=f"{outside.url}/elsewhere", deadline=DEADLINE)) as lost:
        assert _failure(lost, "pay_1").kind is FaultKind.PERMANENT


@pytest.mark.parametrize(
    ("fault", "kind", "code"),
    [
        ({"kind": "delay", "seconds": 3}, FaultKind.TRANSIENT, "timeout"),
        ({"kind": "drip", "seconds": 0.2}, FaultKind.TRANSIENT, "timeout"),
        ({"kind": "drip", "seconds": 0.2, "head": True}, FaultKind.TRANSIENT, "timeout"),
        ({"kind": "drop_before"}, FaultKind.TRANSIENT, "connection_lost"),
        ({"kind": "reset"}, FaultKind.TRANSIENT, "connection_lost"),
        ({"kind": "error_before", "status": 500}, FaultKind.TRANSIENT, "scripted_error"),
        ({"kind": "error_before", "status": 503}, FaultKind.TRANSIENT, "scripted_error"),
        ({"kind": "conflict"}, FaultKind.TRANSIENT, "in_progress"),
        ({"kind": "error_before", "status": 400}, FaultKind.INVALID_DATA, "scripted_error"),
        ({"kind": "error_before", "status": 422}, FaultKind.INVALID_DATA, "scripted_error"),
        ({"kind": "error_before", "status": 401}, FaultKind.NOT_PERMITTED, "scripted_error"),
        ({"kind": "error_before", "status": 403}, FaultKind.NOT_PERMITTED, "scripted_error"),
        ({"kind": "error_before", "status": 302}, FaultKind.PERMANENT, "scripted_error"),
        ({"kind": "garbage"}, FaultKind.PERMANENT, "bad_answer"),
        ({"kind": "huge"}, FaultKind.PERMANENT, "bad_answer"),
    ],
)
def test_a_failed_read_says_of_which_kind_it_is(
    outside: Outside, payments: Payments, fault: dict[str, Any], kind: FaultKind, code: str
) -> None:
    payment = outside.new_payment()
    outside.script(**fault, method="GET", times=None)
    began = time.monotonic()
    failure = _failure(payments, payment)
    assert (failure.system, failure.kind, failure.code) == ("payments", kind, code)
    assert time.monotonic() - began < DEADLINE.total_seconds() + 0.5


def test_a_refused_connection_is_transient(outside: Outside, payments: Payments) -> None:
    outside.go_down(1)
    failure = _failure(payments, "pay_1")
    assert (failure.kind, failure.code) == (FaultKind.TRANSIENT, "connection_refused")
    outside.wait_until_up()


@pytest.mark.parametrize("as_date", [False, True])
def test_too_many_requests_carry_the_wait(outside: Outside, payments: Payments, as_date: bool) -> None:
    wait = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True) if as_date else 30
    outside.script("too_many", method="GET", retry_after=wait)
    failure = _failure(payments, "pay_1")
    assert failure.kind is FaultKind.TRANSIENT
    assert failure.retry_after is not None
    assert timedelta(seconds=25) < failure.retry_after <= timedelta(seconds=30)


@pytest.mark.parametrize("wait", ["soon", "nan", "-5", "inf", "1e999", "Wed, 99 Foo 2000"])
def test_an_odd_wait_harms_nobody(outside: Outside, payments: Payments, wait: str) -> None:
    outside.script("too_many", method="GET", retry_after=wait)
    assert _failure(payments, "pay_1").retry_after in (None, timedelta(0))


@pytest.mark.parametrize(
    "odd",
    [{"amount": 990.0}, {"amount": "a lot"}, {"status": "charged_back"}, {"currency": "\ud800"}, {"currency": "R\0"}],
)
def test_a_payment_that_cannot_be_understood_is_never_a_fact(
    outside: Outside, payments: Payments, odd: dict[str, Any]
) -> None:
    payment = outside.new_payment(expected_amount="990.00")
    outside.ask("PATCH", f"/payments/{payment}", odd).raise_for_status()
    failure = _failure(payments, payment)
    assert (failure.kind, failure.code) == (FaultKind.PERMANENT, "bad_answer")


def test_a_kept_connection_that_was_closed_meanwhile_costs_nothing(outside: Outside, payments: Payments) -> None:
    payment = outside.new_payment()
    payments.read("payment", payment, call_id="call-1")
    outside.go_down(0)
    outside.wait_until_up()
    assert payments.read("payment", payment, call_id="call-2")["status"] == "confirmed"


def test_a_read_repeats_itself_only_on_a_kept_connection(outside: Outside, payments: Payments) -> None:
    payment = outside.new_payment()
    payments.read("payment", payment, call_id="call-1")
    outside.script("drop_before", method="GET", path=f"/payments/{payment}", times=1)
    assert payments.read("payment", payment, call_id="call-2")["status"] == "confirmed"
    outside.script("drop_before", method="GET", path=f"/payments/{payment}", times=2)
    assert _failure(payments, payment).code == "connection_lost"


def test_a_forked_process_opens_its_own_connections(outside: Outside, payments: Payments) -> None:
    payment = outside.new_payment()
    payments.read("payment", payment, call_id="call-1")
    child = os.fork()
    if child == 0:
        # Whatever happens, the child must never go on as a second test run.
        try:
            seen = payments.read("payment", payment, call_id="call-child")
            os._exit(0 if seen["status"] == "confirmed" else 1)
        finally:
            os._exit(2)
    for number in range(20):
        assert payments.read("payment", payment, call_id=f"call-{number}")["status"] == "confirmed"
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_a_system_does_not_offer_is_said_plainly(outside: Outside, mail: Mail, payments: Payments) -> None:
    with pytest.raises(ReadFailed) as failed:
        mail.read("letter", "1", call_id="call-1")
    assert failed.value.code == "not_readable"
    assert isinstance(payments.perform("refund", "pay_1", {}, key="k-1", call_id="call-1"), Refused)
    assert isinstance(payments.lookup(key="k-1", call_id="call-1"), Unknown)


def _failure(payments: Payments, subject: str) -> ReadFailed:
    with pytest.raises(ReadFailed) as failed:
        payments.read("payment", subject, call_id="call-1")
    return failed.value
