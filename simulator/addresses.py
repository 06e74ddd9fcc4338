"""The address book: where customers live, and corrections that wait until somebody has them applied."""

from __future__ import annotations

from simulator.keys import Keys
from simulator.ledger import Ledger
from simulator.wire import Answer, Request

#: status of a correction that cannot be applied → code of the refusal
REFUSED = {"applied": "already_applied", "withdrawn": "correction_withdrawn"}


def read_address(ledger: Ledger, request: Request) -> Answer:
    address = ledger.get("address", request.parts[1], request.as_of)
    return Answer.problem(404, "address_unknown") if address is None else Answer(200, address)


def read_correction(ledger: Ledger, request: Request) -> Answer:
    correction = ledger.get("correction", request.parts[1], request.as_of)
    return Answer.problem(404, "correction_not_found") if correction is None else Answer(200, correction)


def apply_correction(ledger: Ledger, keys: Keys, request: Request) -> Answer:
    """POST /addresses/{customer}/apply: the correction named in the body becomes the customer's address."""
    subject = request.parts[1]
    asked = request.body if isinstance(request.body, dict) else {}
    name = str(asked.get("correction_id", ""))

    def effect() -> tuple[Answer, str | None]:
        correction = ledger.get("correction", name)
        if correction is None or correction.get("customer_id") != subject:
            return Answer.problem(404, "correction_not_found"), None
        if correction["status"] in REFUSED:
            return Answer.problem(409, REFUSED[correction["status"]]), None
        effect_id = ledger.record_effect(
            prefix="adr",
            system="addresses",
            operation="apply",
            subject=subject,
            key=request.key,
            request_id=request.request_id,
            body=request.body,
        )
        ledger.put("correction", name, {"status": "applied"})
        ledger.put("address", subject, {"line": correction["line"], "correction_id": name})
        return Answer(200, {"id": effect_id, "customer_id": subject, "correction_id": name}), effect_id

    return keys.once(request, effect)
