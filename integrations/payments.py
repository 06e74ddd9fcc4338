"""The payment system: reads payments and customers, changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from integrations.answers import amount, optional_text, text
from integrations.contract import HttpSystem, Owner

STATUSES = frozenset({"confirmed", "pending", "refunded", "failed"})


class Payments(HttpSystem):
    name = "payments"
    owner = Owner(team="Payments", contact="payments@example.org")
    readable = frozenset({"payment", "customer"})

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """`payment`: {"status": "not_found"} or status, amounts, currency, customer and subscription.
        `customer`: {"status": "unknown"} or {"status": "known", "language", "email"}; the address is personal data.

        Raises ReadFailed.
        """
        match name:
            case "payment":
                missing = {"status": "not_found"}
                return self.read_one("payments", subject, "payment_not_found", missing, _payment, call_id)
            case "customer":
                missing = {"status": "unknown"}
                return self.read_one("customers", subject, "customer_unknown", missing, _customer, call_id)
        return super().read(name, subject, call_id=call_id)


def _payment(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "status": text(answer, "status", allowed=STATUSES),
        "amount": amount(answer, "amount"),
        "expected_amount": amount(answer, "expected_amount"),
        "currency": text(answer, "currency"),
        "customer_id": optional_text(answer, "customer_id"),
        "subscription_id": optional_text(answer, "subscription_id"),
    }


def _customer(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"status": "known", "language": optional_text(answer, "language"), "email": optional_text(answer, "email")}
