"""Where a case's time goes (design §14): each instant is in exactly one part, and the parts add up to the total.

Moments are whole microseconds since 1970, as audit events carry them: sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .lifecycle import State

Worked = tuple[int, int]  #: [begun, ended) of one attempt, in microseconds


class Part(StrEnum):
    """Whose turn it was."""

    QUEUE = "queue"  #: due, and no worker had it; or waiting for a retry
    AUTOMATIC = "automatic"  #: a worker had it
    PERSON = "person"  #: a decision, data, help, or the undo window
    OUTSIDE = "outside"  #: an effect was on its way
    NOTICE = "notice"  #: people were being told


_OF_STATE = {
    State.WAITING_DATA: Part.PERSON,
    State.WAITING_APPROVAL: Part.PERSON,
    State.NEEDS_ATTENTION: Part.PERSON,
    State.EXECUTING: Part.OUTSIDE,
    State.NOTIFYING: Part.NOTICE,
}


@dataclass(frozen=True, slots=True)
class Stay:
    """A stay in one state, [begun, ended). `undo_until` is set where an approval began it."""

    state: State
    begun: int
    ended: int
    undo_until: int | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one part, [begun, ended), never empty."""

    part: Part
    begun: int
    ended: int

    @property
    def length(self) -> int:
        """Microseconds."""
        return self.ended - self.begun


@dataclass(frozen=True, slots=True)
class TimeParts:
    """The five parts of a case's time, in microseconds."""

    queue: int = 0
    automatic: int = 0
    person: int = 0
    outside: int = 0
    notice: int = 0

    @property
    def total(self) -> int:
        return self.queue + self.automatic + self.person + self.outside + self.notice

    def of(self, part: Part) -> int:
        value: int = getattr(self, part.value)
        return value


def time_segments(stays: Sequence[Stay], worked: Iterable[Worked]) -> list[Segment]:
    """The stretches of a case's time in order, without gap or overlap. Attempts may overlap and reach over stays."""
    attempts = _merged(worked)
    found: list[Segment] = []
    for stay in stays:
        for segment in _segments_of(stay, attempts):
            if found and found[-1].part is segment.part and found[-1].ended == segment.begun:
                found[-1] = Segment(segment.part, found[-1].begun, segment.ended)
            else:
                found.append(segment)
    return found


def time_parts(stays: Sequence[Stay], worked: Iterable[Worked]) -> TimeParts:
    """How much of each part; `cases.times` says the same in SQL for many cases at once."""
    sums = dict.fromkeys((part.value for part in Part), 0)
    for segment in time_segments(stays, worked):
        sums[segment.part.value] += segment.length
    return TimeParts(**sums)


def _segments_of(stay: Stay, attempts: Sequence[Worked]) -> Iterator[Segment]:
    if stay.state is State.EXECUTING and stay.undo_until is not None:
        turn = min(max(stay.undo_until, stay.begun), stay.ended)
        yield from _stretch(Part.PERSON, stay.begun, turn)
        yield from _stretch(Part.OUTSIDE, turn, stay.ended)
    elif stay.state in _OF_STATE:
        yield from _stretch(_OF_STATE[stay.state], stay.begun, stay.ended)
    elif stay.state in (State.RECEIVED, State.CHECKING):
        at = stay.begun
        for begun, ended in attempts:
            begun, ended = max(begun, at), min(ended, stay.ended)
            if begun < ended:
                yield from _stretch(Part.QUEUE, at, begun)
                yield Segment(Part.AUTOMATIC, begun, ended)
                at = ended
        yield from _stretch(Part.QUEUE, at, stay.ended)
    # A closed case spends no time.


def _stretch(part: Part, begun: int, ended: int) -> Iterator[Segment]:
    if begun < ended:
        yield Segment(part, begun, ended)


def _merged(worked: Iterable[Worked]) -> list[Worked]:
    """The same time without overlaps, in order."""
    merged: list[Worked] = []
    for begun, ended in sorted(worked):
        if merged and begun <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(ended, merged[-1][1]))
        elif begun < ended:
            merged.append((begun, ended))
    return merged
