"""Figures of several rounds: the median, and between what they lay."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any


def figure(values: Sequence[float]) -> dict[str, float]:
    """{"median", "min", "max"} to four significant digits. Raises ValueError where nothing was measured."""
    if not values:
        raise ValueError("nothing was measured")
    return {
        "median": significant(statistics.median(values)),
        "min": significant(min(values)),
        "max": significant(max(values)),
    }


def figures(rounds: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """One figure for each name that every round has."""
    names = [name for name in rounds[0] if all(name in one for one in rounds)] if rounds else []
    return {name: figure([one[name] for one in rounds]) for name in names}


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, float]:
    """Ours by theirs, round by round: what slowed both in one round does not show. Raises ValueError."""
    return figure([one / other for one, other in zip(ours, theirs, strict=True)])


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` of them do not exceed. Raises ValueError where there is none."""
    if not values:
        raise ValueError("nothing was measured")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-len(ordered) * share // 1).__int__() - 1))]


def significant(value: float, digits: int = 4) -> float:
    return float(f"{value:.{digits}g}")


def medians(found: Mapping[str, Any]) -> dict[str, float]:
    """The medians alone, for a line on the screen."""
    return {name: value["median"] for name, value in found.items() if isinstance(value, Mapping) and "median" in value}
