"""The mail system: takes a message and promises nothing more than that it was taken."""

from __future__ import annotations

from simulator.keys import Keys
from simulator.ledger import Ledger
from simulator.wire import Answer, Request


def send_message(ledger: Ledger, keys: Keys, request: Request) -> Answer:
    """POST /mail/messages."""

    def effect() -> tuple[Answer, str | None]:
        message = request.body if isinstance(request.body, dict) else {}
        address = message.get("to")
        if not isinstance(address, str) or "@" not in address:
            return Answer.problem(422, "bad_address"), None
        if not isinstance(message.get("subject"), str) or not isinstance(message.get("text"), str):
            return Answer.problem(422, "bad_message"), None
        effect_id = ledger.record_effect(
            prefix="msg",
            system="mail",
            operation="send",
            subject=address,
            key=request.key,
            request_id=request.request_id,
            body=message,
        )
        return Answer(202, {"id": effect_id, "status": "accepted"}), effect_id

    return keys.once(request, effect)
