"""Asking both databases by turns, so that whatever else the machine does weighs on both alike."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from typing import Any

from stand.environment import CHECKOUT
from stand.growth.stock import FEW, MANY, Stock

CASES = 12  #: carried in one turn
COLLECTOR = "collector"  #: among the names of pages
LOOKS = 3  #: at a page in one turn, of which the cheapest counts
ROUNDS = 7


class Asked:
    """A process of the product on one of the databases."""

    def __init__(self, stock: Stock, database: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.growth.measuring"],
            cwd=CHECKOUT,
            env=stock.environment(database) | {"DJANGO_SETTINGS_MODULE": "tests.growth.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, do: str, **more: Any) -> Any:
        """Raises RuntimeError where the process could not answer; it has said why on standard error."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **more}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"no answer to {do} {more}")
        return json.loads(line)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


@contextmanager
def both(stock: Stock) -> Iterator[tuple[Asked, Asked]]:
    """(on few cases, on many)"""
    few, many = Asked(stock, FEW), Asked(stock, MANY)
    try:
        yield few, many
    finally:
        few.close()
        many.close()


def measure_path(few: Asked, many: Asked, rounds: int) -> dict[str, Any]:
    """`growth_ratio`: what the whole path costs among many cases, as a multiple of that among few.

    Processor time of worker and server, and time by the clock; the dearer of the two is the ratio.
    """
    for asked in (few, many):
        asked("carry", cases=3)  # caches that a process fills once
    pairs = []
    for number in range(rounds):
        order = (few, many) if number % 2 == 0 else (many, few)
        found = {id(asked): asked("carry", cases=CASES) for asked in order}
        pairs.append((found[id(few)], found[id(many)]))
    parts: dict[str, Any] = {}
    for name, keys in {"cpu": ("own_cpu", "server_cpu"), "server_cpu": ("server_cpu",), "time": ("seconds",)}.items():
        sides = [tuple(1000 * sum(side[key] for key in keys) / side["cases"] for side in pair) for pair in pairs]
        parts[name] = _compared(sides)
    worst = max((parts["cpu"], parts["time"]), key=lambda part: part["median"])
    return {name: worst[name] for name in ("median", "min", "max")} | {"cases": CASES * rounds, "parts": parts}


def measure_pages(few: Asked, many: Asked, rounds: int, wanted: str = "") -> dict[str, Any]:
    """`console_growth_ratio`: of the page that grows most. The parts are all pages, each with its queries."""
    names = [name for name in few("pages") if wanted in name and name != COLLECTOR]
    if names != [name for name in many("pages") if wanted in name and name != COLLECTOR]:
        raise RuntimeError("the databases do not have the same pages")
    parts: dict[str, Any] = {name: _looked_at(name, few, many, rounds) for name in names}
    worst = max(parts.values(), key=lambda part: part["median"])
    same = all(part["queries_few"] == part["queries_many"] for part in parts.values())
    return {name: worst[name] for name in ("median", "min", "max")} | {"same_queries": same, "parts": parts}


def measure_collector(few: Asked, many: Asked, rounds: int) -> dict[str, Any]:
    """`collector_ratio`: of `/metrics`, with its queries."""
    return _looked_at(COLLECTOR, few, many, rounds)


def _looked_at(name: str, few: Asked, many: Asked, rounds: int) -> dict[str, Any]:
    """One page: milliseconds of processor of this process and its server process together, and how many queries."""
    queries = [len(asked("queries", name=name)) for asked in (few, many)]
    sides = []
    for number in range(rounds):
        order = (few, many) if number % 2 == 0 else (many, few)
        found = {id(asked): asked("look", name=name, times=LOOKS) for asked in order}
        costs = [found[id(asked)] for asked in (few, many)]
        sides.append(tuple(1000 * (cost["cpu"] + cost["server_cpu"]) for cost in costs))
    return _compared(sides) | {"queries_few": queries[0], "queries_many": queries[1]}


def _compared(sides: list[tuple[float, ...]]) -> dict[str, float]:
    """Milliseconds of both sides and the ratios of the pairs."""
    ratios = [many / few for few, many in sides]
    return {
        "median": round(median(ratios), 3),
        "min": round(min(ratios), 3),
        "max": round(max(ratios), 3),
        "few_ms": round(median(few for few, _ in sides), 2),
        "many_ms": round(median(many for _, many in sides), 2),
    }


def lines_of(found: Mapping[str, Any]) -> list[str]:
    """The figures as a table, what grows most first."""
    lines = [f"{'':50} {'few, ms':>9} {'many, ms':>9} {'ratio':>6} {'spread':>12}  queries"]
    for name, part in found.items():
        spread = f"{part['min']:.2f}–{part['max']:.2f}"
        queries = f"{part['queries_few']} {part['queries_many']}" if "queries_few" in part else ""
        figures = f"{part['few_ms']:>9.1f} {part['many_ms']:>9.1f} {part['median']:>6.2f} {spread:>12}"
        lines.append(f"{name:50} {figures}  {queries}")
    return lines
