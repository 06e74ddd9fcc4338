"""Which adapter stands for a system is said by the environment: an address, Stripe's, or a description in a file."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from caseflow import production, settings_environment, settings_systems
from integrations.registry import get_adapter
from integrations.rest import RestSystem
from integrations.stripe_payments import StripePayments
from integrations.stripe_subscriptions import StripeSubscriptions
from tests.integrations.conftest import DESCRIBED


def _told(monkeypatch: pytest.MonkeyPatch, systems: dict[str, str], rest_file: str = "", key: str = "") -> None:
    monkeypatch.setattr(settings_environment, "systems", systems)
    monkeypatch.setattr(settings_environment, "rest_file", rest_file)
    monkeypatch.setattr(settings_environment, "stripe_key", key)


def test_systems_of_stripe_and_described_ones_are_chosen_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    at_stripe = "stripe+https://api.stripe.com"
    _told(monkeypatch, {"payments": at_stripe, "subscriptions": at_stripe}, key="rk_live_1")
    settings.ADAPTERS, settings.ADAPTER_OPTIONS = settings_systems.chosen()
    settings.CASEFLOW_OUTGOING_HOSTS = ["api.stripe.com"]
    assert isinstance(get_adapter("payments"), StripePayments)
    assert isinstance(get_adapter("subscriptions"), StripeSubscriptions)

    _told(monkeypatch, {"mail": "https://mail.example.org"}, str(DESCRIBED))
    settings.ADAPTERS, settings.ADAPTER_OPTIONS = settings_systems.chosen()
    settings.CASEFLOW_OUTGOING_HOSTS = ["payments.example.org", "subscriptions.example.org"]
    assert isinstance(get_adapter("subscriptions"), RestSystem)
    assert settings.ADAPTER_OPTIONS["mail"] == {"base_url": "https://mail.example.org"}
    # A secret key of Stripe never stands beside a host that nobody listed.
    _told(monkeypatch, {"payments": "stripe+https://elsewhere.example.org"}, key="rk_live_1")
    settings.ADAPTERS, settings.ADAPTER_OPTIONS = settings_systems.chosen()
    with pytest.raises(ValueError, match="not on the list"):
        get_adapter("payments")


def test_two_places_for_one_system_and_stripe_for_a_strange_one_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _told(monkeypatch, {"payments": "https://payments.example.org"}, str(DESCRIBED))
    with pytest.raises(ValueError, match="one of them too many"):
        settings_systems.chosen()
    _told(monkeypatch, {"mail": "stripe+https://api.stripe.com"})
    with pytest.raises(ValueError, match="not for mail"):
        settings_systems.chosen()


def test_production_asks_stripe_and_described_systems_by_https_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    _told(monkeypatch, {"payments": "stripe+http://api.example.org"}, key="sk_test_1")
    described = {"desk": {"base_url": "http://desk.example.org"}}
    monkeypatch.setattr(production, "described", lambda: described)
    wrong = {(name, sentence) for name, sentence in production.wrong_settings()}
    assert ("CASEFLOW_SYSTEMS", "payments is not asked by https") in wrong
    assert ("CASEFLOW_REST_FILE", "desk is not asked by https") in wrong
    assert ("CASEFLOW_STRIPE_KEY", "is a key of Stripe's test mode") in wrong
