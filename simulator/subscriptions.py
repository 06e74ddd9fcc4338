"""The subscription system: shows a subscription, opens and closes access to it."""

from __future__ import annotations

from simulator.keys import Keys
from simulator.ledger import Ledger
from simulator.wire import Answer, Request, now_text

#: operation → (status afterwards, code of the refusal when it has that status already)
OPERATIONS = {"activate": ("active", "already_active"), "deactivate": ("inactive", "already_inactive")}


def read_subscription(ledger: Ledger, request: Request) -> Answer:
    subscription = ledger.get("subscription", request.parts[1], request.as_of)
    return Answer.problem(404, "subscription_not_found") if subscription is None else Answer(200, subscription)


def change_subscription(ledger: Ledger, keys: Keys, request: Request) -> Answer:
    """POST /subscriptions/{id}/activate and …/deactivate."""
    _, subject, operation = request.parts
    status, already = OPERATIONS[operation]

    def effect() -> tuple[Answer, str | None]:
        subscription = ledger.get("subscription", subject)
        if subscription is None:
            return Answer.problem(404, "subscription_not_found"), None
        if subscription.get("status") == status:
            return Answer.problem(409, already), None
        effect_id = ledger.record_effect(
            prefix="act",
            system="subscriptions",
            operation=operation,
            subject=subject,
            key=request.key,
            request_id=request.request_id,
            body=request.body,
        )
        active = operation == "activate"
        ledger.put(
            "subscription",
            subject,
            {
                "status": status,
                "activated_at": now_text() if active else None,
                "activated_by_key": request.key if active else None,
            },
        )
        return Answer(200, {"id": effect_id, "subscription_id": subject, "status": status}), effect_id

    return keys.once(request, effect)
