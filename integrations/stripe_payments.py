"""Payments and customers as Stripe knows them: read, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from integrations.answers import optional_text, text
from integrations.contract import Owner
from integrations.http import BadAnswer
from integrations.stripe_client import StripeSystem, money

#: Stripe's status of a payment intent → ours. Whatever can still become a payment is pending.
STATUSES = {
    "succeeded": "confirmed",
    "processing": "pending",
    "requires_action": "pending",
    "requires_capture": "pending",
    "requires_confirmation": "pending",
    "requires_payment_method": "pending",
    "canceled": "failed",
}


class StripePayments(StripeSystem):
    name = "payments"
    owner = Owner(team="Payments", contact="payments@example.org")
    readable = frozenset({"payment", "customer"})

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """The same facts as `integrations.payments`: `payment` of a payment intent, `customer` of a customer.

        A subscription is known only where whoever took the payment wrote `subscription_id` into its metadata.
        Raises ReadFailed.
        """
        match name:
            case "payment":
                params: Any = {"expand": ["latest_charge"]}
                return self._fact(
                    subject,
                    lambda stripe: stripe.v1.payment_intents.retrieve(subject, params),
                    {"status": "not_found"},
                    payment_of,
                    call_id=call_id,
                )
            case "customer":
                return self._fact(
                    subject,
                    lambda stripe: stripe.v1.customers.retrieve(subject),
                    {"status": "unknown"},
                    customer_of,
                    call_id=call_id,
                )
        return super().read(name, subject, call_id=call_id)


def payment_of(intent: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises BadAnswer."""
    currency = text(intent, "currency")
    status = STATUSES.get(text(intent, "status"))
    if status is None:
        raise BadAnswer('the field "status" has an unknown value')
    if intent.get("status") == "requires_payment_method" and intent.get("last_payment_error"):
        status = "failed"  # it was tried; without that nobody has paid yet
    charge = intent.get("latest_charge")
    charge = charge if isinstance(charge, Mapping) else {}
    if status == "confirmed" and (charge.get("refunded") or charge.get("amount_refunded")):
        status = "refunded"
    # Where a part was captured, that is what was paid.
    paid = intent.get("amount_received") if status in ("confirmed", "refunded") else None
    metadata = intent.get("metadata")
    return {
        "status": status,
        "amount": money(intent.get("amount") if paid is None else paid, currency),
        "expected_amount": money(intent.get("amount"), currency),
        "currency": currency.upper(),
        "customer_id": optional_text(intent, "customer"),
        "subscription_id": optional_text(metadata, "subscription_id") if isinstance(metadata, Mapping) else None,
    }


def customer_of(customer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises BadAnswer. One that was deleted is unknown."""
    if customer.get("deleted"):
        return {"status": "unknown"}
    locales = customer.get("preferred_locales")
    first = locales[0] if isinstance(locales, list) and locales and isinstance(locales[0], str) else ""
    return {"status": "known", "language": first[:2].lower() or None, "email": optional_text(customer, "email")}
