"""Data that comes later: it moves a case that waits, and is only recorded everywhere else."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from accounts.principal import SYSTEM, actor_of_person
from caseflow.domain.errors import BadInput
from caseflow.domain.lifecycle import Event
from cases.advancing import advance_case
from cases.models import IntakeRevision
from cases.personal import read_texts
from cases.supplying import Supplied, supply_data
from tests.driving import Engine, Story, fingerprint, hooks, together


def supply(story: Story, **data: Any) -> Supplied:
    return supply_data(case_id=story.id, data=data, actor=actor_of_person(story.engine.person("operator")))


def revisions(story: Story) -> list[dict[str, Any]]:
    return list(IntakeRevision.objects.filter(case_id=story.id).order_by("number").values_list("body", flat=True))


def test_the_missing_number_brings_a_waiting_case_to_its_end(engine: Engine) -> None:
    story = engine.open(missing=["payments"])
    story.run()
    assert story.standing == ("WAITING_DATA", "payment_not_found")
    other = engine.open(about=story)  # its payment exists, with another number
    supplied = supply(story, payment_id=other.payment)
    assert (supplied.revision, supplied.moved, story.state) == (2, True, "CHECKING")
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert engine.person("operator").pk in story.proposal.causers
    story.decide()
    story.run()
    assert story.state == "COMPLETED"


def test_what_was_told_first_is_kept(engine: Engine) -> None:
    story = engine.open(missing=["payments"], claim="Первая жалоба")
    story.run()
    supply(story, payment_id="PAY-other", claim="Вторая жалоба")
    first, second = revisions(story)
    assert (first["payment_id"], second["payment_id"]) == (story.payment, "PAY-other")
    assert second["subscription_id"] == story.subscription
    assert first["claim"]["digest"] != second["claim"]["digest"]
    assert read_texts(story.id, ["intake.claim"]) == {"intake.claim": "Вторая жалоба"}


def test_data_for_a_proposal_that_waits_lets_it_be_checked_again(engine: Engine) -> None:
    story = engine.proposed()
    first = story.proposal
    supply(story, claim="И ещё раз списали")
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert story.proposal.number == first.number + 1


def test_data_for_a_received_or_checked_case_is_recorded_and_moves_nothing(engine: Engine) -> None:
    story = engine.open()
    assert not supply(story, claim="Ещё").moved
    hooks.at("after_read", lambda: supply(story, claim="И ещё") and None)
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert story.history().count("data.recorded") == 2
    assert len(revisions(story)) == 3


@pytest.mark.parametrize("where", ["EXECUTING", "NEEDS_ATTENTION", "COMPLETED", "CLOSED_NO_CHANGE"])
def test_data_for_a_case_that_is_past_waiting_is_recorded_and_moves_nothing(where: str, engine: Engine) -> None:
    if where in ("EXECUTING", "COMPLETED"):
        story = engine.approved()
        if where == "COMPLETED":
            story.run()
    else:
        story = engine.open()
        event = Event.EXHAUSTED if where == "NEEDS_ATTENTION" else Event.CLOSED_BY_PERSON
        with transaction.atomic():
            advance_case(story.row, event, actor=SYSTEM)
    version = story.case.version
    supplied = supply(story, claim="Поздно")
    assert (story.state, supplied.moved, story.case.version) == (where, False, version)
    assert story.told("data.recorded") == {"revision": 2, "fields": ["claim"], "state": where}


@pytest.mark.parametrize(
    ("data", "code", "path"),
    [
        ({}, "empty", "$.data"),
        ([], "wrong_type", "$.data"),
        ({"refund": "now"}, "unknown_field", "$.data.refund"),
        ({"payment_id": 7}, "wrong_type", "$.data.payment_id"),
        ({"payment_id": ""}, "empty", "$.data.payment_id"),
        ({"claim": None}, "wrong_type", "$.data.claim"),
    ],
)
def test_data_that_breaks_a_rule_is_refused_with_its_place_and_nothing_is_stored(
    data: Any, code: str, path: str, engine: Engine
) -> None:
    story = engine.proposed()
    before = fingerprint()
    with pytest.raises(BadInput) as refusal:
        supply_data(case_id=story.id, data=data, actor=SYSTEM)
    assert (refusal.value.code, refusal.value.params["path"]) == (code, path)
    assert fingerprint() == before


def test_two_who_supply_at_the_same_instant_are_both_kept_and_the_case_is_checked_once(engine: Engine) -> None:
    story = engine.open(missing=["payments"])
    story.run()
    engine.person("operator")
    results = together(lambda: supply(story, claim="Первый"), lambda: supply(story, payment_id="PAY-x"))
    assert sorted((result.revision, result.moved) for result in results) == [(2, True), (3, False)]
    assert story.history().count("case.data_received") == 1
