"""Adapters are found by name, as settings name them."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from integrations.contract import Adapter
from integrations.mail import Mail
from integrations.registry import UnknownAdapter, get_adapter, list_adapters
from tests.integrations.conftest import Outside


def test_every_named_adapter_keeps_the_protocol(settings: Settings, simulator: Outside) -> None:
    settings.SIMULATOR_URL = simulator.url
    adapters = list_adapters()
    assert {"payments", "subscriptions", "mail"} <= set(adapters)
    assert all(isinstance(adapter, Adapter) and adapter.name == name for name, adapter in adapters.items())
    assert get_adapter("mail") is adapters["mail"]
    assert get_adapter("payments").read("payment", "missing", call_id="call-1") == {"status": "not_found"}


def test_an_adapter_may_have_its_own_address(settings: Settings, simulator: Outside) -> None:
    settings.SIMULATOR_URL = "http://127.0.0.1:9"
    settings.ADAPTERS = {"post": "integrations.mail.Mail"}
    settings.ADAPTER_OPTIONS = {"post": {"base_url": simulator.url}}
    settings.CASEFLOW_OUTGOING_HOSTS = [f"127.0.0.1:{simulator.port}"]
    post = get_adapter("post")
    assert isinstance(post, Mail)
    assert post.lookup(key="k-none", call_id="call-1").code == "no_such_operation"


def test_a_name_nobody_gave_is_an_error(settings: Settings) -> None:
    settings.ADAPTERS = {}
    with pytest.raises(UnknownAdapter, match="payments"):
        get_adapter("payments")
