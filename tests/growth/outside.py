"""Outside systems without an outside: what they say follows from the name that is asked for, and it costs nothing.

They promise what the real adapters promise, so the engine goes the same way with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from caseflow.domain.outcomes import Confirmed, LookupOutcome, NotApplied, Outcome
from integrations import mail, payments, subscriptions
from integrations.contract import System

PRICE = {"currency": "RUB"}
#: Subscriptions that were opened, with the key that did it, as long as the process lives.
OPENED: dict[str, str] = {}


class _Still(System):
    """Confirms whatever it is asked for."""

    def perform(self, operation: str, subject: str, request: Mapping[str, Any], **named: Any) -> Outcome:
        OPENED[subject] = named["key"]
        return Confirmed(f"op-{subject}"[:64], {})

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        return Confirmed("op", {}) if key in OPENED.values() else NotApplied("", None)


def _as(real: Any) -> dict[str, Any]:
    """What a real adapter declares."""
    declared = ("name", "honours_keys", "key_life", "can_lookup", "settles_after", "confirms_by", "owner")
    return {name: getattr(real, name) for name in (*declared, "operations", "readable")}


class Payments(_Still):
    name: ClassVar[str]
    locals().update(_as(payments.Payments))

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        if name == "customer":
            return {"status": "known", "language": "en", "email": f"{subject.lower()}@example.org"}
        number = subject.removeprefix("PAY-")
        about = {"customer_id": f"U-{number}", "subscription_id": f"S-{number}"}
        return {"status": "confirmed", "amount": "990.00", "expected_amount": "990.00", **PRICE, **about}


class Subscriptions(_Still):
    name: ClassVar[str]
    locals().update(_as(subscriptions.Subscriptions))

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        key = OPENED.get(subject)
        status = {"status": "active" if key else "inactive", "activated_by_key": key, "activated_at": None}
        number = subject.removeprefix("S-")
        return {"plan": "basic", "price": "990.00", **PRICE, "customer_id": f"U-{number}", **status}


class Mail(_Still):
    name: ClassVar[str]
    locals().update(_as(mail.Mail))
