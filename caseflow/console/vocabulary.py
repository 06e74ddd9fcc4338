"""Facts, fields, values, systems and operations in words: from the lists here, or from the process that knows them.

What has no word is shown as the code it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from caseflow.domain.process import word_of
from cases.processes import all_processes

from .moments import moment_text

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
#: What a part of a fact is called within it.
PARTS: dict[str, Promise] = {
    "status": gettext_lazy("state"),
    "amount": gettext_lazy("amount"),
    "expected_amount": gettext_lazy("expected amount"),
    "price": gettext_lazy("price"),
    "currency": gettext_lazy("currency"),
    "customer_id": gettext_lazy("customer"),
    "subscription_id": gettext_lazy("subscription"),
    "id": gettext_lazy("number"),
    "plan": gettext_lazy("plan"),
    "email": gettext_lazy("e-mail"),
    "language": gettext_lazy("language"),
    "activated_at": gettext_lazy("activated"),
    "activated_by_key": gettext_lazy("activated by key"),
}
#: What else may differ between what was seen and what is.
WHOLE: dict[str, Promise] = {
    "version": gettext_lazy("Version of the case"),
    "digest": gettext_lazy("Digest"),
    "proposal": gettext_lazy("Proposal"),
}
MONEY = frozenset({"amount", "expected_amount", "price"})
MOMENTS = frozenset({"activated_at"})
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
    "helpdesk": gettext_lazy("Helpdesk"),
}
OPERATIONS: dict[tuple[str, str], Promise] = {
    ("subscriptions", "activate"): gettext_lazy("Activate the subscription"),
    ("mail", "send"): gettext_lazy("Send a message"),
}


def field_label(name: str) -> str:
    return str(FIELDS.get(name) or _told("intake", name) or name)


def personal_label(field: str) -> str:
    """What a field of personal text is about: `intake.claim`, `fact.customer.email`, `decision.P-….7.reject`, notes."""
    kind, _, name = field.partition(".")
    if kind == "intake":
        return field_label(name)
    if kind == "fact":
        return path_label(name)
    if kind == "model":
        return gettext("Words of the model")
    if kind == "note":
        return gettext("Note")
    return gettext("Evidence") if kind == "recovery" and name.endswith(".evidence") else gettext("Reason")


def fact_label(name: str) -> str:
    return str(FACTS.get(name) or _told("fact", name) or name)


def part_label(name: str) -> str:
    return str(PARTS.get(name) or _told("part", name) or name)


def path_label(path: str) -> str:
    """`Payment: state` of `payment.status`."""
    fact, _, part = path.partition(".")
    if not part:
        return str(WHOLE.get(path, path))
    return f"{fact_label(fact)}: {part_label(part)}"


def system_label(name: str) -> str:
    return str(SYSTEMS.get(name) or _told("system", name) or name)


def operation_label(system: str, operation: str) -> str:
    known = OPERATIONS.get((system, operation)) or _told("operation", system, operation)
    return str(known or f"{system} · {operation}")


def value_text(path: str, value: Any) -> str:
    """A value in words; a personal one is hidden, an absent one is a dash."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, Mapping):
        if "erased" in value:
            return gettext("erased: personal data")
        return gettext("hidden: personal data") if "masked" in value or "personal" in value else "…"
    part = path.rpartition(".")[2]
    if part in MONEY:
        return _money_text(str(value))
    if part in MOMENTS:
        return _moment_text(str(value))
    return str(VALUES.get((path, str(value))) or _told("value", path, str(value)) or value)


def _told(*name: str) -> str:
    """A process's own word; nothing where it has none."""
    word = word_of(all_processes().values(), *name)
    return gettext(word) if word else ""


def _money_text(value: str) -> str:
    try:
        return number_format(Decimal(value), use_l10n=True, force_grouping=True)
    except InvalidOperation:
        return value


def _moment_text(value: str) -> str:
    try:
        return moment_text(datetime.fromisoformat(value))
    except ValueError:
        return value
