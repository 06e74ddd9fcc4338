"""Breadth first through every state within the bounds; the first broken invariant comes back as the shortest trace."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from caseflow.domain.lifecycle import State

from .invariants import at_rest, broken
from .moves import moves
from .states import Setting, World, start


@dataclass
class Explored:
    """What was seen; `problem` and `trace` only where an invariant broke."""

    states: int = 0
    steps: int = 0
    seconds: float = 0.0  #: of the processor
    reached: frozenset[State] = frozenset()  #: where the cases stood
    problem: str = ""
    trace: list[str] = field(default_factory=list)


def explore(setting: Setting, *, limit: int = 1_000_000) -> Explored:
    """Raises RuntimeError past `limit` states: then the bounds are too wide, and nothing was proved."""
    begun = time.process_time()
    found = Explored()
    first = start(setting)
    index: dict[World, int] = {first: 0}
    worlds = [first]
    came: list[tuple[int, str]] = [(-1, "")]
    back: list[list[int]] = [[]]  #: by moves of the machine alone: from where
    here = 0
    while here < len(worlds):
        world = worlds[here]
        for words, kind, after in moves(world, setting):
            found.steps += 1
            there = index.get(after)
            if there is None:
                there = index[after] = len(worlds)
                worlds.append(after)
                came.append((here, words))
                back.append([])
                if problem := broken(after, setting):
                    return _ended(found, worlds, came, there, problem, begun)
            if kind == "machine":
                back[there].append(here)
        here += 1
        if here > limit:
            raise RuntimeError(f"more than {limit} states")
    stuck = _never_at_rest(worlds, back)
    if stuck is not None:
        return _ended(found, worlds, came, stuck, "from here the case never comes to rest by itself", begun)
    return _ended(found, worlds, came, None, "", begun)


def _never_at_rest(worlds: list[World], back: list[list[int]]) -> int | None:
    """The first state from which no moves of the machine lead to rest, after faults have stopped (invariant 12)."""
    reaches = [at_rest(world) for world in worlds]
    frontier = [place for place, rests in enumerate(reaches) if rests]
    while frontier:
        for before in back[frontier.pop()]:
            if not reaches[before]:
                reaches[before] = True
                frontier.append(before)
    return next((place for place, rests in enumerate(reaches) if not rests), None)


def _ended(
    found: Explored, worlds: list[World], came: list[tuple[int, str]], place: int | None, problem: str, begun: float
) -> Explored:
    found.states = len(worlds)
    found.reached = frozenset(case.state for world in worlds for case in world.cases)
    found.problem = problem
    found.seconds = time.process_time() - begun
    while place is not None and place > 0:
        before, words = came[place]
        cases = ", ".join(f"{case.state.value} plan {case.number}" for case in worlds[place].cases)
        actions = ", ".join(f"{action.case + 1}.{action.number} {action.status}" for action in worlds[place].actions)
        found.trace.append(f"{words}  [{cases}; {actions or 'no action'}; {len(worlds[place].effects)} applied]")
        place = before
    found.trace.reverse()
    return found


def told(found: Explored) -> str:
    """A counter-example to read."""
    lines = [f"{number:>3}. {line}" for number, line in enumerate(found.trace, start=1)]
    return "\n".join([f"{found.problem}: after {len(found.trace)} steps of {found.states} states", *lines])
