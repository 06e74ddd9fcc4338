"""Under one case: its whole history, every reading of every fact, and its plans side by side."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.console.conftest import Desk
from tests.console.seeing import in_doubt, outsider
from tests.driving import Engine, Story

Desks = Callable[..., Desk]
PARTS = ("timeline", "facts", "proposals")


def part(story: Story, name: str) -> str:
    return f"/console/cases/{story.case.public_id}/{name}/"


def test_the_history_tells_events_tries_and_requests_in_order_with_an_anchor_each(engine: Engine, desk: Desks) -> None:
    story = engine.approved()
    story.run()
    page = desk("viewer").get(part(story, "timeline"))

    numbers = [int(found) for found in re.findall(r'id="e-(\d+)"', page.html)]
    assert numbers == list(range(1, story.case.audit_count + 1))
    assert "Send the change: attempt 1" in page.text
    assert re.search(r'id="c-[0-9a-f-]{36}"', page.html)
    assert f"Action {story.effect.public_id}" in page.text
    assert f'href="/api/v1/cases/{story.case.public_id}/timeline/"' in page.html
    task = story.task("execute")
    assert f'data-copy="{task.pk}"' in page.html


def test_only_what_failed_or_is_pending_is_shown_on_demand(engine: Engine, desk: Desks) -> None:
    story = in_doubt(engine)
    viewer, address = desk("viewer"), part(story, "timeline")

    failed = viewer.get(f"{address}?show=failed")
    assert "No answer: the result is unknown" in failed.text
    assert "Ticket received" not in failed.text
    done = engine.approved()
    done.run()
    assert "Nothing in this history is of this kind." in viewer.get(f"{part(done, 'timeline')}?show=pending").text
    calls = viewer.get(f"{address}?show=calls")
    assert "Ticket received" not in calls.text and "Request number" in calls.text
    assert "Ticket received" in viewer.get(f"{address}?show=nonsense").text


def test_each_reading_names_its_source_its_moment_and_the_proposals_that_stand_on_it(
    engine: Engine, desk: Desks
) -> None:
    story = engine.proposed()
    story.decide("return")
    story.change("payments", status="refunded")
    story.run()
    page = desk("viewer").get(part(story, "facts"))

    first = story.proposal
    assert "Payment Source Payments" in page.text
    assert page.html.count('id="fact-payment"') == 1
    assert "refunded" in page.text and "confirmed" in page.text
    assert "the newest" in page.text and "older" in page.text
    assert all(f'id="o-{pk}"' in page.html for pk in first.observations)
    assert f"No. {first.number} {first.public_id}" in page.text
    assert story.email not in page.html


def test_facts_whose_source_is_down_say_when_they_are_read_next_and_why_not_yet(engine: Engine, desk: Desks) -> None:
    story = engine.open()
    engine.outside.script("error_before", method="GET", path=f"/payments/{story.payment}")
    story.run()
    page = desk("viewer").get(part(story, "facts"))
    assert "Read the facts:" in page.text and "the last try failed:" in page.text
    assert "No facts were read yet." in page.text


def test_plans_stand_side_by_side_with_what_differs_what_rules_and_what_people_said(
    engine: Engine, desk: Desks
) -> None:
    story = engine.proposed()
    first = story.proposal
    story.decide("return")
    story.change("payments", amount="995.00")
    story.change("subscriptions", price="995.00")
    story.run()
    second = story.proposal
    page = desk("viewer").get(part(story, "proposals"))

    assert page.html.index(second.public_id) < page.html.index(first.public_id)
    assert re.search(r"Payment: amount 990[.,]00 995[.,]00", page.text), page.text
    assert "Returned for review · Approver" in page.text
    assert "The approval cannot be switched off: approvals needed: 1" in page.text
    assert "holds now Payment: state: confirmed" in page.text
    assert second.digest[:16] in page.text
    assert "It is the first." in page.text


def test_a_withdrawn_plan_and_its_repetition_differ_in_nothing_but_ids(engine: Engine, desk: Desks) -> None:
    story = engine.approved()
    desk().post(f"/console/approvals/{story.proposal.public_id}/withdraw/")
    page = desk("viewer").get(part(story, "proposals"))
    assert "Nothing but the ids of its actions." in page.text
    assert "withdrawn" in page.text and "repeats a withdrawn one" in page.text


def test_a_precondition_that_does_not_hold_any_more_is_named_in_words(engine: Engine, desk: Desks) -> None:
    story = engine.approved()
    story.change("payments", status="refunded")
    story.run()
    page = desk("viewer").get(part(story, "proposals"))
    assert "does not hold now Payment: state: needed: confirmed, now: refunded" in page.text


@pytest.mark.parametrize("name", PARTS)
def test_the_parts_are_out_of_sight_for_others(engine: Engine, desk: Desks, name: str) -> None:
    outsider(engine, desk).get(part(engine.proposed(), name), 404)


@pytest.mark.parametrize("name", PARTS)
def test_the_parts_are_russian_for_a_russian_reader(engine: Engine, desk: Desks, name: str) -> None:
    story = engine.proposed()
    page = desk("viewer", "ru").get(part(story, name))
    assert "Разделы дела" in page.text
    assert page.inline == []
