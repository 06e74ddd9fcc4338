"""What is done in which order, made from a seed; a failing part is written down and can be replayed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

from tests.faults import (  # noqa: F401  # they register scenarios
    at_the_base,
    at_the_bell,
    at_the_bulks,
    at_the_face,
    at_the_operators,
    at_the_reports,
    at_the_roles,
)
from tests.faults.harness import WORKERS
from tests.faults.scenario import SCENARIOS, Scenario
from tests.faults.spots import EXECUTION, ONCE, SPOILT_ANSWERS, Spot
from tests.faults.waves import ATTEMPTS, Wave

#: Points at which a whole worker falls asleep past two leases.
ASLEEP = tuple(
    replace(spot, row="C43", scenario=f"asleep past two leases: {spot.scenario}", goes_on=False)
    for spot in (*EXECUTION[1:2], *EXECUTION[3:4], *ONCE[1:2], *ONCE[6:7])
)

Step = Wave | Scenario


@dataclass(frozen=True)
class Schedule:
    seed: int
    steps: tuple[Step, ...]

    def described(self) -> list[dict[str, Any]]:
        return [described(step) for step in self.steps]


def make_schedule(seed: int, *, only: Collection[str] = (), own_server: bool = True) -> Schedule:
    """Every row that exists, or those of `only`; the seed deals victims, recoverers and the order."""
    rng = Random(seed)
    steps: list[Step] = [*_waves(rng)]
    steps += [one for one in SCENARIOS if own_server or not one.own_server]
    if only:
        steps = [step for step in (_only(step, only) for step in steps) if step is not None]
    # Waves first: what takes long in them ends while the others run.
    waves = [step for step in steps if isinstance(step, Wave)]
    rest = [step for step in steps if not isinstance(step, Wave)]
    rng.shuffle(waves)
    rng.shuffle(rest)
    return Schedule(seed, (*waves, *rest))


def _waves(rng: Random) -> Iterator[Wave]:
    spoilt = list(SPOILT_ANSWERS)
    rng.shuffle(spoilt)
    dealt = cycle(spoilt)
    once = list(ONCE)
    rng.shuffle(once)
    for attempt in ATTEMPTS:
        for mode in ("same", "other"):
            spots = [*EXECUTION, next(dealt), next(dealt)]
            if attempt == "first":
                spots += once[::2] if mode == "same" else once[1::2]
            yield Wave(mode, attempt, rng.choice(WORKERS), tuple(spots))
    yield Wave("asleep", "first", rng.choice(WORKERS), ASLEEP)


def _only(step: Step, rows: Collection[str]) -> Step | None:
    if isinstance(step, Scenario):
        return step if step.row in rows else None
    spots = tuple(spot for spot in step.spots if spot.row in rows)
    return replace(step, spots=spots) if spots else None


def described(step: Step) -> dict[str, Any]:
    if isinstance(step, Scenario):
        return {"scenario": step.name, "row": step.row}
    spots = [[spot.row, spot.scenario] for spot in step.spots]
    return {"wave": step.mode, "attempt": step.attempt, "victim": step.victim, "spots": spots}


def save(path: Path, seed: int, steps: list[Step]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"seed": seed, "steps": [described(step) for step in steps]}, indent=1))


def load(path: Path) -> Schedule:
    """Raises KeyError for a scenario that is not known any more."""
    told = json.loads(path.read_text())
    return Schedule(told["seed"], tuple(_step(one) for one in told["steps"]))


def _step(told: dict[str, Any]) -> Step:
    if "wave" not in told:
        return {(one.row, one.name): one for one in SCENARIOS}[told["row"], told["scenario"]]
    known: dict[tuple[str, str], Spot] = {
        (spot.row, spot.scenario): spot for spot in (*EXECUTION, *SPOILT_ANSWERS, *ONCE, *ASLEEP)
    }
    spots = tuple(known[row, scenario] for row, scenario in told["spots"])
    return Wave(told["wave"], told["attempt"], told["victim"], spots)
