"""What somebody finds who had to wait: the moment counts at which they got the case, not at which they came."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from approvals.deciding import decide
from cases.models import Task
from cases.working import work_on
from tests.driving import Engine, processes, together
from tests.races.meeting import at_the_door, promises_hold, word
from tests.stories import Story

SOON = timedelta(seconds=0.5)


def test_an_approval_that_waits_for_the_case_past_the_end_of_validity_comes_too_late(engine: Engine) -> None:
    """`now()` would stand still at the moment before the wait."""
    story = engine.proposed()
    approver, proposal, version = engine.approver, story.proposal, story.case.version
    assert proposal.valid_until is not None
    story.age_proposal(proposal.valid_until - engine.now() - SOON)
    ends = story.proposal.valid_until
    proposal.valid_until = ends

    def approve() -> Any:
        return decide(
            proposal=proposal, person=approver, kind="approve", seen_digest=proposal.digest, seen_version=version
        )

    def until_it_is_over() -> None:
        while engine.now() <= ends:
            pass

    (result,) = at_the_door(engine, story.id, approve, before_it_opens=until_it_is_over)
    assert word(result) == "proposal_expired"
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "decision_expired")


@pytest.fixture
def three_letters(engine: Engine, settings: Any) -> Iterator[Story]:
    with processes(settings, "tests.actions.test_ways_on.ThreeNotices"):
        story = engine.approved(process="three_notices")
        story.run("execute")
        yield story


def test_three_last_notices_that_settle_at_the_same_instant_move_the_case_once(three_letters: Story) -> None:
    tasks = list(Task.objects.filter(case_id=three_letters.id, stage="notify").values_list("pk", flat=True))
    assert len(tasks) == 3
    together(*(lambda task=task: work_on(task) for task in tasks))
    three_letters.run()
    assert three_letters.state == "COMPLETED"
    assert three_letters.history().count("case.notices_confirmed") == 1
    assert len(three_letters.letters()) == 3
    promises_hold(three_letters.engine)
