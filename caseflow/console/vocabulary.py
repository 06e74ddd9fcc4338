"""Facts, fields, values, systems and operations in words. What stands in no list is shown as the code it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

FIELDS: dict[str, Promise] = {
    "customer_id": gettext_lazy("Customer number"),
    "subscription_id": gettext_lazy("Subscription number"),
    "payment_id": gettext_lazy("Payment number"),
    "claim": gettext_lazy("Claim"),
}
FACTS: dict[str, Promise] = {
    "payment": gettext_lazy("Payment"),
    "customer": gettext_lazy("Customer"),
    "subscription": gettext_lazy("Subscription"),
}
PATHS: dict[str, Promise] = {
    "payment.status": gettext_lazy("Payment: status"),
    "payment.amount": gettext_lazy("Payment: amount"),
    "payment.currency": gettext_lazy("Payment: currency"),
    "payment.customer_id": gettext_lazy("Payment: customer"),
    "payment.id": gettext_lazy("Payment: number"),
    "customer.status": gettext_lazy("Customer: status"),
    "customer.email": gettext_lazy("Customer: e-mail"),
    "customer.language": gettext_lazy("Customer: language"),
    "customer.id": gettext_lazy("Customer: number"),
    "subscription.status": gettext_lazy("Subscription: status"),
    "subscription.price": gettext_lazy("Subscription: price"),
    "subscription.currency": gettext_lazy("Subscription: currency"),
    "subscription.customer_id": gettext_lazy("Subscription: customer"),
    "subscription.id": gettext_lazy("Subscription: number"),
    "version": gettext_lazy("Version of the case"),
    "digest": gettext_lazy("Digest"),
    "proposal": gettext_lazy("Proposal"),
}
VALUES: dict[tuple[str, str], Promise] = {
    ("payment.status", "confirmed"): pgettext_lazy("payment", "confirmed"),
    ("payment.status", "pending"): pgettext_lazy("payment", "pending"),
    ("payment.status", "refunded"): pgettext_lazy("payment", "refunded"),
    ("payment.status", "failed"): pgettext_lazy("payment", "failed"),
    ("payment.status", "not_found"): pgettext_lazy("payment", "not found"),
    ("customer.status", "known"): pgettext_lazy("customer", "known"),
    ("customer.status", "unknown"): pgettext_lazy("customer", "unknown"),
    ("customer.language", "ru"): gettext_lazy("Russian"),
    ("customer.language", "en"): gettext_lazy("English"),
    ("subscription.status", "active"): pgettext_lazy("subscription", "active"),
    ("subscription.status", "inactive"): pgettext_lazy("subscription", "inactive"),
    ("subscription.status", "not_found"): pgettext_lazy("subscription", "not found"),
}
SYSTEMS: dict[str, Promise] = {
    "payments": gettext_lazy("Payments"),
    "subscriptions": gettext_lazy("Subscriptions"),
    "mail": gettext_lazy("Mail"),
}
OPERATIONS: dict[tuple[str, str], Promise] = {
    ("subscriptions", "activate"): gettext_lazy("Activate the subscription"),
    ("mail", "send"): gettext_lazy("Send a message"),
}


def field_label(name: str) -> str:
    return str(FIELDS.get(name, name))


def fact_label(name: str) -> str:
    return str(FACTS.get(name, name))


def path_label(path: str) -> str:
    return str(PATHS.get(path, path))


def system_label(name: str) -> str:
    return str(SYSTEMS.get(name, name))


def operation_label(system: str, operation: str) -> str:
    return str(OPERATIONS.get((system, operation), f"{system} · {operation}"))


def value_text(path: str, value: Any) -> str:
    """A value in words; a personal one is hidden, an absent one is a dash."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, Mapping):
        return gettext("hidden: personal data") if "masked" in value or "personal" in value else "…"
    return str(VALUES.get((path, str(value)), value))
