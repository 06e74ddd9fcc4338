"""Which adapter stands for which outside system: its own program, Stripe's, or a description in a file."""

from __future__ import annotations

from typing import Any

from caseflow import settings_environment as told
from integrations.rest_config import read_file

STRIPE = "stripe+"  #: before an address: the system is Stripe's

_OF_STRIPE = {
    "payments": "integrations.stripe_payments.StripePayments",
    "subscriptions": "integrations.stripe_subscriptions.StripeSubscriptions",
}


def chosen() -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """(adapter by system, where it is not the usual one; options by system). Raises ValueError.

    `CASEFLOW_SYSTEMS` names addresses, those of Stripe as `stripe+https://api.stripe.com`; what `CASEFLOW_REST_FILE`
    describes needs no address besides.
    """
    adapters: dict[str, str] = {}
    options: dict[str, dict[str, Any]] = {}
    for name, address in told.systems.items():
        if not address.startswith(STRIPE):
            options[name] = {"base_url": address}
            continue
        if name not in _OF_STRIPE:
            raise ValueError(f"CASEFLOW_SYSTEMS: Stripe is for {' and '.join(_OF_STRIPE)}, not for {name}")
        adapters[name] = _OF_STRIPE[name]
        options[name] = {"base_url": address.removeprefix(STRIPE), "api_key": told.stripe_key}
        if name == "subscriptions":
            options[name]["stops_by"] = told.stripe_stops_by
    for name, table in described().items():
        if name in told.systems:
            raise ValueError(f"{name} stands in CASEFLOW_SYSTEMS and in {told.rest_file}: one of them too many")
        adapters[name] = "integrations.rest.RestSystem"
        options[name] = {"name": name, "table": table, "file": told.rest_file}
    return adapters, options


def described() -> dict[str, Any]:
    """The tables of the file, by system. Raises BadConfiguration."""
    return read_file(told.rest_file) if told.rest_file else {}
