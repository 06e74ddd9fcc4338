"""The outside systems of the peers' cases: in the worker's own process, as ours has them, or the simulator."""

from __future__ import annotations

import http.client
import json
import os
import threading
from typing import Any
from urllib.parse import urlsplit

SIMULATOR = os.environ.get("BENCH_SIMULATOR", "")

_local = threading.local()
_active: dict[str, str] = {}


def read_payment(number: str) -> dict[str, Any]:
    if SIMULATOR:
        return _ask("GET", f"/payments/PAY-{number}")
    return {"status": "confirmed", "amount": "990.00", "currency": "RUB", "customer_id": f"U-{number}"}


def read_subscription(number: str) -> dict[str, Any]:
    if SIMULATOR:
        return _ask("GET", f"/subscriptions/S-{number}")
    status = "active" if number in _active else "inactive"
    return {"status": status, "price": "990.00", "currency": "RUB", "customer_id": f"U-{number}"}


def plan_for(payment: dict[str, Any], subscription: dict[str, Any]) -> dict[str, Any]:
    """What a person is asked. Raises ValueError where there is nothing to ask."""
    if payment["status"] != "confirmed" or subscription["status"] != "inactive":
        raise ValueError("nothing to restore")
    return {"decision": "restore_access", "payment": payment["status"], "subscription": subscription["status"]}


def activate(number: str, key: str) -> str:
    """The effect, by an idempotency key."""
    if SIMULATOR:
        return str(_ask("POST", f"/subscriptions/S-{number}/activate", {"payment_id": f"PAY-{number}"}, key)["id"])
    _active.setdefault(number, key)
    return f"E-{number}"


def tell_customer(number: str, key: str) -> str:
    if SIMULATOR:
        body = {"to": f"u{number}@example.org", "subject": "Access", "text": "restored", "reference": number}
        return str(_ask("POST", "/mail/messages", body, key)["id"])
    return f"M-{number}"


def _ask(method: str, path: str, body: dict[str, Any] | None = None, key: str = "") -> Any:
    """One request on this thread's own connection. Raises RuntimeError for any answer but a good one."""
    connection = getattr(_local, "connection", None)
    if connection is None:
        parts = urlsplit(SIMULATOR)
        connection = _local.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"} if key else {}
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]!r}")
    return json.loads(text)
