"""The outside world as one object: which system answers which request."""

from __future__ import annotations

from simulator import addresses, legacy, mail, payments, subscriptions
from simulator.bells import Bells
from simulator.faults import FaultBook
from simulator.keys import Keys
from simulator.ledger import Ledger
from simulator.model import Model
from simulator.wire import Answer, Request

#: Collections whose changes are rung out, with the kind of their objects.
CHANGED = {"addresses": "address", "payments": "payment", "subscriptions": "subscription"}


class World:
    def __init__(self, ledger: Ledger, key_life: float) -> None:
        self.ledger = ledger
        self.keys = Keys(ledger, key_life)
        self.faults = FaultBook()
        self.bells = Bells()
        self.model = Model()

    def answer(self, request: Request) -> Answer:
        answer = self._answer(request)
        if request.method == "POST" and answer.status == 200 and "Idempotent-Replayed" not in answer.headers:
            # Stored by now: a listener that looks at once sees it.
            parts = request.parts[1:] if request.parts[0] == "legacy" else request.parts
            if parts[0] in CHANGED:
                self.bells.changed(CHANGED[parts[0]], parts[1])
        return answer

    def _answer(self, request: Request) -> Answer:
        match request.method, request.parts:
            case "GET", ("payments", _):
                return payments.read_payment(self.ledger, request)
            case "GET", ("customers", _):
                return payments.read_customer(self.ledger, request)
            case "GET", ("subscriptions", _):
                return subscriptions.read_subscription(self.ledger, request)
            case "POST", ("subscriptions", _, operation) if operation in subscriptions.OPERATIONS:
                return subscriptions.change_subscription(self.ledger, self.keys, request)
            case "POST", ("payments", _, operation) if operation in payments.OPERATIONS:
                return payments.change_payment(self.ledger, self.keys, request)
            case "POST", ("legacy", "subscriptions", _, operation) if operation in subscriptions.OPERATIONS:
                return legacy.change_subscription(self.ledger, request)
            case "GET", ("legacy", "operations", _):
                return legacy.find_operation(self.ledger, request)
            case "GET", ("addresses", _):
                return addresses.read_address(self.ledger, request)
            case "GET", ("corrections", _):
                return addresses.read_correction(self.ledger, request)
            case "POST", ("addresses", _, "apply"):
                return addresses.apply_correction(self.ledger, self.keys, request)
            case "POST", ("mail", "messages"):
                return mail.send_message(self.ledger, self.keys, request)
            case "POST", ("v1", "chat", "completions"):
                return self.model.answer(request)
            case "GET", ("operations", _):
                return self.keys.operation(request)
        return Answer.problem(404, "no_such_address")
