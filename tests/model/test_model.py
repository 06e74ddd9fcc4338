"""Every order of every step within bounds: nothing is lost, nothing is done twice; and each protection is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache

import pytest

from actions.models import HOLDING, IN_DOUBT
from approvals.deciding import MAX_RETURNS
from caseflow.domain.lifecycle import State

from . import rules
from .explore import Explored, explore, told
from .settings import DOORS, MISSED, WHOLE, without
from .states import Protections, Setting

Explore = Callable[[str, Setting], Explored]

#: Counter-examples printed in every run; `python -m tests.model` prints all.
SHOWN = {"without look_up_first", "without subject_lock"}

explored_once = cache(explore)


@pytest.fixture(scope="module")
def exploring(request: pytest.FixtureRequest) -> Iterator[Explore]:
    """Explore and say how much was explored; the sum comes last."""
    plugins = request.config.pluginmanager
    states, seconds = 0, 0.0

    def write(line: str) -> None:
        with plugins.get_plugin("capturemanager").global_and_fixture_disabled():
            print(f"\n  model: {line}", flush=True)

    def explored(name: str, setting: Setting) -> Explored:
        nonlocal states, seconds
        found = explored_once(setting)
        states, seconds = states + found.states, seconds + found.seconds
        ended = found.problem or "nothing broke"
        write(f"{name}: {found.states:,} states, {found.steps:,} steps, {found.seconds:.1f} s: {ended}")
        if name in SHOWN:
            write(told(found))
        return found

    yield explored
    write(f"{states:,} states explored in {seconds:.1f} s of the processor")


@pytest.mark.parametrize("name", WHOLE)
def test_nothing_is_lost_or_done_twice_in_any_order(name: str, exploring: Explore) -> None:
    found = exploring(name, WHOLE[name])

    assert not found.problem, told(found)
    assert State.COMPLETED in found.reached


@pytest.mark.parametrize(("protection", "setting", "problem"), MISSED)
def test_a_protection_that_is_taken_out_is_missed(
    protection: str, setting: Setting, problem: str, exploring: Explore
) -> None:
    assert not explored_once(setting).problem

    found = exploring(f"without {protection}", without(setting, protection))

    assert found.problem == problem, told(found)
    assert found.trace


@pytest.mark.parametrize(("outer", "inner", "setting", "problem"), DOORS)
def test_behind_an_open_door_the_next_one_holds_until_it_is_opened_too(
    outer: str, inner: str, setting: Setting, problem: str, exploring: Explore
) -> None:
    alone = explored_once(without(setting, outer))
    assert not alone.problem, told(alone)

    found = exploring(f"without {outer} and {inner}", without(setting, outer, inner))

    assert found.problem == problem, told(found)


def test_what_the_model_copies_is_what_the_product_says() -> None:
    assert rules.MAX_RETURNS == MAX_RETURNS
    assert set(IN_DOUBT) == rules.IN_DOUBT
    assert set(HOLDING) == rules.HOLDING


def test_every_protection_is_taken_out_somewhere() -> None:
    taken_out = {name for name, _, _ in MISSED} | {name for outer, inner, _, _ in DOORS for name in (outer, inner)}

    assert taken_out == {field.name for field in fields(Protections)}
