"""The payment system and its customers: read only, nobody here moves money."""

from __future__ import annotations

from simulator.ledger import Ledger
from simulator.wire import Answer, Request


def read_payment(ledger: Ledger, request: Request) -> Answer:
    payment = ledger.get("payment", request.parts[1], request.as_of)
    return Answer.problem(404, "payment_not_found") if payment is None else Answer(200, payment)


def read_customer(ledger: Ledger, request: Request) -> Answer:
    customer = ledger.get("customer", request.parts[1], request.as_of)
    return Answer.problem(404, "customer_unknown") if customer is None else Answer(200, customer)
