"""The dispatcher sweeps as often as workers need it: at once where there is room, seldom where all have work."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from cases.dispatching import IDLE, ONLY_NEW, TOP_UP, UNHURRIED, WINDOW, Swept, rest_behind_a_full_window
from cases.management.commands.run_dispatcher import BETWEEN_FEW, FEW, Rhythm
from cases.models.task import QUICK, SLOW

pytestmark = pytest.mark.usefixtures("committing_database")
SHORTEST, LONGEST = TOP_UP.total_seconds(), UNHURRIED.total_seconds()


@dataclass
class Night:
    """Time that passes by resting alone, and what of it a notice may end."""

    now: float = 100.0
    undisturbed: list[float] = field(default_factory=list)
    listening: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now


class Stopped(threading.Event):
    """The order to stop, which does not come."""

    def __init__(self, night: Night) -> None:
        super().__init__()
        self._night = night

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self._night.undisturbed.append(timeout)
        self._night.now += timeout
        return False


@dataclass
class Listening:
    """A listener that is told of something new all the time."""

    night: Night

    def wait(self, seconds: float) -> bool:
        self.night.listening.append(seconds)
        return True


@pytest.fixture
def night() -> Night:
    return Night()


@pytest.fixture
def rhythm(night: Night) -> Rhythm:
    return Rhythm(Listening(night), Stopped(night), clock=night)  # type: ignore[arg-type]


def filled(taken: int, *full: str) -> Swept:
    """A sweep that found so many places free, of each queue, and left these full."""
    rung = [(queue, number) for queue in full for number in range(taken)]
    return Swept(rung, {QUICK: taken, SLOW: taken}, frozenset(full))


@pytest.mark.parametrize("rate", [125, 200, 400, 750])  # tasks a second
def test_behind_a_full_window_workers_take_a_quarter_of_it_before_the_next_sweep(rate: int) -> None:
    assert rate * rest_behind_a_full_window(round(rate * 0.04), 0.04) == pytest.approx(WINDOW / 4)


@pytest.mark.parametrize("rate", [1, 25, 160, 640, 1600])  # tasks a second
def test_workers_at_their_pace_never_take_more_than_half_of_a_window_between_two_sweeps(rate: int) -> None:
    rest = SHORTEST
    for _ in range(20):
        taken = int(rate * rest)
        assert taken <= WINDOW / 2
        rest = rest_behind_a_full_window(taken, rest)


def test_workers_that_have_become_faster_are_rung_for_at_the_shortest_distance() -> None:
    assert rest_behind_a_full_window(WINDOW // 2 + 1, LONGEST) == SHORTEST
    assert rest_behind_a_full_window(WINDOW, LONGEST) == SHORTEST


@pytest.mark.parametrize("taken", [0, 1])
def test_workers_that_take_nothing_or_little_are_looked_after_all_the_same(taken: int) -> None:
    assert rest_behind_a_full_window(taken, LONGEST) == LONGEST


def test_behind_a_full_window_nothing_that_is_told_ends_the_rest_but_the_order_to_stop(
    rhythm: Rhythm, night: Night
) -> None:
    for _ in range(2):
        rhythm.begin()
        rhythm.rest(filled(2, QUICK))
        night.now += 0.04 - SHORTEST
    # Two in 40 ms: a quarter would be taken in 320.
    rhythm.begin()
    rhythm.rest(filled(2, QUICK))
    assert set(night.listening) == {0.0}
    assert night.undisturbed[-1] == pytest.approx(LONGEST)
    assert rhythm.wanted == ONLY_NEW, "it looked a moment ago"


def test_a_window_that_has_just_filled_may_empty_as_fast(rhythm: Rhythm, night: Night) -> None:
    night.now += IDLE.total_seconds()
    rhythm.begin()
    rhythm.rest(filled(10, QUICK))
    assert night.undisturbed == pytest.approx([SHORTEST])


def test_the_faster_of_two_full_windows_sets_the_pace(rhythm: Rhythm, night: Night) -> None:
    rhythm.begin()
    rhythm.rest(filled(WINDOW, QUICK, SLOW))
    night.now += 0.02
    rhythm.begin()
    rhythm.rest(Swept([(QUICK, 1)], {QUICK: 1, SLOW: 16}, frozenset({QUICK, SLOW})))
    assert night.undisturbed[-1] == pytest.approx(0.04)


def test_where_there_is_room_a_notice_is_answered_as_promptly_as_ever(rhythm: Rhythm, night: Night) -> None:
    rhythm.begin()
    rhythm.rest(Swept([(QUICK, 1)], {QUICK: WINDOW, SLOW: WINDOW}))
    assert night.undisturbed == pytest.approx([BETWEEN_FEW.total_seconds()])
    rhythm.begin()
    rhythm.rest(Swept([], {QUICK: WINDOW, SLOW: WINDOW}))
    assert night.listening[-1] > 0


def test_a_window_of_few_is_topped_up_as_promptly_as_ever(night: Night) -> None:
    """It is full after every sweep; nobody has a window of work then."""
    rhythm = Rhythm(Listening(night), Stopped(night), FEW, clock=night)  # type: ignore[arg-type]
    rhythm.begin()
    rhythm.rest(filled(FEW, QUICK))
    assert night.undisturbed == pytest.approx([BETWEEN_FEW.total_seconds()])


def test_while_quick_work_has_room_a_crowd_of_slow_work_delays_nothing(rhythm: Rhythm, night: Night) -> None:
    for taken in (FEW, 0):
        rhythm.begin()
        rhythm.rest(filled(taken, SLOW))
    assert night.undisturbed == pytest.approx([BETWEEN_FEW.total_seconds()])
    assert night.listening[-1] > 0, "a notice ends it"


def test_a_crowd_of_quick_work_delays_slow_work_by_no_more_than_its_longest_rest(rhythm: Rhythm, night: Night) -> None:
    for _ in range(3):
        rhythm.begin()
        rhythm.rest(filled(0, QUICK))
    assert max(night.undisturbed) == pytest.approx(LONGEST)
