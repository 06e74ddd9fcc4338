"""One run of a schedule: every step, then the history checker, then the report."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.checker import Verdict, check_history, explain
from tests.faults.harness import Harness
from tests.faults.result import Result
from tests.faults.rows import LEFT_OUT, ROWS
from tests.faults.scenario import run_scenario
from tests.faults.schedule import Schedule, Step, save
from tests.faults.waves import Wave, join_late, run_wave

Tell = Callable[[str], None]


class Run:
    """What a run did and found."""

    def __init__(self, harness: Harness, schedule: Schedule, folder: Path, tell: Tell) -> None:
        self.results: list[Result] = []
        self.verdict = Verdict()
        self.failed_steps: list[Step] = []
        self.seconds = 0.0
        self._harness, self._schedule, self._folder, self._tell = harness, schedule, folder, tell

    def play(self) -> Run:
        harness, begun = self._harness, time.monotonic()
        harness.rng = Random(self._schedule.seed)
        of_step: list[tuple[Step, list[Result]]] = []
        for step in self._schedule.steps:
            started = time.monotonic()
            harness.ensure_all()
            results = run_wave(harness, step) if isinstance(step, Wave) else run_scenario(harness, step)
            of_step.append((step, results))
            self.results += results
            for result in results:
                self._tell(result.line())
            self._tell(f"    {time.monotonic() - started:.0f} s")
        harness.ensure_all()
        join_late()
        self.failed_steps = [step for step, results in of_step if any(not result.held for result in results)]
        self.verdict = check_history(harness)
        self.seconds = time.monotonic() - begun
        return self

    @property
    def held(self) -> int:
        return sum(result.held for result in self.results)

    @property
    def good(self) -> bool:
        return self.held == len(self.results) and self.verdict.clean and not self.verdict.problems

    def last_line(self) -> str:
        invariants = "clean" if self.verdict.clean else "VIOLATED"
        return (
            f"crash points {self.held}/{len(self.results)}, invariants {invariants},"
            f" lost {self.verdict.lost}, doubled {self.verdict.doubled}"
        )

    def tell_problems(self) -> None:
        for result in self.results:
            if not result.held:
                self._tell(f"\n{result.row} {result.scenario} {result.attempt} {result.mode}\n{result.problem}")
        if self.verdict.problems:
            self._tell("\n" + explain(self._harness, self.verdict))
        if not self.good:
            path = self._folder / f"failed-{self._schedule.seed}.json"
            save(path, self._schedule.seed, self.failed_steps or list(self._schedule.steps))
            self._tell(f"\nthe failing part again: python -m stand.faults --replay {path}")

    def report(self) -> dict[str, Any]:
        rows = {}
        for row in ROWS:
            results = [result.shown() for result in self.results if result.row == row]
            if results:
                rows[row] = {"shown": len(results), "held": all(one["held"] for one in results), "hits": results}
                if row in LEFT_OUT:
                    rows[row]["left_out"] = LEFT_OUT[row]
            else:
                rows[row] = {"shown": 0, "to_come": "not part of this run"}
        return {
            "seed": self._schedule.seed,
            "seconds": round(self.seconds, 1),
            "result": self.last_line(),
            "crash_points": {"held": self.held, "of": len(self.results)},
            "rows": rows,
            "history": self.verdict.shown(),
            "schedule": self._schedule.described(),
        }

    def write_report(self) -> Path:
        path = self._folder / "report.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.report(), indent=1, ensure_ascii=False, default=str))
        return path
