"""Who took part does not decide, on whatever path; and nobody buries a history under refused tries."""

from __future__ import annotations

import pytest

from accounts.principal import SYSTEM, actor_of_person
from accounts.services import grant_role
from actions.withdrawing import withdraw
from approvals.refusing import KEPT
from caseflow.domain.errors import CauserMayNotDecide, NotPermitted, NotYourDecision
from caseflow.domain.roles import Role
from cases.supplying import supply_data
from tests.driving import Engine


def test_an_approver_who_supplied_data_under_way_does_not_decide_on_the_plan_proposed_again(engine: Engine) -> None:
    story, second = engine.approved(), engine.person("second")
    grant_role(person=second, organisation=engine.organisation, role=Role.OPERATOR, by=SYSTEM)
    supply_data(case_id=story.id, data={"payment_id": "PAY-other"}, actor=actor_of_person(second))
    withdraw(proposal=story.proposal, person=engine.approver)
    with pytest.raises(CauserMayNotDecide):
        story.decide(person=second)
    assert second.pk in story.proposal.causers
    assert story.decide(person=engine.person("third")).created


def test_who_did_not_approve_is_told_that_the_decision_is_not_theirs(engine: Engine) -> None:
    story = engine.approved()
    with pytest.raises(NotYourDecision):
        withdraw(proposal=story.proposal, person=engine.person("second"))
    assert story.state == "EXECUTING"


def test_a_flood_of_refused_tries_does_not_push_the_history_out_of_sight(engine: Engine) -> None:
    story, viewer = engine.proposed(), engine.person("viewer")
    for _ in range(KEPT + 3):
        with pytest.raises(NotPermitted):
            story.decide(person=viewer)
    assert story.history().count("decision.refused") == KEPT
