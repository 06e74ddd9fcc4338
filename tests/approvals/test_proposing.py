"""A proposal is a plan that never changes, and a proposer's word is checked before it becomes one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from accounts.principal import actor_of_person, actor_of_service
from accounts.services import create_service_account
from approvals.models import Proposal
from approvals.proposers import _PROPOSERS
from caseflow.domain.canonical import canonical_bytes
from caseflow.domain.process import Proposed
from caseflow.domain.roles import Right
from cases.models import Observation, Task
from tests.driving import Engine, Story
from tests.process_examples import Teller

GOOD = Proposed("restore_access", "restore_access", ("payment.status", "subscription.status"))


def snapshot(story: Story) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(bytes(story.proposal.snapshot))
    return parsed


def test_a_proposal_holds_the_exact_effect_with_its_key_and_every_fact_it_rests_on(engine: Engine) -> None:
    story = engine.proposed()
    said = snapshot(story)
    effect, notice = said["actions"]
    assert (effect["system"], effect["operation"], effect["subject"]) == (
        "subscriptions",
        "activate",
        story.subscription,
    )
    assert effect["key"] == f"restore_access:{effect['id']}"
    assert effect["preconditions"]["payment.status"] == "confirmed"
    assert effect["confirms"] == {"subscription.status": "active"}
    assert said["facts"]["payment.amount"] == "990.00"
    assert sorted(said["observations"]) == sorted(
        Observation.objects.filter(case_id=story.id).values_list("pk", flat=True)
    )
    assert (notice["kind"], notice["request"]["language"]) == ("notice", "ru")
    assert story.email not in json.dumps(said)


def test_the_digest_is_the_hash_of_the_canonical_bytes(engine: Engine) -> None:
    proposal = engine.proposed().proposal
    content = bytes(proposal.snapshot)
    assert canonical_bytes(json.loads(content)) == content
    assert proposal.digest == hashlib.sha256(content).hexdigest()


def test_a_proposal_can_be_decided_for_a_day_and_then_expires(engine: Engine) -> None:
    story = engine.proposed()
    valid_until = story.proposal.valid_until
    assert valid_until is not None
    assert timedelta(hours=23, minutes=59) < valid_until - timezone.now() <= timedelta(hours=24)
    expire = story.task("expire")
    assert (expire.available_at, expire.subject) == (valid_until, story.proposal.public_id)


def test_nobody_changes_a_proposal(engine: Engine) -> None:
    story = engine.proposed()
    before = bytes(story.proposal.snapshot)
    for change in ("decision = 'x'", "snapshot = ''", "valid_until = now() + interval '1 year'", "causers = '{}'"):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            connection.cursor().execute(f"UPDATE approvals_proposal SET {change}")
        with pytest.raises(Exception, match="Cannot update or delete"):
            engine.owner.execute(f"UPDATE approvals_proposal SET {change}")
    assert bytes(story.proposal.snapshot) == before


def test_those_who_told_us_something_are_its_causers(engine: Engine) -> None:
    machine = create_service_account(
        organisation=engine.organisation,
        name="helpdesk",
        owner=engine.person("operator"),
        rights=[Right.OPEN_CASE],
        by=actor_of_person(engine.person("viewer")),
    )
    assert engine.proposed().proposal.causers == []
    by_person = engine.proposed(actor=actor_of_person(engine.person("operator")))
    by_machine = engine.proposed(actor=actor_of_service(machine))
    assert by_person.proposal.causers == by_machine.proposal.causers == [engine.person("operator").pk]


def test_a_proposal_and_the_state_that_waits_for_it_are_stored_together(engine: Engine) -> None:
    story = engine.proposed()
    event = story.told("case.proposal_ready")
    assert (event["proposal"], event["digest"]) == (story.proposal.public_id, story.proposal.digest)
    assert Proposal.objects.filter(case_id=story.id).count() == 1


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (replace(GOOD, decision="refund_everything"), "is not one of this process"),
        (replace(GOOD, decision=""), "is not one of this process"),
        (
            replace(GOOD, evidence=("payment.status", "payment.blessing")),
            "the evidence 'payment.blessing' does not exist",
        ),
        (replace(GOOD, evidence=("weather",)), "does not exist"),
        (replace(GOOD, requires_approval=False), "the approval cannot be switched off"),
        (replace(GOOD, decision="already_active"), "the facts allow 'restore_access'"),
        (replace(GOOD, decision="amount_differs"), "the facts allow 'restore_access'"),
    ],
)
def test_a_proposers_word_that_breaks_a_rule_becomes_no_proposal_but_a_person_is_asked(
    said: Proposed, problem: str, engine: Engine, test_processes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_PROPOSERS, "teller", Teller())
    monkeypatch.setattr(Teller, "says", said)
    story = engine.open(process="told")
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "broken_proposal")
    assert problem in story.told("case.person_needed")["problem"]
    assert not Proposal.objects.filter(case_id=story.id).exists()
    assert story.writes() == []


def test_a_proposer_cannot_talk_a_refunded_payment_into_an_activation(
    engine: Engine, test_processes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_PROPOSERS, "teller", Teller())
    monkeypatch.setattr(Teller, "says", GOOD)
    story = engine.open(process="told", payment={"status": "refunded"})
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "broken_proposal")


def test_a_proposers_good_word_becomes_a_proposal_that_names_who_said_it(
    engine: Engine, test_processes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_PROPOSERS, "teller", Teller())
    monkeypatch.setattr(Teller, "says", GOOD)
    proposal = engine.proposed(process="told").proposal
    assert (proposal.proposer, proposal.model, proposal.prompt_version) == ("teller", "parrot-1", "3")


def test_a_process_without_approval_acts_on_a_proposal_all_the_same(engine: Engine, test_processes: None) -> None:
    story = engine.open(process="no_approval")
    story.run()
    assert story.state == "COMPLETED"
    assert (story.proposal.needs_approval, story.proposal.has_effects) == (False, True)
    assert len(story.activations()) == 1
    assert story.effect.proposal_id == story.proposal.pk
    assert not Task.objects.filter(case_id=story.id, stage="expire").exists()
