"""Named places at which a test may stop a process (failures.md §1). Only the fault settings make them do anything."""

from __future__ import annotations

from collections.abc import Callable

Hook = Callable[[str, tuple[str, ...]], None]

_hook: Hook | None = None


def failpoint(name: str, *about: str) -> None:
    """Pass the place called `name`. `about` says whose way leads through it: a case, a stage, an attempt, a task."""
    if _hook is not None:
        _hook(name, about)


def arm(hook: Hook | None) -> None:
    """Let `hook` decide what happens at each place; None disarms. Called by `caseflow.settings_faults` alone."""
    global _hook
    _hook = hook
