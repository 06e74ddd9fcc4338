"""Where each state and each arrow of a process stands in its picture. Nothing here knows a case, a word or a colour.

The states have fixed places: the way of an ordinary case runs from left to right, waiting for data stands above it,
"closed without change" is a bar on top, "needs attention" a bar below. Arrows follow from the table alone. They run in
right angles: side by side between neighbours, in lanes of their own over or under the row where they skip a state, and
straight to the bars.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from caseflow.domain.lifecycle import State

Pair = tuple[State, State]

ROW: Sequence[State] = (
    State.RECEIVED,
    State.CHECKING,
    State.WAITING_APPROVAL,
    State.EXECUTING,
    State.NOTIFYING,
    State.COMPLETED,
)
ABOVE, TOP, BOTTOM = State.WAITING_DATA, State.CLOSED_NO_CHANGE, State.NEEDS_ATTENTION
BARS = frozenset({TOP, BOTTOM})
HEAD = 6  #: units of an arrow's head


@dataclass(frozen=True, slots=True)
class Size:
    """Units of a picture: a box, the gap between boxes, the height of a bar, the distance of lanes, the margin."""

    width: int
    height: int
    gap: int
    bar: int
    lane: int
    margin: int


LARGE = Size(width=178, height=80, gap=28, bar=68, lane=9, margin=24)
SMALL = Size(width=118, height=30, gap=14, bar=24, lane=6, margin=14)


@dataclass(frozen=True, slots=True)
class Box:
    """A state; x and y are its upper left corner."""

    state: State
    x: int
    y: int
    width: int
    height: int

    @property
    def middle(self) -> int:
        return self.x + self.width // 2

    @property
    def bottom(self) -> int:
        return self.y + self.height

    @property
    def right(self) -> int:
        return self.x + self.width

    # Where what is written in a box stands: one line in the middle, or an icon and up to three lines beside it.

    @property
    def label_y(self) -> int:
        return self.y + self.height // 2 + 4

    @property
    def icon_x(self) -> int:
        return self.x + 8

    @property
    def icon_y(self) -> int:
        return self.y + 7

    @property
    def text_x(self) -> int:
        return self.x + 30

    @property
    def first_y(self) -> int:
        return self.y + 19

    @property
    def second_y(self) -> int:
        return self.y + 37

    @property
    def stopped_x(self) -> int:
        return self.x + 24

    @property
    def stopped_y(self) -> int:
        return self.bottom - 26

    @property
    def stopped_width(self) -> int:
        return self.width - 28

    @property
    def third_y(self) -> int:
        return self.bottom - 10


@dataclass(frozen=True, slots=True)
class Arrow:
    """`line` and `head` are paths of SVG."""

    source: State
    target: State
    line: str
    head: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything in its place."""

    width: int
    height: int
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]


def draw(pairs: Iterable[Pair], size: Size) -> Picture:
    """The picture of these arrows; of a pair that leads back to its own state there is none."""
    return _Drawing([pair for pair in pairs if pair[0] is not pair[1]], size).picture()


class _Drawing:
    def __init__(self, pairs: Sequence[Pair], size: Size) -> None:
        self.pairs = pairs
        self.size = size
        lanes_over = sum(self._skips(pair, forward=True) for pair in pairs)
        lanes_above = sum(ABOVE in pair and not BARS & set(pair) for pair in pairs) + ((ABOVE, BOTTOM) in pairs)
        lanes_under = sum(self._skips(pair, forward=False) for pair in pairs)
        self.above_y = size.margin + size.bar + 3 * HEAD
        self.row_y = self.above_y + size.bar + (lanes_above + lanes_over + 2) * size.lane + 2 * HEAD
        self.bottom_y = self.row_y + size.height + (lanes_under + 1) * size.lane + 3 * HEAD
        self.boxes = {box.state: box for box in self._boxes()}
        self.ports = self._ports()
        self.over = self.row_y - size.lane - HEAD
        self.under = self.row_y + size.height + size.lane
        self.beside = self.above_y + size.bar + size.lane

    def picture(self) -> Picture:
        # The shorter an arrow, the nearer its lane lies to the row: then the fewest cross.
        arrows = [self._arrow(pair) for pair in sorted(self.pairs, key=self._length)]
        width = self.boxes[State.COMPLETED].right + self.size.margin
        return Picture(width, self.boxes[BOTTOM].bottom + self.size.margin, list(self.boxes.values()), arrows)

    def _boxes(self) -> Iterable[Box]:
        size = self.size
        step = size.width + size.gap
        for column, state in enumerate(ROW):
            yield Box(state, size.margin + column * step, self.row_y, size.width, size.height)
        yield Box(ABOVE, size.margin + step + step // 2, self.above_y, size.width, size.bar)
        bar = 4 * step + size.width
        yield Box(TOP, size.margin, size.margin, bar, size.bar)
        yield Box(BOTTOM, size.margin, self.bottom_y, bar, size.bar)

    def _ports(self) -> dict[tuple[State, str, Pair], int]:
        """Where on its upper or lower side an arrow touches a box: spread evenly, in the order of the other ends."""
        touching: dict[tuple[State, str], list[tuple[float, Pair]]] = defaultdict(list)
        for pair in self.pairs:
            for state, other in (pair, pair[::-1]):
                side = self._side(state, other, pair)
                if side:
                    touching[state, side].append((self._towards(state, other), pair))
        found = {}
        for (state, side), ends in touching.items():
            box = self.boxes[state]
            for place, (_, pair) in enumerate(sorted(ends, key=lambda end: (end[0], end[1])), start=1):
                found[state, side, pair] = box.x + box.width * place // (len(ends) + 1)
        return found

    def _side(self, state: State, other: State, pair: Pair) -> str:
        """The side of `state` that the arrow touches, where it is an upper or lower one with ports."""
        if state in BARS:
            return ""  # a bar is met wherever the arrow comes
        if state is ABOVE:
            return "over" if other is TOP else "under"
        if other is BOTTOM:
            return "under"
        if other in (ABOVE, TOP):
            return "over"
        if self._skips(pair, forward=True):
            return "over"
        return "under" if self._skips(pair, forward=False) else ""

    def _towards(self, state: State, other: State) -> float:
        if other is TOP and state in ROW:
            # Beside the box of waiting, not through it.
            return float("-inf") if ROW.index(state) <= 1 else float("inf")
        return float(self.boxes[other].middle) if other not in BARS else float(self.boxes[state].middle)

    def _skips(self, pair: Pair, *, forward: bool) -> bool:
        """Whether both stand in the row and are no neighbours."""
        if not set(pair) <= set(ROW):
            return False
        distance = ROW.index(pair[1]) - ROW.index(pair[0])
        return distance > 1 if forward else distance < -1

    def _length(self, pair: Pair) -> tuple[int, int]:
        source, target = (self.boxes[state] for state in pair)
        return abs(source.middle - target.middle), source.middle

    def _arrow(self, pair: Pair) -> Arrow:
        source, target = pair
        line, end = self._route(source, target, pair)
        return Arrow(source, target, line, _head(*end))

    def _route(self, source: State, target: State, pair: Pair) -> tuple[str, tuple[int, int, str]]:
        """The line, and where it ends in which direction."""
        here, there = self.boxes[source], self.boxes[target]
        if {source, target} == BARS or (BOTTOM in pair and State.COMPLETED in pair):
            return self._around(here, there)
        if TOP in pair or BOTTOM in pair:
            return self._to_a_bar(here, there, pair)
        if ABOVE in pair:
            lane = self._lane("beside")
            start, end = self.ports[source, self._side(source, target, pair), pair], self._end(pair)
            begin_y = here.bottom if source is ABOVE else here.y
            end_y, way = (there.bottom, "up") if target is ABOVE else (there.y, "down")
            return f"M{start} {begin_y}V{lane}H{end}V{end_y}", (end, end_y, way)
        if self._skips(pair, forward=True) or self._skips(pair, forward=False):
            forward = self._skips(pair, forward=True)
            side = "over" if forward else "under"
            start, end, lane = self.ports[source, side, pair], self.ports[target, side, pair], self._lane(side)
            y, way = (here.y, "down") if forward else (here.bottom, "up")
            return f"M{start} {y}V{lane}H{end}V{y}", (end, y, way)
        if here.x < there.x:
            y = here.y + here.height * 3 // 8
            return f"M{here.right} {y}H{there.x}", (there.x, y, "right")
        y = here.y + here.height * 5 // 8
        return f"M{here.x} {y}H{there.right}", (there.right, y, "left")

    def _to_a_bar(self, here: Box, there: Box, pair: Pair) -> tuple[str, tuple[int, int, str]]:
        source, target = pair
        box = here if source not in BARS else there
        bar = there if box is here else here
        if box.state is ABOVE and bar.state is BOTTOM:
            # Down through the gap of the row beneath it.
            gap = self.boxes[State.CHECKING].right + self.size.gap // 2
            port = self.ports[ABOVE, "under", pair]
            lane = self._lane("beside")
            if source is ABOVE:
                return f"M{port} {box.bottom}V{lane}H{gap}V{bar.y}", (gap, bar.y, "down")
            return f"M{gap} {bar.y}V{lane}H{port}V{box.bottom}", (port, box.bottom, "up")
        x = self.ports[box.state, "under" if bar.state is BOTTOM else "over", pair]
        if bar.state is BOTTOM:
            return (
                (f"M{x} {box.bottom}V{bar.y}", (x, bar.y, "down"))
                if target is BOTTOM
                else (f"M{x} {bar.y}V{box.bottom}", (x, box.bottom, "up"))
            )
        if box.x >= bar.right:  # beyond the end of the bar
            y = bar.y + bar.height // 2
            return f"M{x} {box.y}V{y}H{bar.right}", (bar.right, y, "left")
        return (
            (f"M{x} {box.y}V{bar.bottom}", (x, bar.bottom, "up"))
            if target is TOP
            else (f"M{x} {bar.bottom}V{box.y}", (x, box.y, "down"))
        )

    def _around(self, here: Box, there: Box) -> tuple[str, tuple[int, int, str]]:
        """Between the bars on the left; between the lower bar and the end of the row on the right."""
        if {here.state, there.state} == BARS:
            x = self.size.margin // 2
            start, end = here.y + here.height // 2, there.y + there.height // 2
            return f"M{here.x} {start}H{x}V{end}H{there.x}", (there.x, end, "right")
        bar, box = (here, there) if here.state is BOTTOM else (there, here)
        y = bar.y + bar.height // 2
        if here is bar:
            x = box.middle - self.size.lane
            return f"M{bar.right} {y}H{x}V{box.bottom}", (x, box.bottom, "up")
        x = box.middle + self.size.lane
        return f"M{x} {box.bottom}V{y}H{bar.right}", (bar.right, y, "left")

    def _end(self, pair: Pair) -> int:
        source, target = pair
        return self.ports[target, self._side(target, source, pair), pair]

    def _lane(self, where: str) -> int:
        """The next free lane."""
        if where == "over":
            self.over -= self.size.lane
            return self.over
        if where == "under":
            self.under += self.size.lane
            return self.under
        self.beside += self.size.lane
        return self.beside


def _head(x: int, y: int, way: str) -> str:
    """A triangle whose tip is (x, y)."""
    half = HEAD * 2 // 3
    return {
        "up": f"M{x} {y}l{-half} {HEAD}h{2 * half}z",
        "down": f"M{x} {y}l{-half} {-HEAD}h{2 * half}z",
        "right": f"M{x} {y}l{-HEAD} {-half}v{2 * half}z",
        "left": f"M{x} {y}l{HEAD} {-half}v{2 * half}z",
    }[way]
