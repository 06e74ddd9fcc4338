"""What protects a decision when nothing else would: each test fails when that one protection is taken out.

`make mutations` takes them out in turn.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.db import IntegrityError, connection, transaction

from accounts.principal import SYSTEM
from approvals.models import Decision, Proposal
from caseflow.domain.errors import ForbiddenTransition, ProposalExpired
from cases.advancing import record_event
from tests.driving import Engine, Story, decisions


def begin_an_effect(story: Story) -> None:
    """A call of an earlier effect of this case began, and nobody knows what became of it."""
    with transaction.atomic():
        record_event(story.row, "action.requested", actor=SYSTEM, adds={"effects_open": 1})


def test_a_case_whose_effect_is_in_doubt_gets_no_new_proposal(engine: Engine) -> None:
    story = engine.open()
    begin_an_effect(story)
    story.run()
    assert not Proposal.objects.filter(case_id=story.id).exists()
    assert story.told("transition.refused")["event"] == "proposal_ready"
    assert story.state == "NEEDS_ATTENTION"


def test_a_plan_is_not_approved_while_an_effect_is_in_doubt(engine: Engine) -> None:
    story = engine.proposed()
    begin_an_effect(story)
    with pytest.raises(ForbiddenTransition):
        story.decide()
    assert (story.state, decisions(story)) == ("WAITING_APPROVAL", [])


def test_the_database_itself_keeps_a_second_decisive_decision_out(engine: Engine) -> None:
    story = engine.approved()
    first = Decision.objects.get()
    second = Decision(
        proposal=first.proposal,
        person=engine.person("second"),
        kind=Decision.Kind.REJECT,
        digest=first.digest,
        case_version=first.case_version,
        decisive=True,
        next="close",
        at=first.at,
    )
    with pytest.raises(IntegrityError, match="decision_one_decisive"), transaction.atomic():
        second.save(force_insert=True)
    assert decisions(story) == [("approver", "approve", True)]


def test_an_approval_and_the_order_to_send_are_stored_by_one_transaction(engine: Engine) -> None:
    story = engine.approved()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.xmin::text, d.xmin::text, t.xmin::text FROM cases_case c, approvals_decision d, cases_task t"
            " WHERE c.id = %s AND t.case_id = c.id AND t.stage = 'execute'",
            [story.id],
        )
        ((case, decision, task),) = cursor.fetchall()
    assert case == decision == task


def test_a_web_server_whose_clock_is_behind_does_not_lengthen_the_time_to_decide(engine: Engine) -> None:
    story = engine.proposed()
    approver = engine.approver
    story.age_proposal(timedelta(hours=24, minutes=1))
    with time_machine.travel(engine.now() - timedelta(hours=1)), pytest.raises(ProposalExpired):
        story.decide(person=approver)
    assert decisions(story) == []
