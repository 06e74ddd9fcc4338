"""What the demo begins with: an outside world, and one ticket for every way a case of restore_access can go."""

from __future__ import annotations

from typing import Any

import httpx2

PRICE = "990.00"

#: number of the ticket → payment status, subscription status, amount, language, claim
_STORIES: list[tuple[int, str, str, str, str, str]] = [
    (4821, "confirmed", "inactive", PRICE, "ru", "Деньги списались, доступ не открылся"),
    (4822, "confirmed", "inactive", PRICE, "en", "I paid an hour ago and still cannot sign in"),
    (4823, "pending", "inactive", PRICE, "ru", "Оплатил картой, подписка не работает"),
    (4824, "refunded", "inactive", PRICE, "en", "My money is gone and there is no access"),
    (4825, "confirmed", "active", PRICE, "ru", "Доступа нет, хотя оплата прошла 🙏"),
    (4826, "confirmed", "inactive", "490.00", "en", "Paid, but the subscription is not active"),
    (4827, "missing", "inactive", PRICE, "ru", "Списали деньги, номер платежа из СМС"),
]


#: Of the ticket that the README opens by hand; the demo opens none for it.
_BY_HAND = (4900, "confirmed", "inactive", PRICE, "en", "")


def world() -> dict[str, Any]:
    """Customers, payments and subscriptions of the story; the payment of T-4827 does not exist."""
    customers, payments, subscriptions = [], [], []
    for number, payment, subscription, amount, language, _claim in [*_STORIES, _BY_HAND]:
        ids = _ids(number)
        customers.append(
            {"id": ids["customer_id"], "email": f"customer{number}@example.org", "language": language, "name": "-"}
        )
        subscriptions.append(
            {
                "id": ids["subscription_id"],
                "customer_id": ids["customer_id"],
                "plan": "basic",
                "price": PRICE,
                "currency": "RUB",
                "status": subscription,
            }
        )
        if payment != "missing":
            payments.append(
                {
                    "id": ids["payment_id"],
                    "customer_id": ids["customer_id"],
                    "subscription_id": ids["subscription_id"],
                    "amount": amount,
                    "currency": "RUB",
                    "status": payment,
                }
            )
    return {"customers": customers, "payments": payments, "subscriptions": subscriptions}


def tickets() -> list[dict[str, Any]]:
    """Bodies of `POST /api/v1/cases/`; the first is T-4821."""
    return [
        {
            "organisation": "acme",
            "process": "restore_access",
            "source": "helpdesk",
            "external_id": f"T-{number}",
            "source_url": f"https://helpdesk.example.org/T-{number}",
            "intake": _ids(number) | {"claim": claim},
        }
        for number, *_, claim in _STORIES
    ]


def tell_world(simulator_url: str) -> None:
    """Put what is missing of the story into the outside world; what happened to the rest since then stays."""
    with httpx2.Client(base_url=simulator_url, timeout=30, trust_env=False) as outside:
        missing = {
            kind: [thing for thing in things if outside.get(f"/{kind}/{thing['id']}").status_code == 404]
            for kind, things in world().items()
        }
        outside.put("/world", json=missing).raise_for_status()


def machine(base_url: str, token: str) -> httpx2.Client:
    """A client of the public API with a service token."""
    return httpx2.Client(base_url=base_url, headers={"Authorization": f"Bearer {token}"}, timeout=30, trust_env=False)


def opens_the_door(base_url: str, token: str) -> bool:
    """Tell whether the public API knows the token."""
    with machine(base_url, token) as api:
        return api.get("/api/v1/cases/", params={"limit": 1}).status_code == 200


def tell_tickets(base_url: str, token: str) -> int:
    """Send every ticket as the helpdesk would, whether or not it was sent before; how many."""
    with machine(base_url, token) as helpdesk:
        for ticket in tickets():
            answer = helpdesk.post("/api/v1/cases/", json=ticket)
            if answer.status_code != httpx2.codes.CONFLICT:  # somebody's own ticket of this name stays theirs
                answer.raise_for_status()
    return len(_STORIES)


def _ids(number: int) -> dict[str, str]:
    if number == 4821:
        return {"customer_id": "U-12", "subscription_id": "S-77", "payment_id": "PAY-31"}
    return {
        "customer_id": f"U-{number}",
        "subscription_id": f"S-{number}",
        "payment_id": f"PAY-{number}",
    }
