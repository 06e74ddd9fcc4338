"""Anything may happen to cases in any order, on the real database and the real outside world; the promises hold.

Short and always the same in `make test`. CASEFLOW_MACHINE="200x50" makes it 200 examples of 50 steps with chance; a
failure names the CASEFLOW_MACHINE_SEED that repeats it, and CASEFLOW_MACHINE_SHRINK=1 makes it smaller.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.commands.conftest import Run
from tests.driving import Engine
from tests.stateful.machine import CaseMachine
from tests.stateful.world import World

EXAMPLES, _, STEPS = os.environ.get("CASEFLOW_MACHINE", "18x40").partition("x")
CHANCE = "CASEFLOW_MACHINE" in os.environ
SHRINK = os.environ.get("CASEFLOW_MACHINE_SHRINK") == "1"
SEED = int(os.environ.get("CASEFLOW_MACHINE_SEED") or (random.SystemRandom().randrange(2**32) if CHANCE else 4821))

#: A machine that never gets here proves nothing.
NEEDED = (
    "case.quorum_reached",
    "case.withdrawn",
    "case.expired",
    "case.returned",
    "case.facts_changed",
    "case.effects_confirmed",
    "action.unknown",
    "decision.refused",
    "died",
    "effect CONFIRMED",
    "COMPLETED",
    "CLOSED_NO_CHANGE",
    "NEEDS_ATTENTION",
    "overtake",
    "intake conflict",
    "too_late_to_withdraw",
    "stale_snapshot",
)


@pytest.mark.timeout(24 * 3600 if CHANCE else 900)
def test_whatever_happens_in_whatever_order_every_promise_holds(
    engine: Engine, run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    reached: Counter[str] = Counter()

    class Machine(CaseMachine):
        make_world = staticmethod(lambda: World.new(engine, reached))
        run_command = staticmethod(run)

    profile = settings(
        max_examples=2,
        stateful_step_count=int(STEPS or 40),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
        # A failing run is told as it was; making it smaller takes many minutes and is asked for.
        phases=[Phase.generate, Phase.shrink] if SHRINK else [Phase.generate],
    )
    # Hypothesis begins with the simplest example, in which nothing happens, and later varies what it had: many runs of
    # two examples see more than one run of many.
    for number in range(SEED, SEED + int(EXAMPLES)):
        try:
            run_state_machine_as_test(seed(number)(Machine), settings=profile)
        except BaseException as failure:
            failure.add_note(f"again: CASEFLOW_MACHINE=1x{STEPS or 40} CASEFLOW_MACHINE_SEED={number}")
            raise
    with capfd.disabled():
        print(f"\n  machine: {EXAMPLES} examples of {STEPS} steps, seeds from {SEED}: {dict(reached)}")
    assert CHANCE or [kind for kind in NEEDED if not reached[kind]] == []
