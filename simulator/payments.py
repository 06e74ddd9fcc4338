"""The payment system and its customers. Nobody here moves money; a payment can be held and released."""

from __future__ import annotations

from simulator.keys import Keys
from simulator.ledger import Ledger
from simulator.wire import Answer, Request

#: operation → (held afterwards, code of the refusal when it is so already)
OPERATIONS = {"hold": (True, "already_held"), "release": (False, "not_held")}


def read_payment(ledger: Ledger, request: Request) -> Answer:
    payment = ledger.get("payment", request.parts[1], request.as_of)
    return Answer.problem(404, "payment_not_found") if payment is None else Answer(200, payment)


def read_customer(ledger: Ledger, request: Request) -> Answer:
    customer = ledger.get("customer", request.parts[1], request.as_of)
    return Answer.problem(404, "customer_unknown") if customer is None else Answer(200, customer)


def change_payment(ledger: Ledger, keys: Keys, request: Request) -> Answer:
    """POST /payments/{id}/hold and …/release."""
    _, subject, operation = request.parts
    held, already = OPERATIONS[operation]

    def effect() -> tuple[Answer, str | None]:
        payment = ledger.get("payment", subject)
        if payment is None:
            return Answer.problem(404, "payment_not_found"), None
        if bool(payment.get("held")) is held:
            return Answer.problem(409, already), None
        effect_id = ledger.record_effect(
            prefix="hld",
            system="payments",
            operation=operation,
            subject=subject,
            key=request.key,
            request_id=request.request_id,
            body=request.body,
        )
        ledger.put("payment", subject, {"held": held})
        return Answer(200, {"id": effect_id, "payment_id": subject, "held": held}), effect_id

    return keys.once(request, effect)
