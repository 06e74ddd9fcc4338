"""Named places at which a test may stop a process (failures.md §1). Outside the fault settings none does anything."""

from __future__ import annotations

from collections.abc import Callable

_hook: Callable[[str], None] | None = None


def failpoint(name: str) -> None:
    """Pass the place called `name`."""
    if _hook is not None:
        _hook(name)


def arm(hook: Callable[[str], None] | None) -> None:
    """Let `hook` decide what happens at each place; None disarms. Called by `caseflow.settings_faults` alone."""
    global _hook
    _hook = hook
