"""The payment system: reads payments and customers, changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from integrations.answers import amount, optional_text, read_failed, text
from integrations.contract import HttpSystem, Owner
from integrations.http import BadAddress, BadAnswer, NoAnswer, NotSent, path_of

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
                return self._read("payments", subject, "payment_not_found", {"status": "not_found"}, _payment, call_id)
            case "customer":
                return self._read("customers", subject, "customer_unknown", {"status": "unknown"}, _customer, call_id)
        return super().read(name, subject, call_id=call_id)

    def _read(
        self,
        collection: str,
        subject: str,
        missing_code: str,
        missing: Mapping[str, Any],
        value: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        call_id: str,
    ) -> Mapping[str, Any]:
        try:
            answer = self._http.get(path_of(collection, subject), call_id=call_id, within=self._read_within)
            if answer.status == 200:
                return value(answer.json())
        except BadAddress:
            return missing  # no object can have such a name
        except (NotSent, NoAnswer, BadAnswer) as failure:
            raise read_failed(self.name, failure) from failure
        # Only the system's own word makes a 404 a fact: a wrong address answers 404 too.
        if answer.status == 404 and answer.code == missing_code:
            return missing
        raise read_failed(self.name, answer)


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
