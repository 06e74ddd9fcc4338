"""What is told later names other subjects: no plan stands on facts of one subject and acts on another."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.principal import actor_of_person
from caseflow.domain.errors import BadInput, StaleCase
from cases.intake import open_case
from cases.models import IntakeRevision
from cases.supplying import Supplied, supply_data
from tests.driving import Engine, Story, hooks


def supply(story: Story, seen_revision: int | None = None, **data: Any) -> Supplied:
    actor = actor_of_person(story.engine.person("operator"))
    return supply_data(case_id=story.id, data=data, actor=actor, seen_revision=seen_revision)


def test_data_told_after_the_approval_never_turns_the_re_read_to_another_subject(engine: Engine) -> None:
    story, other = engine.approved(), engine.proposed()
    story.change("subscriptions", customer_id="U-somebody-else")
    supply(story, subscription_id=other.subscription)
    story.run()
    assert story.activations() == other.activations() == []
    changed = story.told("case.facts_changed")["changed"]
    assert changed["subscription.customer_id"] == {"then": story.customer, "now": "U-somebody-else"}


def test_data_told_after_the_approval_never_turns_the_read_back_to_another_subject(engine: Engine) -> None:
    story, other = engine.approved(), engine.proposed(subscription={"status": "inactive"})
    other.change("subscriptions", status="active")
    engine.outside.script("stale_read", method="GET", path=f"/subscriptions/{story.subscription}", times=2)
    hooks.at("before_perform", lambda: supply(story, subscription_id=other.subscription) and None)
    story.run()
    assert story.effect.status == "REQUESTED"  # the other one's "active" is no proof
    story.run_later()
    assert (story.effect.status, len(story.activations())) == ("CONFIRMED", 1)


def test_data_told_while_the_facts_are_read_makes_the_check_read_again(engine: Engine) -> None:
    other = engine.open(subscription={"status": "active"})
    story = engine.open(about=None)
    hooks.at("after_read", lambda: supply(story, subscription_id=other.subscription) and None)
    story.run()
    newest = IntakeRevision.objects.filter(case_id=story.id).latest("number")
    assert newest.number == 2
    assert story.history().count("facts.observed") == 2
    assert story.standing == ("NEEDS_ATTENTION", "another_account")
    assert story.case.subject == other.subscription


def test_the_same_data_again_moves_nothing_and_voids_no_proposal(engine: Engine) -> None:
    story = engine.proposed()
    proposal = story.proposal
    supplied = supply(story, payment_id=story.payment)
    assert (supplied.moved, supplied.revision, story.proposal, story.state) == (False, 1, proposal, "WAITING_APPROVAL")
    assert "data.recorded" not in story.history()


def test_who_looked_at_older_data_does_not_undo_what_a_colleague_corrected(engine: Engine) -> None:
    story = engine.open(missing=["payments"])
    story.run()
    supply(story, seen_revision=1, payment_id="PAY-other")
    with pytest.raises(StaleCase):
        supply(story, seen_revision=1, payment_id="PAY-mine")
    assert IntakeRevision.objects.filter(case_id=story.id).latest("number").body["payment_id"] == "PAY-other"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"source": "help\ndesk"}, "$.source"),
        ({"source": "help\u202edesk"}, "$.source"),
        ({"external_id": "T-\u202e4821"}, "$.external_id"),
        ({"source_url": "https://helpdesk.example.org\r\n/T-1"}, "$.source_url"),
        ({"source_url": "https://helpdesk.example.org@evil.example/"}, "$.source_url"),
        ({"source_url": "https://"}, "$.source_url"),
        ({"source_url": "https://[half"}, "$.source_url"),
    ],
)
def test_text_that_only_looks_like_something_else_is_refused_with_its_place(
    engine: Engine, changes: dict[str, str], path: str
) -> None:
    ticket: dict[str, Any] = {"source": "helpdesk", "external_id": "T-1", "source_url": "https://helpdesk.example.org/"}
    intake = {"customer_id": "U-1", "subscription_id": "S-1", "payment_id": "PAY-1", "claim": "…"}
    actor = actor_of_person(engine.person("operator"))
    with pytest.raises(BadInput) as refusal:
        open_case(
            organisation=engine.organisation, process="restore_access", intake=intake, actor=actor, **ticket | changes
        )
    assert refusal.value.params["path"] == path
