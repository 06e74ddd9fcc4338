"""The real adapters with the moments between their steps made visible, so that a test can act or die just there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from integrations.mail import Mail
from integrations.subscriptions import Subscriptions


class Killed(BaseException):
    """What `kill -9` is to everything above it: nobody catches it, nothing after it runs."""


class Hooks:
    """What happens at a named point of the next outside call; each hook runs once."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[], None]] = {}

    def at(self, point: str, do: Callable[[], None]) -> None:
        self._waiting[point] = do

    def pass_by(self, point: str) -> None:
        do = self._waiting.pop(point, None)
        if do is not None:
            do()

    def clear(self) -> None:
        self._waiting.clear()


hooks = Hooks()


class HookedSubscriptions(Subscriptions):
    """The real adapter, with the moments between its steps made visible to a test."""

    #: A process about two subscriptions calls the other one "second".
    readable = Subscriptions.readable | {"second"}

    def read(self, name: str, subject: str, *, call_id: str) -> Any:
        found = super().read("subscription" if name == "second" else name, subject, call_id=call_id)
        hooks.pass_by("after_read")
        return found

    def perform(self, operation: str, subject: str, request: Any, *, key: str, call_id: str, **more: Any) -> Any:
        hooks.pass_by("before_perform")
        outcome = super().perform(operation, subject, request, key=key, call_id=call_id, **more)
        hooks.pass_by("after_perform")
        return outcome

    def lookup(self, *, key: str, call_id: str) -> Any:
        found = super().lookup(key=key, call_id=call_id)
        hooks.pass_by("after_lookup")
        return found


class HookedMail(Mail):
    """The real mail adapter, stopping where a test wants to look."""

    def perform(self, operation: str, subject: str, request: Any, *, key: str, call_id: str, **more: Any) -> Any:
        outcome = super().perform(operation, subject, request, key=key, call_id=call_id, **more)
        hooks.pass_by("after_mail")
        return outcome
