"""Geometry of charts in whole units of a picture. Nothing here knows a case or an indicator; words come in as text.

Each chart is drawn by `templates/console/charts/<shape>.html`. A tone names a colour of the style sheet; it never
stands alone: every mark says its words, and the page has a table with the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 720
LABELS, VALUES = 220, 110  #: units left of the bars for what they are, and right of them for how much
LETTERS = 27  #: of a label; more would run under its bar. The table says it in full.
ROW, BAR = 28, 16  #: units of a row, and of the bar in it
STRIP = 26  #: units of height
MOST_PIECES = 240  #: in one strip; more could not be told apart
PLOT_HEIGHT, PLOT_LEFT, PLOT_TOP, PLOT_FOOT = 150, 56, 12, 24


@dataclass(frozen=True, slots=True)
class Mark:
    """A rectangle with what it says."""

    x: int
    y: int
    width: int
    height: int
    tone: str
    says: str


@dataclass(frozen=True, slots=True)
class Line:
    """One row of bars: its label, how much, and its marks from left to right."""

    label: str
    value: str
    y: int
    value_x: int
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class Bars:
    """Horizontal bars; one row may be divided into several marks."""

    title: str
    says: str
    lines: Sequence[Line]
    legend: Sequence[tuple[str, str]] = ()  #: (tone, what it means)
    shape: str = "bars"
    width: int = WIDTH

    @property
    def height(self) -> int:
        return max(1, len(self.lines)) * ROW


@dataclass(frozen=True, slots=True)
class Strip:
    """One bar over the whole width: what followed what."""

    title: str
    says: str
    marks: Sequence[Mark]
    legend: Sequence[tuple[str, str]]
    shape: str = "strip"
    width: int = WIDTH
    height: int = STRIP


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a bar before it has a place: how much it is in any unit, its colour and its words."""

    amount: float
    tone: str
    says: str


@dataclass(frozen=True, slots=True)
class Row:
    """One bar before it has a place."""

    label: str
    value: str
    pieces: Sequence[Piece]

    @property
    def amount(self) -> float:
        return sum(piece.amount for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Series:
    """One kind of thing over time: a value for each point, None where there is none, and what each says."""

    tone: str
    label: str
    values: Sequence[float | None]
    says: Sequence[str]


@dataclass(frozen=True, slots=True)
class Trend:
    """Columns or lines over time, with two marks of the scale and three moments below."""

    title: str
    says: str
    marks: Sequence[Mark]
    paths: Sequence[tuple[str, str]]  #: (tone, points of a line without a gap)
    legend: Sequence[tuple[str, str]]
    most: str
    moments: Sequence[tuple[int, str, str]]  #: (x, which end of the text stands there, text)
    shape: str = "trend"
    width: int = WIDTH
    height: int = PLOT_TOP + PLOT_HEIGHT + PLOT_FOOT
    left: int = PLOT_LEFT
    top: int = PLOT_TOP
    bottom: int = PLOT_TOP + PLOT_HEIGHT


def bars(
    title: str, says: str, rows: Sequence[Row], *, most: float = 0, legend: Sequence[tuple[str, str]] = ()
) -> Bars:
    """`most` is the amount that fills the whole width; without it, that of the longest row."""
    scale = most or max((row.amount for row in rows), default=0)
    return Bars(title, says, [_line(row, place, scale) for place, row in enumerate(rows)], legend)


def cut(amounts: Sequence[float], length: int) -> list[int]:
    """`length` in whole units, shared as the amounts are. The shares add up to it; each that is not nothing has one."""
    whole = sum(amounts)
    if whole <= 0:
        return [0 for _ in amounts]
    ends, reached = [], 0.0
    for amount in amounts:
        reached += amount
        ends.append(round(reached / whole * length))
    shares = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    for place, amount in enumerate(amounts):
        if amount > 0 and shares[place] == 0:
            shares[shares.index(max(shares))] -= 1
            shares[place] = 1
    return shares


def strip(title: str, says: str, pieces: Sequence[Piece], *, legend: Sequence[tuple[str, str]]) -> Strip:
    """The pieces in their order. Of too many, those of one tone are put together, so that the amounts stay right."""
    if len(pieces) > MOST_PIECES:
        whole = {piece.tone: 0.0 for piece in pieces}
        for piece in pieces:
            whole[piece.tone] += piece.amount
        labels = dict(legend)
        pieces = [Piece(amount, tone, labels.get(tone, tone)) for tone, amount in whole.items()]
    return Strip(title, says, _side_by_side(pieces, 0, 1, WIDTH, STRIP - 2), legend)


def columns(title: str, says: str, series: Sequence[Series], *, most: str, moments: Sequence[str]) -> Trend:
    """Groups of columns side by side, one group for each point of time."""
    points = max((len(one.values) for one in series), default=0)
    top = max((value for one in series for value in one.values if value), default=0)
    room = (WIDTH - PLOT_LEFT) // max(1, points)
    width = max(1, (room - 3) // max(1, len(series)))
    marks = []
    for which, one in enumerate(series):
        for place, (value, words) in enumerate(zip(one.values, one.says, strict=True)):
            if value:
                height = max(2, round(value / top * PLOT_HEIGHT))
                x = PLOT_LEFT + place * room + which * width
                marks.append(Mark(x, PLOT_TOP + PLOT_HEIGHT - height, width, height, one.tone, words))
    legend = [(one.tone, one.label) for one in series]
    return Trend(title, says, marks, (), legend, most, _moments(moments, room, points))


def lines(title: str, says: str, series: Sequence[Series], *, most: str, moments: Sequence[str]) -> Trend:
    """A line for each series with a dot at each point; it breaks where there is no value."""
    points = max((len(one.values) for one in series), default=0)
    top = max((value for one in series for value in one.values if value), default=0)
    room = (WIDTH - PLOT_LEFT) // max(1, points)
    marks, paths = [], []
    for one in series:
        run: list[str] = []
        for place, (value, words) in enumerate(zip(one.values, one.says, strict=True)):
            if value is None:
                paths += [(one.tone, " ".join(run))] if len(run) > 1 else []
                run = []
                continue
            x = PLOT_LEFT + place * room + room // 2
            y = PLOT_TOP + PLOT_HEIGHT - (round(value / top * PLOT_HEIGHT) if top else 0)
            run.append(f"{x},{y}")
            marks.append(Mark(x - 3, y - 3, 6, 6, one.tone, words))
        paths += [(one.tone, " ".join(run))] if len(run) > 1 else []
    legend = [(one.tone, one.label) for one in series]
    return Trend(title, says, marks, paths, legend, most, _moments(moments, room, points))


def _line(row: Row, place: int, scale: float) -> Line:
    whole = WIDTH - LABELS - VALUES
    length = round(row.amount / scale * whole) if scale > 0 else 0
    length = max(length, sum(piece.amount > 0 for piece in row.pieces))
    y = place * ROW
    label = row.label if len(row.label) <= LETTERS else f"{row.label[: LETTERS - 1].rstrip()}…"
    marks = _side_by_side(row.pieces, LABELS, y + (ROW - BAR) // 2, length, BAR)
    return Line(label, row.value, y + ROW // 2 + 4, LABELS + length + 8, marks)


def _side_by_side(pieces: Sequence[Piece], x: int, y: int, length: int, height: int) -> list[Mark]:
    marks = []
    for piece, share in zip(pieces, cut([piece.amount for piece in pieces], length), strict=True):
        if share:
            marks.append(Mark(x, y, share, height, piece.tone, piece.says))
            x += share
    return marks


def _moments(texts: Sequence[str], room: int, points: int) -> list[tuple[int, str, str]]:
    """The first, the middle and the last moment under the picture."""
    if not texts:
        return []
    middle = points // 2
    return [
        (PLOT_LEFT, "start", texts[0]),
        (PLOT_LEFT + middle * room + room // 2, "middle", texts[middle]),
        (PLOT_LEFT + points * room, "end", texts[-1]),
    ]
