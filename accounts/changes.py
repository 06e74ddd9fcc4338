"""Who is told when rights were taken. Rooms above name themselves when they are loaded: imports point back."""

from __future__ import annotations

from collections.abc import Callable

Listener = Callable[[int], None]

_listeners: list[Listener] = []


def when_rights_are_taken(listener: Listener) -> None:
    """`listener(organisation_id)` is called within each transaction that takes a right from somebody there."""
    if listener not in _listeners:
        _listeners.append(listener)


def tell_rights_taken(organisation_id: int) -> None:
    """Within the transaction, behind the gate."""
    for listener in _listeners:
        listener(organisation_id)
