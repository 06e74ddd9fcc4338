"""Subscriptions as Stripe knows them: shown, let go on, and stopped."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal, get_args

import stripe

from caseflow.domain.outcomes import Confirmed, FaultKind, LookupOutcome, NotApplied, Outcome, Refused, Unknown
from integrations.answers import optional_text, text
from integrations.contract import Owner
from integrations.http import BadAnswer, NoAnswer, NotSent
from integrations.outgoing import AllowList
from integrations.stripe_client import OBJECT, StripeSystem, Told, code_of, money, outcome_of

#: How this business stops a subscription at Stripe: its collection is paused, or it ends with the time paid for.
StopsBy = Literal["pause_collection", "cancel_at_period_end"]

RUNNING = frozenset({"active", "trialing"})
KEY = "caseflow_key"  #: in the metadata: under which key we changed it last
EVENT = "customer.subscription.updated"
MOST_PAGES = 10  #: of 100 events, newest first, that a look-up reads


class StripeSubscriptions(StripeSystem):
    name = "subscriptions"
    honours_keys = True
    #: Stripe keeps keys for at least 24 hours; an hour is kept for clocks that differ and requests that travel long.
    key_life = timedelta(hours=23)
    can_lookup = True
    settles_after = timedelta(seconds=120)
    confirms_by = "read"
    owner = Owner(team="Subscriptions", contact="subscriptions@example.org")
    operations = frozenset({"activate", "deactivate"})
    readable = frozenset({"subscription"})

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str = "https://api.stripe.com",
        stops_by: StopsBy = "pause_collection",
        deadline: timedelta | None = None,
        allowed: AllowList | None = None,
    ) -> None:
        """Raises ValueError, for a `stops_by` that is none, too."""
        if stops_by not in get_args(StopsBy):
            raise ValueError(f"stops_by is one of {', '.join(get_args(StopsBy))}, not {stops_by!r}")
        super().__init__(api_key=api_key, base_url=base_url, deadline=deadline, allowed=allowed)
        self._stops_by = stops_by

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """The same facts as `integrations.subscriptions`. "active": it runs, its collection is not paused, and no end
        is set. Raises ReadFailed."""
        if name != "subscription":
            return super().read(name, subject, call_id=call_id)
        return self._fact(
            subject,
            lambda stripe: stripe.v1.subscriptions.retrieve(subject),
            {"status": "not_found"},
            subscription_of,
            call_id=call_id,
        )

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
        """`activate`: take away what stops the subscription. `deactivate`: stop it. No money is moved by either.

        What is sent depends on the operation and the key alone: Stripe compares it with what it knows under the key.
        """
        if operation not in self.operations:
            return super().perform(operation, subject, request, key=key, call_id=call_id)
        if not OBJECT.fullmatch(subject):
            return Refused("bad_subject", "no object of Stripe can have such a name", FaultKind.INVALID_DATA)
        params: Any = {"metadata": {KEY: key}, **_change(operation, self._stops_by)}
        told = self._write(
            lambda stripe: stripe.v1.subscriptions.update(subject, params, {"idempotency_key": key}),
            call_id=call_id,
            send_by=send_by,
        )
        if not isinstance(told, Told):
            return told
        if told.data.get("id") != subject:
            return Unknown("bad_answer", "the answer is about something else")
        return Confirmed(subject, {"replayed": "idempotent-replayed" in told.headers})

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        """Stripe answers no questions about a key; its events of the last 30 days say under which each change came."""
        params: dict[str, Any] = {"type": EVENT, "limit": 100}
        try:
            for _ in range(MOST_PAGES):
                page = self._page(params, call_id=call_id)
                events = page.get("data")
                if not isinstance(events, list):
                    raise BadAnswer("the answer holds no list of events")
                for event in events:
                    if _is_under(event, key):
                        changed = event["data"]["object"]
                        return Confirmed(text(changed, "id"), {"operation": EVENT, "subject": text(changed, "id")})
                if not page.get("has_more") or not events:
                    return NotApplied("no_such_event", "no change of the last 30 days came under this key")
                params["starting_after"] = text(events[-1], "id")
        except (NotSent, NoAnswer) as failure:
            return Unknown(failure.code, str(failure))
        except (BadAnswer, LookupError, TypeError, AttributeError) as failure:
            return Unknown("bad_answer", str(failure))
        except stripe.StripeError as error:
            outcome = outcome_of(error)
            wait = outcome.retry_after if isinstance(outcome, NotApplied) else None
            return Unknown(code_of(error), f"it answered {error.http_status}", wait)
        return Unknown("too_many_events", f"the key is not among the last {MOST_PAGES * 100} changes")

    def _page(self, params: Any, *, call_id: str) -> Mapping[str, Any]:
        return self._get(lambda stripe: stripe.v1.events.list(params), call_id=call_id).data


def subscription_of(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises BadAnswer."""
    items = found.get("items")
    listed = items.get("data") if isinstance(items, Mapping) else None
    if not isinstance(listed, list) or len(listed) != 1 or not isinstance(listed[0], Mapping):
        raise BadAnswer("a subscription to one thing is understood, and no other")
    plan = listed[0].get("price") or listed[0].get("plan")
    if not isinstance(plan, Mapping):
        raise BadAnswer("the subscription has no price")
    currency, units, many = (
        text(plan, "currency"),
        plan.get("unit_amount", plan.get("amount")),
        listed[0].get("quantity"),
    )
    if not isinstance(units, int) or not isinstance(many, int):
        raise BadAnswer("the subscription has no price for each")
    stopped = found.get("pause_collection") or found.get("cancel_at_period_end") or found.get("cancel_at")
    metadata = found.get("metadata")
    return {
        "status": "active" if text(found, "status") in RUNNING and not stopped else "inactive",
        "plan": text(plan, "id"),
        "price": money(units * many, currency),
        "currency": currency.upper(),
        "customer_id": text(found, "customer"),
        "activated_at": None,
        "activated_by_key": optional_text(metadata, KEY) if isinstance(metadata, Mapping) else None,
    }


def _change(operation: str, stops_by: StopsBy) -> Mapping[str, Any]:
    if stops_by == "cancel_at_period_end":
        return {"cancel_at_period_end": operation == "deactivate"}
    return {"pause_collection": {"behavior": "void"} if operation == "deactivate" else ""}


def _is_under(event: Any, key: str) -> bool:
    """By the event's own word, or by our mark on the object as it then was: a later change carries that, too."""
    asked = event.get("request")
    if isinstance(asked, Mapping) and asked.get("idempotency_key") == key:
        return True
    marks = event["data"]["object"].get("metadata")
    return isinstance(marks, Mapping) and marks.get(KEY) == key
