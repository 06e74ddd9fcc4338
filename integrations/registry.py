"""The adapters by name, as settings name them. Beside `smtp_mail` and `chat` the only file here that knows Django."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

from integrations.contract import Adapter
from integrations.outgoing import AllowList
from integrations.tracing import note_calls

_adapters: dict[str, Adapter] = {}
_lock = threading.Lock()


class UnknownAdapter(LookupError):
    """No adapter called {name} is named in the setting ADAPTERS."""

    def __init__(self, name: str) -> None:
        super().__init__(f'No adapter called "{name}" is named in the setting ADAPTERS.')


def get_adapter(name: str) -> Adapter:
    """One instance per process and name. Raises UnknownAdapter; ImportError or ValueError for a wrong setting.

    `ADAPTERS = {"payments": "integrations.payments.Payments", …}`; `ADAPTER_OPTIONS = {"payments": {"base_url": …}}` is
    optional: without a base_url an adapter over HTTP talks to SIMULATOR_URL. It reaches the hosts of `outgoing` only.
    """
    with _lock:
        if name not in _adapters:
            _adapters[name] = _make(name)
        return _adapters[name]


def owner_of(system: str) -> dict[str, Any]:
    """Whom to ask about a system, as facts of an event: {"system", "owner": {"team", "contact"}}."""
    try:
        owner = get_adapter(system).owner
    except (UnknownAdapter, ImportError, ValueError):
        return {"system": system} if system else {}
    return {"system": system, "owner": {"team": owner.team, "contact": owner.contact}}


def outgoing() -> AllowList:
    """The hosts that may be reached: those of the setting, and the outside world of demo and tests where there is one.

    Raises ValueError for an entry that names no host.
    """
    listed = AllowList(getattr(settings, "CASEFLOW_OUTGOING_HOSTS", []))
    simulator = getattr(settings, "SIMULATOR_URL", "")
    return listed | AllowList.of_address(simulator) if simulator else listed


def list_adapters() -> Mapping[str, Adapter]:
    """Every named adapter, for the checks at start."""
    return {name: get_adapter(name) for name in sorted(settings.ADAPTERS)}


def _make(name: str) -> Adapter:
    if name not in settings.ADAPTERS:
        raise UnknownAdapter(name)
    adapter_class = import_string(settings.ADAPTERS[name])
    options = dict(getattr(settings, "ADAPTER_OPTIONS", {}).get(name, {}))
    if getattr(adapter_class, "speaks_http", False):
        options.setdefault("base_url", getattr(settings, "SIMULATOR_URL", ""))
    if getattr(adapter_class, "takes_allowed", False):
        options["allowed"] = outgoing()
    adapter: Adapter = adapter_class(**options)
    note_calls(name, adapter)
    return adapter


def _forget(*, setting: str, **_: Any) -> None:
    """A test that changes a setting gets adapters that follow; Django sends this signal from its test tools alone."""
    if setting in ("ADAPTERS", "ADAPTER_OPTIONS", "SIMULATOR_URL", "CASEFLOW_OUTGOING_HOSTS"):
        with _lock:
            for adapter in _adapters.values():
                if hasattr(adapter, "close"):
                    adapter.close()
            _adapters.clear()


setting_changed.connect(_forget, dispatch_uid="integrations.registry")
