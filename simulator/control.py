"""The back door for tests and the demo: make the world, change it, script faults, read the ledger."""

from __future__ import annotations

from typing import Any

from simulator.faults import KINDS as KINDS_OF_FAULTS
from simulator.faults import FaultBook
from simulator.ledger import Ledger
from simulator.wire import Answer, BadRequest, Request

KINDS = {
    "addresses": "address",
    "corrections": "correction",
    "customers": "customer",
    "payments": "payment",
    "subscriptions": "subscription",
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "address": {"correction_id": None},
    "correction": {"status": "pending", "check": "deliverable"},
    "customer": {"email": "", "language": "en", "name": ""},
    "payment": {"currency": "RUB", "status": "confirmed"},
    "subscription": {"currency": "RUB", "status": "inactive", "activated_at": None, "activated_by_key": None},
}


def answer_control(ledger: Ledger, faults: FaultBook, request: Request) -> Answer | None:
    """The answer, or None when the request is not for the back door. Faults never meet it."""
    match request.method, request.parts:
        case "GET", ("healthz",):
            return Answer(200, {"status": "ok"})
        case "PUT", ("world",):
            return _merge_world(ledger, request.body)
        case "PATCH", (collection, id) if collection in KINDS:
            return _change(ledger, KINDS[collection], id, request.body)
        case "GET", ("ledger",):
            return Answer(200, {"effects": ledger.list_effects(), "requests": ledger.list_requests()})
        case "GET", ("ledger", "requests"):
            return Answer(200, {"requests": ledger.list_requests(request.query.get("key"))})
        case "POST", ("faults",):
            return Answer(201, {"id": faults.add(request.body)})
        case "GET", ("faults",):
            return Answer(200, {"faults": faults.shown(), "kinds": KINDS_OF_FAULTS})
        case "DELETE", ("faults",):
            return Answer(200, {"removed": faults.remove()})
        case "DELETE", ("faults", id):
            return Answer(200, {"removed": 1}) if faults.remove(id) else Answer.problem(404, "no_such_fault")
    return None


def _merge_world(ledger: Ledger, world: Any) -> Answer:
    if not isinstance(world, dict) or set(world) - set(KINDS):
        raise BadRequest(f"a world has {sorted(KINDS)}")
    counts = {}
    with ledger.transaction():
        for collection, objects in world.items():
            if not isinstance(objects, list):
                raise BadRequest(f"{collection} is a list")
            for fields in objects:
                if not isinstance(fields, dict) or not isinstance(fields.get("id"), str) or not fields["id"]:
                    raise BadRequest(f"each of {collection} is an object with an id")
                kind = KINDS[collection]
                known = ledger.get(kind, fields["id"])
                ledger.put(kind, fields["id"], fields if known else {**_defaults(kind, fields), **fields})
            counts[collection] = len(objects)
    return Answer(200, counts)


def _defaults(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    defaults = DEFAULTS[kind]
    if kind == "payment":
        return {**defaults, "expected_amount": fields.get("amount")}
    return defaults


def _change(ledger: Ledger, kind: str, id: str, fields: Any) -> Answer:
    if not isinstance(fields, dict) or "id" in fields:
        raise BadRequest("the changed fields as an object, without id")
    with ledger.transaction():
        if ledger.get(kind, id) is None:
            return Answer.problem(404, f"{kind}_unknown" if kind == "customer" else f"{kind}_not_found")
        return Answer(200, ledger.put(kind, id, fields))
