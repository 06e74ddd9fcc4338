"""What was measured, put together: the figures of every contestant, and the few that are promised (issue 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stand.bench.figures import figure, figures, ratio

Rounds = Mapping[str, Mapping[int, Sequence[Mapping[str, float]]]]  #: contestant → worker processes → rounds

#: Figures of ours that stand at the top of bench.json, of HEADLINE worker processes and of each other number.
OWN = ("cases_per_s", "commits_per_case", "statements_per_case", "cpu_ms_per_case", "wal_bytes_per_case")
RATIOS = {"ratio_dbos": "dbos", "ratio_dbos_tuned": "dbos_tuned", "ratio_procrastinate": "procrastinate"}
CPU_RATIOS = {"cpu_ratio_dbos": "dbos", "cpu_ratio_dbos_tuned": "dbos_tuned"}

#: figure → (at least | at most, limit, what is aimed at), as the issue has them
PROMISES: dict[str, tuple[str, float]] = {
    "ratio_dbos": ("at least", 4.0),
    "ratio_dbos_tuned": ("at least", 4.0),
    "ceiling_share": ("at least", 0.40),
    "cpu_ratio_dbos": ("at most", 1 / 3),
    "cpu_ratio_dbos_tuned": ("at most", 1 / 3),
    "decide_to_request_ratio": ("at most", 5.0),
    "idle_decide_to_request_ms": ("at most", 1000.0),
    "idle_queries_per_s": ("at most", 5.0),
    "idle_core_share": ("at most", 0.03),
    "dispatcher_tasks_per_s": ("at least", 1500.0),
}


def summed_up(rounds: Rounds) -> dict[str, dict[str, Any]]:
    """contestant → worker processes → figures"""
    return {name: {str(workers): figures(own) for workers, own in counts.items()} for name, counts in rounds.items()}


def headline_of(rounds: Rounds) -> int:
    """The number of worker processes whose figures stand for all: two where that was measured with everybody."""
    shared = set.intersection(*[set(counts) for counts in rounds.values()]) if rounds else set()
    return 2 if 2 in shared else max(shared, default=0)


def promised(rounds: Rounds, parts: Mapping[str, Mapping[str, Any]], ceiling_per_s: float | None) -> dict[str, Any]:
    """The figures of bench.json's top, each {"median", "min", "max"} and, where it makes sense, "by_workers"."""
    found: dict[str, Any] = {}
    ours = rounds.get("ours", {})
    headline = headline_of(rounds)
    if ours:
        for name in OWN:
            found[name] = _by_workers({n: figure(_values(own, name)) for n, own in ours.items()}, headline)
    for name, peer in RATIOS.items():
        found |= _ratio(name, ours, rounds.get(peer, {}), "cases_per_s", headline)
    for name, peer in CPU_RATIOS.items():
        found |= _ratio(name, ours, rounds.get(peer, {}), "cpu_ms_per_case", headline)
    if ours and ceiling_per_s:
        shares = {n: figure([v / ceiling_per_s for v in _values(own, "cases_per_s")]) for n, own in ours.items()}
        found["ceiling_share"] = _by_workers(shares, headline)
    for part in parts.values():
        found |= {name: value for name, value in part.items() if name in PROMISES}
    return found


def kept(found: Mapping[str, Any]) -> dict[str, bool]:
    """Which promises the medians keep; with several numbers of worker processes each of those that were compared."""
    verdicts = {}
    for name, (side, limit) in PROMISES.items():
        if name not in found:
            continue
        values = [one["median"] for one in found[name].get("by_workers", {"": found[name]}).values()]
        if name == "ceiling_share":
            values = [max(values)]  # one worker process has not the cores that the ceiling had
        verdicts[name] = all(value >= limit if side == "at least" else value <= limit for value in values)
    return verdicts


def _ratio(name: str, ours: Any, theirs: Any, key: str, headline: int) -> dict[str, Any]:
    shared = sorted(set(ours) & set(theirs))
    if not shared:
        return {}
    values = {workers: ratio(_values(ours[workers], key), _values(theirs[workers], key)) for workers in shared}
    return {name: _by_workers(values, headline if headline in values else shared[-1])}


def _by_workers(values: Mapping[int, Mapping[str, float]], headline: int) -> dict[str, Any]:
    stands = values.get(headline) or values[max(values)]
    return {**stands, "by_workers": {str(workers): value for workers, value in sorted(values.items())}}


def _values(rounds: Sequence[Mapping[str, float]], name: str) -> list[float]:
    return [one[name] for one in rounds]
