"""The picture of a process: every arrow of the code's own table, each in a place of its own, none through a box."""

from __future__ import annotations

import re
from itertools import product

import pytest

from caseflow.console.diagram import LARGE, SMALL, Box, Picture, Size, draw
from caseflow.domain.drawing import arrows_of, mermaid
from caseflow.domain.lifecycle import CLOSED, STANDARD, State

ALL_PAIRS = [(one, other) for one, other in product(State, State) if one is not other and one not in CLOSED]
SIZES = pytest.mark.parametrize("size", [LARGE, SMALL], ids=["large", "small"])


def points(line: str) -> list[tuple[int, int]]:
    """The corners of a path of M, H and V."""
    found: list[tuple[int, int]] = []
    for letter, first, second in re.findall(r"([MHV])(-?\d+)(?: (-?\d+))?", line):
        x, y = found[-1] if found else (0, 0)
        found.append((x if letter == "V" else int(first), y if letter == "H" else int(second or first)))
    return found


def touches(box: Box, point: tuple[int, int]) -> bool:
    x, y = point
    on_side = x in (box.x, box.right) and box.y <= y <= box.bottom
    return on_side or (y in (box.y, box.bottom) and box.x <= x <= box.right)


def crosses(box: Box, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """Whether a part of the line runs inside the box."""
    left, right = sorted((start[0], end[0]))
    top, bottom = sorted((start[1], end[1]))
    return left < box.right and right > box.x and top < box.bottom and bottom > box.y


@SIZES
def test_every_arrow_of_the_table_begins_and_ends_at_its_states(size: Size) -> None:
    picture = draw(arrows_of(STANDARD), size)
    assert {(arrow.source, arrow.target) for arrow in picture.arrows} == set(arrows_of(STANDARD))
    assert {box.state for box in picture.boxes} == set(State)
    boxes = {box.state: box for box in picture.boxes}
    for arrow in picture.arrows:
        corners = points(arrow.line)
        assert touches(boxes[arrow.source], corners[0]), arrow
        assert touches(boxes[arrow.target], corners[-1]), arrow


@SIZES
def test_no_arrow_of_the_standard_table_runs_through_a_box(size: Size) -> None:
    picture = draw(arrows_of(STANDARD), size)
    found = [
        (arrow.source, arrow.target, box.state)
        for arrow in picture.arrows
        for start, end in zip(points(arrow.line), points(arrow.line)[1:], strict=False)
        for box in picture.boxes
        if crosses(box, start, end)
    ]
    assert found == []


@SIZES
def test_no_two_boxes_overlap_and_everything_lies_within(size: Size) -> None:
    picture = draw(ALL_PAIRS, size)
    for one, other in product(picture.boxes, picture.boxes):
        if one is not other:
            assert one.right <= other.x or other.right <= one.x or one.bottom <= other.y or other.bottom <= one.y
    assert within(picture)


def within(picture: Picture) -> bool:
    corners = [point for arrow in picture.arrows for point in points(arrow.line)]
    corners += [(box.right, box.bottom) for box in picture.boxes]
    return all(0 <= x <= picture.width and 0 <= y <= picture.height for x, y in corners)


def test_any_table_can_be_drawn_whichever_states_it_joins() -> None:
    assert len(draw(ALL_PAIRS, LARGE).arrows) == len(ALL_PAIRS)
    for pair in ALL_PAIRS:
        assert len(draw([pair], SMALL).arrows) == 1
    assert draw([(State.CHECKING, State.CHECKING)], SMALL).arrows == []


def test_the_mermaid_text_has_the_same_arrows() -> None:
    lines = list(mermaid(STANDARD))
    for source, target in arrows_of(STANDARD):
        assert any(line.strip().startswith(f"{source.value} --> {target.value}:") for line in lines)
