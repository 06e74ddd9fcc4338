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


def world() -> dict[str, Any]:
    """Customers, payments and subscriptions of the story; the last ticket's payment does not exist."""
    customers, payments, subscriptions = [], [], []
    for number, payment, subscription, amount, language, _claim in _STORIES:
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
    """Put the story's things into the outside world."""
    with httpx2.Client(base_url=simulator_url, timeout=30, trust_env=False) as outside:
        outside.put("/world", json=world()).raise_for_status()


def machine(base_url: str, token: str) -> httpx2.Client:
    """A client of the public API with a service token."""
    return httpx2.Client(base_url=base_url, headers={"Authorization": f"Bearer {token}"}, timeout=30, trust_env=False)


def tell_tickets(base_url: str, token: str) -> int:
    """Send every ticket as the helpdesk would; how many."""
    with machine(base_url, token) as helpdesk:
        for ticket in tickets():
            helpdesk.post("/api/v1/cases/", json=ticket).raise_for_status()
    return len(_STORIES)


def _ids(number: int) -> dict[str, str]:
    if number == 4821:
        return {"customer_id": "U-12", "subscription_id": "S-77", "payment_id": "PAY-31"}
    return {
        "customer_id": f"U-{number}",
        "subscription_id": f"S-{number}",
        "payment_id": f"PAY-{number}",
    }
