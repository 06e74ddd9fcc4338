"""An old system in front of the same subscriptions: it knows no keys, and each request it takes is one more effect.

It keeps the reference that came with a request, so that it can be asked about it; whoever has no look-up does not ask.
"""

from __future__ import annotations

from simulator.ledger import Ledger
from simulator.subscriptions import OPERATIONS
from simulator.wire import Answer, Request, now_text


def change_subscription(ledger: Ledger, request: Request) -> Answer:
    """POST /legacy/subscriptions/{id}/activate and …/deactivate."""
    _, _, subject, operation = request.parts
    status, _already = OPERATIONS[operation]
    with ledger.transaction():
        if ledger.get("subscription", subject) is None:
            return Answer.problem(404, "subscription_not_found")
        effect_id = ledger.record_effect(
            prefix="old",
            system="legacy",
            operation=operation,
            subject=subject,
            key=request.key,
            request_id=request.request_id,
            body=request.body,
        )
        ledger.put("subscription", subject, {"status": status, "activated_at": now_text()})
    return Answer(200, {"id": effect_id, "subscription_id": subject, "status": status})


def find_operation(ledger: Ledger, request: Request) -> Answer:
    """GET /legacy/operations/{reference}: the first effect under it, for ever."""
    reference = request.parts[2]
    found = next((effect for effect in ledger.list_effects() if effect["key"] == reference), None)
    if found is None:
        return Answer.problem(404, "no_such_operation")
    return Answer(200, {"key": reference, "status": "applied", "operation": found})
