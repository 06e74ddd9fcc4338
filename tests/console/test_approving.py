"""The approval page beside its neighbours: what changed, what the rules say, earlier versions, the next one."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from accounts.principal import SYSTEM
from accounts.services import revoke_role
from caseflow.domain.roles import Role
from cases.observing import newest_observations
from tests.console.conftest import Desk
from tests.driving import Engine, Story, decisions, run_due

Desks = Callable[..., Desk]


def address(story: Story) -> str:
    return f"/console/approvals/{story.proposal.public_id}/"


def read_newly(story: Story, fact: str, **values: Any) -> None:
    """A newer reading comes in without moving the case."""
    row = next(row for row in newest_observations(story.id) if row.name == fact)
    row.pk = None
    row.value = row.value | values
    row.save(force_insert=True)


def test_a_change_that_is_critical_to_nothing_is_told_and_keeps_nobody_from_approving(
    engine: Engine, desk: Desks
) -> None:
    story = engine.proposed()
    read_newly(story, "subscription", plan="gold")
    page = desk().get(address(story))

    assert "1 other fact changed; it does not keep from deciding" in page.text
    assert re.search(r"Subscription: plan: “basic”, read .* now “gold”, read", page.text)
    assert f'href="{address(story)}approve/"' in page.html
    desk().press("approve", story.proposal.public_id)
    assert story.state == "EXECUTING"


def test_evidence_leads_to_its_readings_and_rules_say_what_they_checked(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    page = desk().get(address(story))
    assert f'href="/console/cases/{story.case.public_id}/facts/#fact-payment"' in page.html
    assert "checked when it was prepared The approval cannot be switched off: approvals needed: 1" in page.text
    assert "holds now Payment: state: confirmed" in page.text
    read_newly(story, "payment", status="refunded")
    changed = desk().get(address(story))
    assert "does not hold now Payment: state: needed: confirmed, now: refunded" in changed.text
    assert "Send for review again" in changed.text


def test_a_later_version_says_what_differs_from_the_one_before(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    first = story.proposal.public_id
    story.decide("return")
    story.change("payments", amount="995.00")
    story.change("subscriptions", price="995.00")
    story.run()
    page = desk("second").get(address(story))
    assert re.search(r"What differs from the one before No\. 1 " + first, page.text)
    assert re.search(r"Payment: amount 990[.,]00 995[.,]00", page.text)


def test_too_few_deciders_are_named_on_the_approval_page_too(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    for name in Engine.DECIDERS:
        revoke_role(person=engine.person(name), organisation=engine.organisation, role=Role.APPROVER, by=SYSTEM)
    run_due()
    assert story.standing == ("NEEDS_ATTENTION", "no_decider")
    page = desk("operator").get(address(story))
    assert "Too few people may decide. " in page.text
    assert "administrator to grant the role “Approver”" in page.text


def test_what_was_decided_already_names_who_and_when(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    story.decide("reject", next="close")
    page = desk("second").get(address(story))
    assert re.search(r"Decided already: Rejected, by Approver, .*\(MSK\)", page.text)


@pytest.fixture
def three(engine: Engine) -> list[Story]:
    """Waiting proposals, in the order of the time that is left."""
    stories = [engine.proposed() for _ in range(3)]
    for hours, story in zip((3, 2, 1), stories, strict=True):
        story.age_proposal(timedelta(hours=hours))
    return stories


def test_after_a_decision_the_next_one_of_the_view_waits_with_a_way_back_and_the_undo(
    three: list[Story], desk: Desks, settings: Any
) -> None:
    settings.CASEFLOW_UNDO_SECONDS = 60
    first, second, third = three
    reader = desk()
    page = reader.press("approve", second.proposal.public_id)

    assert page.response.redirect_chain[-1][0] == f"{address(third)}?done={second.proposal.public_id}"
    assert "Decision recorded." in page.text and "This is the next one that waits." in page.text
    assert f"Activation of {second.subscription} has not been sent yet." in page.text
    assert "Withdraw (" in page.text
    assert f'href="{address(second)}"' in page.html and "Back to the list" in page.text
    assert f'action="{address(second)}withdraw/"' in page.html
    reader.post(f"{address(second)}withdraw/")
    assert second.state == "WAITING_APPROVAL"
    last = reader.press("reject", third.proposal.public_id, next="close", reason="Дубль")
    assert last.response.redirect_chain[-1][0].startswith(address(first))
    assert "Rejected." in last.text


def test_the_view_one_comes_from_is_kept(three: list[Story], desk: Desks) -> None:
    first, second, _third = three
    second.decide()  # by the approver, so it waits for nobody
    listed = desk("second").get("/console/approvals/?view=all")
    assert f'href="{address(first)}?view=all"' in listed.html
    page = desk("second").get(f"{address(first)}?view=all")
    assert 'name="view" value="all"' in page.html
    done = desk("second").press("approve", first.proposal.public_id, view="all")
    assert "view=all" in done.response.redirect_chain[-1][0]


def test_nobody_is_told_of_decisions_that_are_not_theirs(engine: Engine, three: list[Story], desk: Desks) -> None:
    first, second, _third = three
    first.decide()
    page = desk("second").get(f"{address(second)}?done={first.proposal.public_id}")
    assert "This is the next one that waits." not in page.text
    for name in ("P-0000000000", "%00", "x" * 300):
        desk("second").get(f"{address(second)}?done={name}")
    assert decisions(second) == []


def test_the_last_one_leads_where_it_can_be_withdrawn(engine: Engine, desk: Desks, settings: Any) -> None:
    settings.CASEFLOW_UNDO_SECONDS = 60
    story = engine.proposed()
    page = desk().press("approve", story.proposal.public_id)
    assert page.response.redirect_chain[-1][0] == address(story)
    assert "Withdraw (" in page.text
