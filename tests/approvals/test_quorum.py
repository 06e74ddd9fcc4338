"""How many have to approve is said by the process and the amount, and is a part of what they approve."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.principal import SYSTEM
from accounts.services import grant_role, revoke_role
from approvals.snapshots import opened
from caseflow.domain.process import ApprovalPolicy
from caseflow.domain.roles import Role
from cases.models import Task
from tests.driving import Engine, Story, decisions
from tests.process_examples import ByAmount

pytestmark = pytest.mark.usefixtures("test_processes")


def costing(engine: Engine, amount: str) -> Story:
    return engine.proposed(process="by_amount", payment={"amount": amount}, subscription={"price": amount})


def test_a_small_amount_needs_one_and_a_large_one_two(engine: Engine) -> None:
    small, large = costing(engine, "9999.99"), costing(engine, "10000.00")
    assert [opened(story.proposal.snapshot)["approval"]["quorum"] for story in (small, large)] == [1, 2]

    for story in (small, large):
        story.decide()
        story.run()

    assert (small.state, large.state) == ("COMPLETED", "WAITING_APPROVAL")
    assert large.writes() == []
    large.decide(person=engine.person("second"))
    large.run()
    assert (large.state, len(large.activations())) == ("COMPLETED", 1)


def test_one_approval_moves_nothing_and_two_make_one_action(engine: Engine) -> None:
    story = engine.proposed(process="two_approvers")
    version = story.case.version
    story.decide()
    story.run_later()
    assert (story.state, story.case.version, story.writes()) == ("WAITING_APPROVAL", version, [])
    assert not Task.objects.filter(case_id=story.id, stage="execute").exists()
    story.decide(person=engine.person("second"))
    story.run()
    assert (story.state, len(story.activations()), len(story.writes())) == ("COMPLETED", 1, 1)


def test_one_approval_and_a_return_of_another_go_back(engine: Engine) -> None:
    story = engine.proposed(process="two_approvers")
    first = story.proposal
    story.decide()
    story.decide("return", person=engine.person("second"))
    assert decisions(story) == [("approver", "approve", False), ("second", "return", True)]
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert story.proposal.number == first.number + 1
    assert story.writes() == []


def test_the_first_approvers_right_revoked_in_the_time_to_undo_sends_nothing(engine: Engine, settings: Any) -> None:
    settings.CASEFLOW_UNDO_SECONDS = 15
    story = engine.proposed(process="two_approvers")
    story.decide()
    story.decide(person=engine.person("second"))
    assert story.state == "EXECUTING"
    revoke_role(person=engine.approver, organisation=engine.organisation, role=Role.APPROVER, by=SYSTEM)

    story.run_later()

    assert "case.approval_lapsed" in story.history()
    assert story.told("case.approval_lapsed")["reason"] == "decider_lost_right"
    assert (story.state, story.writes(), story.activations()) == ("WAITING_APPROVAL", [], [])


def test_an_approval_whose_giver_lost_the_right_before_the_second_does_not_count(engine: Engine) -> None:
    story = engine.proposed(process="two_approvers")
    story.decide()
    revoke_role(person=engine.approver, organisation=engine.organisation, role=Role.APPROVER, by=SYSTEM)

    story.decide(person=engine.person("second"))
    assert (story.state, story.told("decision.approved")["approvals"]) == ("WAITING_APPROVAL", 1)

    story.decide(person=engine.person("third"))
    assert story.state == "EXECUTING"
    story.run()
    assert (story.state, len(story.activations())) == ("COMPLETED", 1)


def test_a_later_rule_does_not_lower_what_a_proposal_asks_for(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    story = costing(engine, "10000.00")
    monkeypatch.setattr(ByAmount, "approval", ApprovalPolicy())

    story.decide()

    assert story.state == "WAITING_APPROVAL"


def test_a_later_rule_does_not_raise_it_between_approval_and_send(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = costing(engine, "990.00")
    story.decide()
    monkeypatch.setattr(ByAmount, "approval", ApprovalPolicy(quorum=3))

    story.run()

    assert (story.state, len(story.activations())) == ("COMPLETED", 1)


def test_a_right_that_came_back_before_the_send_counts_again(engine: Engine) -> None:
    story = engine.approved()
    approver = {"person": engine.approver, "organisation": engine.organisation, "role": Role.APPROVER, "by": SYSTEM}
    revoke_role(**approver)
    grant_role(**approver)
    story.run()
    assert story.state == "COMPLETED"
