"""The address book: shows a customer's address and a correction of it, and has a correction applied."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from caseflow.domain.outcomes import Confirmed, LookupOutcome, Outcome, Unknown
from integrations.answers import optional_text, text
from integrations.contract import HttpSystem, Owner
from integrations.http import Answer, BadAnswer
from integrations.operations_by_key import look_up, post_once

STATUSES = frozenset({"pending", "applied", "withdrawn"})
CHECKS = frozenset({"pending", "deliverable", "undeliverable"})


class Addresses(HttpSystem):
    name = "addresses"
    honours_keys = True
    #: The system promises 24 hours; an hour is kept for clocks that differ and requests that travel long.
    key_life = timedelta(hours=23)
    can_lookup = True
    settles_after = timedelta(seconds=70)
    confirms_by = "read"
    owner = Owner(team="Addresses", contact="addresses@example.org")
    operations = frozenset({"apply"})
    readable = frozenset({"address", "correction"})

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """`address`: {"status": "unknown"} or {"status": "known", "line", "correction_id"}.
        `correction`: {"status": "not_found"} or status, customer, what the post says, and the line; lines are personal.

        Raises ReadFailed.
        """
        match name:
            case "address":
                return self.read_one("addresses", subject, "address_unknown", {"status": "unknown"}, _address, call_id)
            case "correction":
                missing = {"status": "not_found"}
                return self.read_one("corrections", subject, "correction_not_found", missing, _correction, call_id)
        return super().read(name, subject, call_id=call_id)

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
        """`apply` the correction {"correction_id"} to the address of the customer `subject`."""
        if operation != "apply":
            return super().perform(operation, subject, request, key=key, call_id=call_id)
        answer = post_once(
            self._http,
            ("addresses", subject, "apply"),
            request,
            key=key,
            call_id=call_id,
            within=self._perform_within,
            send_by=send_by,
        )
        if not isinstance(answer, Answer):
            return answer
        try:
            told = answer.json()
            if told.get("customer_id") != subject or told.get("correction_id") != request["correction_id"]:
                raise BadAnswer("the answer is about something else")
            return Confirmed(text(told, "id"), {"replayed": "idempotent-replayed" in answer.headers})
        except BadAnswer as failure:
            return Unknown("bad_answer", str(failure))

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        return look_up(self._http, system=self.name, key=key, call_id=call_id, within=self._read_within)


def _address(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "status": "known",
        "line": text(answer, "line"),
        "correction_id": optional_text(answer, "correction_id"),
    }


def _correction(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "status": text(answer, "status", allowed=STATUSES),
        "customer_id": text(answer, "customer_id"),
        "check": text(answer, "check", allowed=CHECKS),
        "line": text(answer, "line"),
    }
