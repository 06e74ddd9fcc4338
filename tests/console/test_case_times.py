"""The time bar of a case: the five parts in their order fill it, and the tables beside it say the same."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import pairwise

import pytest

from caseflow.console import charts
from caseflow.console.case_times import CaseTimes, times_of
from caseflow.console.history import history_of
from caseflow.domain.times import Part
from cases.times import stored_parts
from tests.console.seeing import Desks, completed
from tests.driving import Engine, Story


def times(story: Story) -> CaseTimes:
    return times_of(story.case, history_of(story.case))


def test_the_parts_of_a_closed_case_are_those_that_were_stored_and_the_states_add_up_to_them(engine: Engine) -> None:
    story = completed(engine)
    shown, stored = times(story), stored_parts(story.case)
    assert stored is not None and not shown.is_open
    microsecond = timedelta(microseconds=1)
    assert [part.took // microsecond for part in shown.parts] == [stored.of(part) for part in Part]
    assert shown.total // microsecond == stored.total == sum(stay.took // microsecond for stay in shown.stays)
    assert [stay.state.code for stay in shown.stays if stay.is_here] == ["COMPLETED"]


def test_the_bar_is_filled_without_gap_or_overlap(engine: Engine) -> None:
    marks = times(completed(engine)).chart.marks
    assert marks[0].x == 0 and marks[-1].x + marks[-1].width == charts.WIDTH
    assert all(one.x + one.width == following.x for one, following in pairwise(marks))
    assert {mark.tone for mark in marks} <= {part.value for part in Part}


def test_an_open_case_is_measured_until_now(engine: Engine) -> None:
    story = engine.proposed()
    first = times(story)
    second = times(story)
    assert first.is_open and second.total > first.total
    waits = next(stay for stay in second.stays if stay.is_here)
    assert waits.state.code == "WAITING_APPROVAL" and waits.took > timedelta(0)


@pytest.mark.parametrize(("language", "words"), [("en", "Where the time went"), ("ru", "На что ушло время")])
def test_the_case_page_shows_the_bar_its_meaning_and_the_same_in_numbers(
    engine: Engine, desk: Desks, language: str, words: str
) -> None:
    story = completed(engine)
    page = desk(language=language).get(f"/console/cases/{story.case.public_id}/")
    found = re.search(r'<svg class="chart strip".*?</svg>', page.html, re.S)
    assert found and f'<title id="time-bar-title">{words}</title>' in found[0] and "<desc" in found[0]
    for part in ("waiting for a worker", "waiting for a person") if language == "en" else ("ждало работника",):
        assert page.text.count(part) >= 2  # the legend and the table
    assert page.inline == []
    assert page.html.index('id="now"') < page.html.index('id="times"') < page.html.index('id="known"')


def test_more_pieces_than_can_be_told_apart_are_put_together() -> None:
    pieces = [charts.Piece(1, tone, "") for _ in range(charts.MOST_PIECES) for tone in ("queue", "automatic", "queue")]
    marks = charts.strip("", "", pieces, legend=[("queue", "waits"), ("automatic", "works")]).marks
    assert [(mark.tone, mark.width, mark.says) for mark in marks] == [
        ("queue", 480, "waits"),
        ("automatic", 240, "works"),
    ]


def test_shares_add_up_and_nothing_that_is_there_vanishes() -> None:
    for amounts in ([1, 1_000_000], [3, 3, 3], [0, 5, 0], [1e-9] * 5 + [1e9], [0, 0]):
        shares = charts.cut(amounts, 100)
        assert sum(shares) == (100 if any(amounts) else 0)
        assert [share > 0 for share in shares] == [amount > 0 for amount in amounts]
