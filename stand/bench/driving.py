"""Whoever brings cases and approves them, the same for every contestant: told by lines, answering in JSON lines.

`drive N`: N cases from the first intake to the last end, the plans approved as they appear. `prepare N`, then
`pace RATE [busy]`: N cases that wait for a person are approved at even distances, whatever becomes of them, and the
moment of each approval is told. `end` ends. Standard library only: each client has an environment of its own.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from stand.bench.world import put_world

THREADS = 4
JOBS = 8  #: at a time in each worker process, as many as `run_workers` begins with
SIMULATOR = os.environ.get("BENCH_SIMULATOR", "")  #: what the cases are about is put there first
LOOK_EVERY = 0.02  #: seconds between looks at what waits and what is done
PATIENCE = 120.0  #: seconds without any progress


class Contestant(Protocol):
    """One way to drive cases. Numbers are names of cases, never used twice on one database."""

    def open_one(self, number: str) -> None:
        """Take a case in."""

    def waiting(self) -> list[Any]:
        """Plans that wait for a person, each as often as it is asked for until it is approved."""

    def name_of(self, plan: Any) -> str:
        """The number of the case that a plan is of."""

    def approve(self, plan: Any) -> None: ...

    def done(self) -> int:
        """How many cases have ended, ever."""


class Driver:
    """Drives one contestant. Raises TimeoutError when nothing moves any more."""

    def __init__(self, contestant: Contestant) -> None:
        self._contestant = contestant
        self._run = f"{int(time.time())}{os.getpid()}"
        self._numbers = itertools.count(1)
        self._pool = ThreadPoolExecutor(THREADS)

    def obey(self, orders: Iterable[str]) -> None:
        _tell({"ready": True})
        for line in orders:
            order, *rest = line.split()
            match order:
                case "drive":
                    _tell(self.drive(int(rest[0])))
                case "prepare":
                    _tell(self.prepare(int(rest[0])))
                case "pace":
                    _tell(self.pace(float(rest[0]), busy=rest[1:] == ["busy"]))
                case "end":
                    return

    def drive(self, count: int) -> dict[str, Any]:
        """{"seconds", "intake"}: from the first intake to the last end, and to the last intake."""
        before = self._contestant.done()
        numbers = self._new_numbers(count)
        began = time.perf_counter()
        self._open(numbers)
        taken = time.perf_counter()
        self._approve_until(before + count)
        return {"seconds": time.perf_counter() - began, "intake": taken - began}

    def prepare(self, count: int) -> dict[str, Any]:
        """So many cases that wait for a person."""
        self._open(self._new_numbers(count))
        self._plans = self._wait_for_plans(count)
        return {"waiting": len(self._plans)}

    def pace(self, rate: float, *, busy: bool) -> dict[str, Any]:
        """Approve what was prepared at even distances; {number: [planned, approved]} by the monotonic clock.

        `planned` is when it should have been approved: a slow client is no excuse. `busy` takes as many cases in at the
        same pace, so that the whole way of so many cases a second is on the machine.
        """
        start = time.monotonic() + 0.1
        at = {self._contestant.name_of(plan): start + place / rate for place, plan in enumerate(self._plans)}
        news = self._new_numbers(len(self._plans)) if busy else []
        done = self._contestant.done() + len(self._plans) + len(news)
        with ThreadPoolExecutor(THREADS) as bringing:
            opened = [bringing.submit(self._open_at, number, start + place / rate) for place, number in enumerate(news)]
            approved = dict(self._pool.map(lambda plan: self._approve_at(plan, at), self._plans))
            for one in opened:
                one.result()
        self._approve_until(done)
        return {"approved": {name: [at[name], moment] for name, moment in approved.items()}}

    def _approve_at(self, plan: Any, at: dict[str, float]) -> tuple[str, float]:
        name = self._contestant.name_of(plan)
        time.sleep(max(0.0, at[name] - time.monotonic()))
        self._contestant.approve(plan)
        return name, time.monotonic()

    def _open_at(self, number: str, at: float) -> None:
        time.sleep(max(0.0, at - time.monotonic()))
        self._contestant.open_one(number)

    def _new_numbers(self, count: int) -> list[str]:
        numbers = [f"{self._run}{next(self._numbers)}" for _ in range(count)]
        if SIMULATOR:
            put_world(SIMULATOR, numbers)
        return numbers

    def _open(self, numbers: list[str]) -> None:
        list(self._pool.map(self._contestant.open_one, numbers))

    def _approve_until(self, done: int) -> None:
        progress = _Progress()
        while True:
            if plans := self._contestant.waiting():
                list(self._pool.map(self._contestant.approve, plans))
                progress.moved()
                continue
            now = self._contestant.done()
            if now >= done:
                return
            progress.look(now)
            time.sleep(LOOK_EVERY)

    def _wait_for_plans(self, count: int) -> list[Any]:
        progress = _Progress()
        while len(plans := self._contestant.waiting()) < count:
            progress.look(len(plans))
            time.sleep(LOOK_EVERY)
        return plans


class _Progress:
    """Raises TimeoutError when what it is shown has not changed for PATIENCE seconds."""

    def __init__(self) -> None:
        self._seen: Any = None
        self.moved()

    def moved(self) -> None:
        self._at = time.monotonic()

    def look(self, seen: Any) -> None:
        if seen != self._seen:
            self._seen = seen
            self.moved()
        if time.monotonic() - self._at > PATIENCE:
            raise TimeoutError(f"nothing moves any more at {seen}")


def _tell(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


def drive(contestant: Contestant) -> int:
    """Obey what comes from standard input."""
    Driver(contestant).obey(sys.stdin)
    return 0
