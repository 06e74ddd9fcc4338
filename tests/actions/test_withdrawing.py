"""Taking an approval back, in time or too late; and who wins at the point of no return."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from accounts import gate
from accounts.models import Person
from accounts.principal import SYSTEM
from accounts.services import revoke_role
from actions.models import Action
from actions.withdrawing import Withdrawn, withdraw
from approvals.snapshots import opened
from caseflow.domain.errors import (
    AlreadyDecided,
    NotDecidable,
    NotPermitted,
    NotYourDecision,
    StaleSnapshot,
    TooLateToWithdraw,
)
from caseflow.domain.roles import Role
from tests.driving import Engine, Story, decisions, fingerprint, hooks, together
from tests.pauses import pause, resume


def take_back(story: Story, person: Person | None = None) -> Withdrawn:
    return withdraw(proposal=story.proposal, person=person or story.engine.approver)


def without_ids(proposal: Any) -> dict[str, Any]:
    plan = opened(proposal.snapshot)
    for action in plan["actions"]:
        del action["id"], action["key"]
    del plan["number"]
    return plan


def test_a_decision_withdrawn_in_time_sends_nothing_and_proposes_the_same_plan_under_new_ids(
    engine: Engine, settings: Any
) -> None:
    settings.CASEFLOW_UNDO_SECONDS = 15
    story = engine.approved()
    first = story.proposal
    take_back(story)
    second = story.proposal
    assert (story.state, second.number, second.repeats_id) == ("WAITING_APPROVAL", first.number + 1, first.pk)
    assert without_ids(second) == without_ids(first)
    ids = [{action["id"] for action in opened(proposal.snapshot)["actions"]} for proposal in (first, second)]
    assert ids[0].isdisjoint(ids[1])
    assert (second.valid_until, second.causers) == (first.valid_until, [])
    assert second.digest != first.digest
    assert story.task("expire").subject == second.public_id
    story.run_later()
    assert story.writes() == []
    assert story.task("execute").status == "cancelled"


def test_after_a_withdrawal_the_same_person_may_approve_the_new_proposal_and_it_is_sent_once(engine: Engine) -> None:
    story = engine.approved()
    take_back(story)
    story.decide()
    story.run()
    assert story.state == "COMPLETED"
    (effect,) = story.activations()
    assert effect["key"] == f"restore_access:{story.effect.public_id}"
    assert decisions(story) == [
        ("approver", "approve", True),
        ("approver", "withdraw", True),
        ("approver", "approve", True),
    ]
    assert story.case.returns == 0


def test_the_withdrawn_proposal_cannot_be_approved_again(engine: Engine) -> None:
    story = engine.approved()
    old = story.proposal
    take_back(story)
    for person in (engine.approver, engine.person("second")):
        with pytest.raises((AlreadyDecided, StaleSnapshot)):
            story.decide(proposal=old, person=person)
    assert story.state == "WAITING_APPROVAL"


def test_a_decision_can_be_withdrawn_after_the_undo_window_as_long_as_no_call_began(engine: Engine) -> None:
    story = engine.approved()
    pause("system", "subscriptions")
    story.run()
    assert story.effect.status == "PLANNED"
    take_back(story)
    assert story.state == "WAITING_APPROVAL"
    assert list(Action.objects.filter(case_id=story.id).values_list("status", flat=True)) == ["CANCELLED"]
    resume()
    story.run_later()
    assert story.writes() == []


def test_once_the_call_began_it_is_too_late_and_the_answer_says_since_when(engine: Engine) -> None:
    story = engine.approved()
    caught: list[TooLateToWithdraw] = []

    def try_to_withdraw() -> None:
        with pytest.raises(TooLateToWithdraw) as refusal:
            take_back(story)
        caught.append(refusal.value)

    hooks.at("before_perform", try_to_withdraw)
    story.run()
    sent_at = story.effect.first_sent_at
    assert sent_at is not None
    assert caught[0].params == {"action": story.effect.public_id, "at": sent_at.isoformat()}
    assert story.told("decision.refused")["code"] == "too_late_to_withdraw"
    assert (story.state, len(story.activations())) == ("COMPLETED", 1)
    with pytest.raises(TooLateToWithdraw):
        take_back(story)


def test_a_withdrawal_between_the_re_read_and_the_send_wins(engine: Engine) -> None:
    story = engine.approved()
    hooks.at("after_read", lambda: take_back(story) and None)
    story.run()
    assert (story.state, story.writes(), story.case.plan_begun) == ("WAITING_APPROVAL", [], False)
    assert Action.objects.get(case_id=story.id).status == "CANCELLED"


def test_of_a_withdrawal_and_a_send_at_the_same_instant_exactly_one_wins(engine: Engine) -> None:
    approver = engine.approver
    for _ in range(6):
        story = engine.approved()
        withdrawal, _sending = together(lambda s=story: take_back(s, approver), lambda s=story: s.run())
        if isinstance(withdrawal, Withdrawn):
            story.run_later()
            assert (story.state, story.writes()) == ("WAITING_APPROVAL", [])
        else:
            assert isinstance(withdrawal, TooLateToWithdraw)
            assert (story.state, len(story.activations())) == ("COMPLETED", 1)


def test_two_withdrawals_at_the_same_instant_are_one(engine: Engine) -> None:
    story = engine.approved()
    approver, proposal = engine.approver, story.proposal
    results = together(*[lambda: withdraw(proposal=proposal, person=approver)] * 2)
    assert sorted(type(result).__name__ for result in results) == ["NotDecidable", "Withdrawn"]
    assert story.proposal.number == 2


def test_only_one_who_approved_and_still_may_decide_withdraws(engine: Engine) -> None:
    story = engine.approved()
    with pytest.raises(NotYourDecision):
        take_back(story, engine.person("second"))
    revoke_role(person=engine.approver, organisation=engine.organisation, role=Role.APPROVER, by=SYSTEM)
    with pytest.raises(NotPermitted):
        take_back(story)
    assert (story.state, story.history().count("decision.refused")) == ("EXECUTING", 2)


def test_what_was_not_approved_or_is_no_longer_executed_cannot_be_withdrawn(engine: Engine) -> None:
    waiting = engine.proposed()
    with pytest.raises(NotYourDecision):
        take_back(waiting)
    story = engine.approved()
    old = story.proposal
    story.change("payments", status="refunded")
    story.run()
    before = fingerprint()["approvals_proposal"]
    with pytest.raises(NotDecidable):
        withdraw(proposal=old, person=engine.approver)
    assert fingerprint()["approvals_proposal"] == before


def waiting_for_the_gate() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)")
        found: bool = cursor.fetchone()[0]
        return found


@pytest.mark.parametrize("change", ["pause", "role"])
def test_a_stop_that_holds_the_gate_first_is_seen_by_the_send_that_waits_for_it(change: str, engine: Engine) -> None:
    """The send reads pauses and rights only after it has the gate: what it waited for counts."""
    story = engine.approved()
    approver, organisation = engine.approver, engine.organisation
    holding, done = threading.Event(), threading.Event()

    def stop() -> None:
        with transaction.atomic():
            gate.hold_exclusive()
            if change == "pause":
                pause("system", "subscriptions")
            else:
                revoke_role(person=approver, organisation=organisation, role=Role.APPROVER, by=SYSTEM)
            holding.set()
            while not waiting_for_the_gate():
                assert not done.is_set(), "the send did not wait"
        connection.close()

    thread = threading.Thread(target=stop)

    def begin_to_stop() -> None:
        thread.start()
        assert holding.wait(10)

    hooks.at("after_read", begin_to_stop)
    story.run()
    done.set()
    thread.join(10)
    assert story.writes() == []
    assert story.state == ("EXECUTING" if change == "pause" else "WAITING_APPROVAL")


def test_the_facts_are_as_fresh_as_the_send_or_it_does_not_begin(engine: Engine, monkeypatch: Any) -> None:
    story = engine.approved()
    monkeypatch.setattr("actions.beginning.FRESH", timedelta(0))
    story.run()
    assert story.writes() == []
    assert (story.state, story.task("execute").last_error) == ("EXECUTING", "facts_stale")
    monkeypatch.undo()
    story.run_later()
    assert story.state == "COMPLETED"
