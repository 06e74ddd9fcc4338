"""The way that one case went, as a small picture: the same places as in the picture of its process.

For a page that has gathered the history of a case: `{% path_diagram case history %}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from caseflow.domain.lifecycle import State

from . import words
from .diagram import SMALL, Box, Picture, draw
from .history import Happened


@dataclass(frozen=True, slots=True)
class Station:
    """A state of the picture; `passed` counts how often the case came into it."""

    box: Box
    state: words.Shown
    passed: int
    is_here: bool


@dataclass(frozen=True, slots=True)
class Path:
    """`steps` are the labels in the order in which the case came by; `picture` holds only arrows that were taken."""

    picture: Picture
    stations: Sequence[Station]
    steps: Sequence[str]


def path_of(history: Iterable[Happened], here: str) -> Path:
    """No query: the history is there already. Only its newest part where it was cut."""
    moves = [
        (State(event.from_state.code) if event.from_state else None, State(event.to_state.code))
        for event in history
        if event.to_state
    ]
    passed = [target for _, target in moves]
    if moves and moves[0][0] is not None:
        passed.insert(0, moves[0][0])
    taken = dict.fromkeys((source, target) for source, target in moves if source is not None)
    picture = draw(taken, SMALL)
    stations = [
        Station(box, words.state_word(box.state.value), passed.count(box.state), box.state == here)
        for box in picture.boxes
    ]
    return Path(picture, stations, [words.state_word(state.value).label for state in passed])
