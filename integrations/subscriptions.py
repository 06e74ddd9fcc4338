"""The subscription system: shows a subscription, opens and closes access to it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from caseflow.domain.outcomes import Confirmed, LookupOutcome, Outcome, Unknown
from integrations.answers import amount, optional_text, text
from integrations.contract import HttpSystem, Owner
from integrations.http import Answer, BadAnswer
from integrations.operations_by_key import look_up, post_once

STATUSES = frozenset({"inactive", "active"})

#: operation → the status it leads to
LEADS_TO = {"activate": "active", "deactivate": "inactive"}


class Subscriptions(HttpSystem):
    name = "subscriptions"
    honours_keys = True
    #: The system promises 24 hours; an hour is kept for clocks that differ and requests that travel long.
    key_life = timedelta(hours=23)
    can_lookup = True
    settles_after = timedelta(seconds=70)
    confirms_by = "read"
    owner = Owner(team="Subscriptions", contact="subscriptions@example.org")
    operations = frozenset(LEADS_TO)
    readable = frozenset({"subscription"})

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """{"status": "not_found"} or status, plan, price, currency, customer, and the time and key of activation.

        Raises ReadFailed.
        """
        if name != "subscription":
            return super().read(name, subject, call_id=call_id)
        missing = {"status": "not_found"}
        return self.read_one("subscriptions", subject, "subscription_not_found", missing, _subscription, call_id)

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
        """`activate` or `deactivate` the subscription `subject`; `request` says why, as {"payment_id": …}."""
        if operation not in LEADS_TO:
            return super().perform(operation, subject, request, key=key, call_id=call_id)
        answer = post_once(
            self._http,
            ("subscriptions", subject, operation),
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
            if told.get("subscription_id") != subject or told.get("status") != LEADS_TO[operation]:
                raise BadAnswer("the answer is about something else")
            return Confirmed(text(told, "id"), {"replayed": "idempotent-replayed" in answer.headers})
        except BadAnswer as failure:
            return Unknown("bad_answer", str(failure))

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        return look_up(self._http, system=self.name, key=key, call_id=call_id, within=self._read_within)


def _subscription(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "status": text(answer, "status", allowed=STATUSES),
        "plan": text(answer, "plan"),
        "price": amount(answer, "price"),
        "currency": text(answer, "currency"),
        "customer_id": text(answer, "customer_id"),
        "activated_at": optional_text(answer, "activated_at"),
        "activated_by_key": optional_text(answer, "activated_by_key"),
    }
