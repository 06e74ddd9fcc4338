"""The simulator's customers, payments and subscriptions for cases of these numbers. Standard library only."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Sequence
from typing import Any

AT_ONCE = 500  #: objects a request
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def put_world(simulator_url: str, numbers: Sequence[str]) -> None:
    """Only loopback addresses are ever given here."""
    for at in range(0, len(numbers), AT_ONCE):
        body = json.dumps(world_of(numbers[at : at + AT_ONCE])).encode()
        request = urllib.request.Request(  # http, on loopback
            f"{simulator_url}/world", data=body, method="PUT", headers={"Content-Type": "application/json"}
        )
        with _direct.open(request, timeout=60) as answer:
            answer.read()


def world_of(numbers: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """What makes each case an activation to approve."""
    money = {"currency": "RUB"}
    return {
        "customers": [{"id": f"U-{n}", "email": f"u{n}@example.org", "language": "ru"} for n in numbers],
        "payments": [
            {"id": f"PAY-{n}", "customer_id": f"U-{n}", "subscription_id": f"S-{n}", "amount": "990.00"}
            | {"status": "confirmed"}
            | money
            for n in numbers
        ],
        "subscriptions": [
            {"id": f"S-{n}", "customer_id": f"U-{n}", "plan": "basic", "price": "990.00", "status": "inactive"} | money
            for n in numbers
        ],
    }
