"""Outside systems that live in the worker's own process and take no time: what remains is the engine.

They keep what the real ones promise as far as one worker can see it: a key is one effect, an activated subscription
reads as active. A case's effect and its read-back are one stage of one process, so no other has to know.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from caseflow.domain.outcomes import Confirmed, LookupOutcome, NotApplied, Outcome
from integrations.contract import Owner, System

#: One line a request, "SUBJECT SECONDS", by the clock that all processes of a machine share; empty: nothing is noted.
NOTED = os.environ.get("CASEFLOW_BENCH_NOTES", "")
_OWNER = Owner(team="Bench", contact="bench@example.org")


class Payments(System):
    """Every payment is confirmed, every customer known."""

    name = "payments"
    owner = _OWNER
    readable = frozenset({"payment", "customer"})

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        number = subject.partition("-")[2]
        match name:
            case "payment":
                return {
                    "status": "confirmed",
                    "amount": "990.00",
                    "expected_amount": "990.00",
                    "currency": "RUB",
                    "customer_id": f"U-{number}",
                    "subscription_id": f"S-{number}",
                }
            case "customer":
                return {"status": "known", "language": "ru", "email": f"u{number}@example.org"}
        return super().read(name, subject, call_id=call_id)


class Subscriptions(System):
    name = "subscriptions"
    honours_keys = True
    key_life = timedelta(hours=23)
    can_lookup = True
    settles_after = timedelta(seconds=70)
    owner = _OWNER
    operations = frozenset({"activate"})
    readable = frozenset({"subscription"})

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}  # by subscription
        self._noted = open(NOTED, "a", buffering=1) if NOTED else None  # noqa: SIM115  # as long as the process

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        if name != "subscription":
            return super().read(name, subject, call_id=call_id)
        key = self._keys.get(subject)
        return {
            "status": "active" if key else "inactive",
            "plan": "basic",
            "price": "990.00",
            "currency": "RUB",
            "customer_id": f"U-{subject.partition('-')[2]}",
            "activated_at": "2026-11-30T12:00:00Z" if key else None,
            "activated_by_key": key,
        }

    def perform(
        self,
        operation: str,
        subject: str,
        request: Mapping[str, Any],
        *,
        key: str,
        call_id: str,
        send_by: float | None = None,
    ) -> Outcome:
        if self._noted is not None:
            self._noted.write(f"{subject} {time.monotonic()}\n")
        self._keys.setdefault(subject, key)
        return Confirmed(f"E-{subject}", {"replayed": False})

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        if key in self._keys.values():
            return Confirmed(f"found by {key}")
        return NotApplied("not_applied", "no effect with this key")


class Mail(System):
    name = "mail"
    honours_keys = True
    key_life = timedelta(hours=23)
    can_lookup = True
    settles_after = timedelta(seconds=70)
    confirms_by = "receipt"
    owner = _OWNER
    operations = frozenset({"send"})

    def perform(
        self,
        operation: str,
        subject: str,
        request: Mapping[str, Any],
        *,
        key: str,
        call_id: str,
        send_by: float | None = None,
    ) -> Outcome:
        return Confirmed(f"M-{call_id}", {"delivery": "unknown", "replayed": False})

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        return NotApplied("not_applied", "no message with this key")
