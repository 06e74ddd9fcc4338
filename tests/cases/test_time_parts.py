"""Where a case's time went is stored when it is closed, and known while it is open (design §14)."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from caseflow.domain.times import Part, TimeParts
from cases.models import Case
from cases.times import stored_parts, time_parts_of, time_segments_of
from tests.driving import Engine, Story, run_due

MICROSECOND = timedelta(microseconds=1)


def stored(case: Case) -> TimeParts:
    parts = stored_parts(case)
    assert parts is not None
    return parts


def lifetime(case: Case) -> int:
    assert case.closed_at is not None
    return (case.closed_at - case.created_at) // MICROSECOND


def completed(engine: Engine) -> Story:
    story = engine.approved()
    run_due()
    assert story.state == "COMPLETED"
    return story


def test_a_completed_case_has_five_parts_that_add_up_to_its_lifetime(engine: Engine) -> None:
    case = completed(engine).case
    parts = stored(case)
    assert parts.total == lifetime(case)
    assert all(parts.of(part) > 0 for part in Part), parts


def test_what_was_stored_at_close_is_what_the_rows_say(engine: Engine) -> None:
    cases = [completed(engine), engine.open(payment={"status": "refunded"})]
    run_due()
    for story in cases:
        assert stored(story.case) == time_parts_of([story.id])[story.id]


def test_a_case_closed_with_a_notice_spent_no_time_outside(engine: Engine) -> None:
    story = engine.open(payment={"status": "refunded"})
    run_due()
    assert story.state == "CLOSED_NO_CHANGE"
    parts = stored(story.case)
    assert parts.total == lifetime(story.case)
    assert (parts.outside, parts.person) == (0, 0)


def test_the_undo_window_of_an_approval_is_a_persons_time(engine: Engine, settings: Any) -> None:
    settings.CASEFLOW_UNDO_SECONDS = 600
    story = engine.approved()
    last = time_segments_of(story.id)[-1]
    assert last.part is Part.PERSON
    assert time_parts_of([story.id])[story.id].outside == 0


def test_the_segments_of_an_open_case_reach_from_its_opening_to_now(engine: Engine) -> None:
    story = engine.proposed()
    before = engine.now()
    segments = time_segments_of(story.id)
    opened = (story.case.created_at.timestamp(), segments[0].begun / 1_000_000)
    assert opened[0] == pytest.approx(opened[1], abs=0.00001)
    assert segments[-1].ended >= int(before.timestamp() * 1_000_000)
    assert all(one.ended == other.begun for one, other in pairwise(segments))
    assert segments[-1].part is Part.PERSON


def test_an_open_case_stores_nothing_yet(engine: Engine) -> None:
    assert stored_parts(engine.proposed().case) is None


def test_the_parts_of_many_cases_take_one_query(engine: Engine) -> None:
    ids = [engine.open().id for _ in range(3)]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert set(time_parts_of(ids)) == set(ids)
    assert len(queries) == 1
