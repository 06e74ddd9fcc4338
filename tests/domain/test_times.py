"""Each instant of a case is in exactly one part, and the five add up (design §14)."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caseflow.domain.lifecycle import OPEN, State
from caseflow.domain.times import Part, Segment, Stay, TimeParts, time_parts, time_segments

OPENED = 1_700_000_000_000_000  #: microseconds since 1970
LENGTHS = st.integers(0, 40)
MOMENTS = st.integers(OPENED - 20, OPENED + 400)
ATTEMPTS = st.lists(st.tuples(MOMENTS, MOMENTS), max_size=8)

#: A busy machine is no fault of the rule.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def histories(draw: st.DrawFn) -> list[Stay]:
    at, stays = OPENED, []
    for state in draw(st.lists(st.sampled_from(sorted(OPEN)), max_size=10)):
        ended = at + draw(LENGTHS)
        undo = draw(st.none() | MOMENTS) if state is State.EXECUTING else None
        stays.append(Stay(state, at, ended, undo))
        at = ended
    return [*stays, Stay(State.COMPLETED, at, at)]


@patient
@given(histories(), ATTEMPTS)
def test_segments_tile_the_time_from_opening_to_closing(stays: list[Stay], worked: list[tuple[int, int]]) -> None:
    segments = time_segments(stays, worked)
    at = OPENED
    for segment in segments:
        assert segment.begun == at, "a gap or an overlap"
        assert segment.ended > segment.begun
        at = segment.ended
    assert at == stays[-1].ended
    assert all(one.part is not other.part for one, other in pairwise(segments))


@patient
@given(histories(), ATTEMPTS)
def test_the_five_parts_add_up_to_the_microsecond(stays: list[Stay], worked: list[tuple[int, int]]) -> None:
    assert time_parts(stays, worked).total == stays[-1].ended - OPENED


@patient
@given(histories(), ATTEMPTS)
def test_every_instant_has_the_part_that_its_state_and_its_workers_give_it(
    stays: list[Stay], worked: list[tuple[int, int]]
) -> None:
    """The same rule said of single instants, without intervals."""
    segments = time_segments(stays, worked)
    for stay in stays:
        for instant in range(stay.begun, stay.ended):
            assert _part_at(instant, segments) is _part_of(instant, stay, worked)


def test_the_undo_window_is_a_persons_time_and_the_rest_of_the_execution_is_outside() -> None:
    stays = [Stay(State.EXECUTING, 100, 200, undo_until=130)]
    assert time_parts(stays, [(110, 190)]) == TimeParts(person=30, outside=70)


def test_waiting_for_a_retry_is_queue() -> None:
    assert time_parts([Stay(State.CHECKING, 0, 100)], [(10, 20), (60, 90)]) == TimeParts(queue=60, automatic=40)


def test_two_workers_at_once_are_counted_once() -> None:
    assert time_parts([Stay(State.CHECKING, 0, 100)], [(10, 50), (30, 60)]).automatic == 50


def _part_at(instant: int, segments: list[Segment]) -> Part:
    (found,) = [segment.part for segment in segments if segment.begun <= instant < segment.ended]
    return found


def _part_of(instant: int, stay: Stay, worked: list[tuple[int, int]]) -> Part:
    match stay.state:
        case State.NOTIFYING:
            return Part.NOTICE
        case State.EXECUTING:
            undoing = stay.undo_until is not None and instant < stay.undo_until
            return Part.PERSON if undoing else Part.OUTSIDE
        case State.RECEIVED | State.CHECKING:
            held = any(begun <= instant < ended for begun, ended in worked)
            return Part.AUTOMATIC if held else Part.QUEUE
        case _:
            return Part.PERSON
