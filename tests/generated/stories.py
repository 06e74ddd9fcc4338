"""How cases go: each story is a small function that drives a draft, in the steps of `steps`, to where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from approvals.models import Decision, Proposal
from approvals.snapshots import with_new_ids
from caseflow.domain.lifecycle import Event
from caseflow.domain.outcomes import FaultKind

from . import steps
from .plans import PlannedDraft, Row, owned

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0  #: seconds


@dataclass(frozen=True, slots=True)
class Story:
    """`weight` is how often it is told among all; `within` how long before the end such a case may have begun."""

    name: str
    tell: Callable[[PlannedDraft], None]
    weight: float
    within: float = 60 * DAY  #: seconds


STORIES: list[Story] = []


def story(
    weight: float, *, within: float = 60 * DAY
) -> Callable[[Callable[[PlannedDraft], None]], Callable[[PlannedDraft], None]]:
    def keep(tell: Callable[[PlannedDraft], None]) -> Callable[[PlannedDraft], None]:
        STORIES.append(Story(tell.__name__, tell, weight, within))
        return tell

    return keep


# Closed ---------------------------------------------------------------------------------------------------------------


@story(40)
def restored(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.approve(draft)
    steps.perform(draft)
    steps.notify(draft, Event.NOTICES_CONFIRMED)


@story(0.4)
def restored_and_undone_by_others(draft: PlannedDraft) -> None:
    restored(draft)
    steps.find_drift(draft)


@story(6)
def restored_after_retries(draft: PlannedDraft) -> None:
    code = draft.rng.choice(["timeout", "http_503", "connection_refused"])
    steps.proposed(draft, faults=[code] * draft.rng.randint(1, 3))
    steps.approve(draft)
    steps.perform(draft)
    steps.notify(draft, Event.NOTICES_CONFIRMED, not_applied=draft.rng.randint(0, 2))


@story(2)
def restored_after_a_worker_was_lost(draft: PlannedDraft) -> None:
    steps.proposed(draft, lost=True)
    steps.approve(draft)
    steps.perform(draft)
    steps.notify(draft, Event.NOTICES_CONFIRMED)


@story(3)
def restored_though_the_answer_was_lost(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.approve(draft)
    steps.lose_answer(draft)
    steps.reconcile(draft)
    steps.notify(draft, Event.NOTICES_CONFIRMED)


@story(2)
def restored_after_a_stale_approval(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.refuse_approval(draft, "stale_snapshot", {"version": {"then": 2, "now": 3}})
    steps.approve(draft)
    steps.perform(draft)
    steps.notify(draft, Event.NOTICES_CONFIRMED)


@story(1)
def restored_after_a_withdrawal(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.approve(draft)
    draft.wait(3, 10)
    person = draft.cast.approvers[0]
    draft.rows[Decision].append(
        {
            "proposal_id": draft.proposal["id"],
            "person_id": person.id,
            "kind": "withdraw",
            "digest": draft.proposal["digest"],
            "case_version": draft.case["version"],
            "decisive": True,
            "at": draft.at,
        }
    )
    steps.cancel_execute(draft)
    withdrawn = draft.proposal
    told = draft.store_snapshot(
        with_new_ids(draft.snapshot, number=len(draft.rows[Proposal]) + 1), repeats=withdrawn["id"]
    )
    facts = {"proposal": withdrawn["public_id"], "proposed_again": told["proposal"], "digest": told["digest"]}
    draft.move(Event.WITHDRAWN, facts, actor=person)
    draft.publish("expire", told["proposal"], at=draft.proposal["valid_until"])
    steps.approve(draft)
    steps.perform(draft)
    steps.notify(draft, Event.NOTICES_CONFIRMED)


@story(2)
def restored_when_the_right_payment_was_named(draft: PlannedDraft) -> None:
    draft.world["payment"] = {"status": "not_found"}
    steps.waiting(draft)
    steps.notify(draft, None)
    draft.wait(HOUR, DAY)
    steps.supply(draft)
    steps.observe_and_propose(draft)
    steps.approve(draft)
    steps.perform(draft)
    steps.notify(draft, Event.NOTICES_CONFIRMED)


@story(2)
def restored_when_the_payment_was_confirmed(draft: PlannedDraft) -> None:
    draft.world["payment"]["status"] = "pending"
    steps.waiting(draft)
    for _ in range(draft.rng.randint(0, 3)):
        steps.recheck(draft)
        steps.observe_and_propose(draft)
    steps.recheck(draft)
    draft.world["payment"]["status"] = "confirmed"
    steps.observe_and_propose(draft)
    steps.approve(draft)
    steps.perform(draft)
    steps.notify(draft, Event.NOTICES_CONFIRMED)


@story(9)
def closed_because_it_is_active(draft: PlannedDraft) -> None:
    draft.world["subscription"]["status"] = "active"
    steps.observed(draft)
    steps.notify(draft, Event.CLOSING_NOTICES_CONFIRMED)


@story(5)
def closed_because_it_was_refunded(draft: PlannedDraft) -> None:
    draft.world["payment"]["status"] = "refunded"
    steps.observed(draft)
    steps.notify(draft, Event.CLOSING_NOTICES_CONFIRMED)


@story(3)
def closed_because_it_failed(draft: PlannedDraft) -> None:
    draft.world["payment"]["status"] = "failed"
    steps.observed(draft, faults=["timeout"])
    steps.notify(draft, Event.CLOSING_NOTICES_CONFIRMED)


@story(3)
def closed_by_a_rejection(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.decide(draft, "reject", Event.REJECTED_TO_CLOSE, next="close")


@story(2)
def closed_because_it_changed_before_the_effect(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.approve(draft)
    steps.find_changed(draft)
    steps.observe_and_propose(draft)
    steps.notify(draft, Event.CLOSING_NOTICES_CONFIRMED)


@story(1)
def closed_by_a_person(draft: PlannedDraft) -> None:
    draft.world["payment"]["amount"] = "490.00"
    steps.observed(draft)
    draft.wait(HOUR, 2 * DAY)
    steps.order(draft, Event.CLOSED_BY_PERSON)


@story(1)
def finished_without_the_message(draft: PlannedDraft) -> None:
    notice_unconfirmed(draft)
    draft.wait(HOUR, DAY)
    steps.order(draft, Event.FINISHED_WITHOUT_NOTICE)


@story(1)
def finished_by_hand(draft: PlannedDraft) -> None:
    draft.world["payment"]["amount"] = "490.00"
    steps.observed(draft)
    draft.wait(HOUR, 2 * DAY)
    steps.order(draft, Event.FINISHED_BY_HAND)


@story(1)
def restored_after_a_recovery(draft: PlannedDraft) -> None:
    attempts_exhausted(draft)
    draft.wait(10 * MINUTE, DAY)
    steps.order(draft, Event.OBSERVE_AGAIN)
    steps.observe_and_propose(draft)
    steps.approve(draft)
    steps.perform(draft)
    steps.notify(draft, Event.NOTICES_CONFIRMED)


# Open, on the way -----------------------------------------------------------------------------------------------------


@story(1.2, within=20 * MINUTE)
def received(draft: PlannedDraft) -> None:
    steps.told(draft)


@story(0.5, within=10 * MINUTE)
def checking(draft: PlannedDraft) -> None:
    steps.check(draft)


@story(0.8, within=20 * MINUTE)
def checking_again_soon(draft: PlannedDraft) -> None:
    steps.observe_in_vain(draft, steps.check(draft), ["http_503", "timeout"])


@story(5, within=0.9 * DAY)
def waiting_for_a_decision(draft: PlannedDraft) -> None:
    steps.proposed(draft)


@story(1, within=0.9 * DAY)
def waiting_for_a_decision_that_was_refused_once(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.refuse_approval(draft, draft.rng.choice(["stale_snapshot", "causer_may_not_decide"]), {})


@story(0.7, within=0.9 * DAY)
def waiting_for_a_decision_once_more(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    draft.returns += 1
    steps.decide(draft, "return", Event.RETURNED)
    steps.observe_and_propose(draft)


@story(3, within=2.5 * DAY)
def waiting_for_data(draft: PlannedDraft) -> None:
    draft.world["payment"] = {"status": "not_found"}
    steps.waiting(draft)
    steps.notify(draft, None)


@story(1, within=2.5 * DAY)
def waiting_for_data_an_approver_asked_for(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.ask_data(draft)


@story(1.5, within=12 * HOUR)
def waiting_for_the_payment(draft: PlannedDraft) -> None:
    draft.world["payment"]["status"] = "pending"
    steps.waiting(draft)
    while draft.at + steps.RECHECKED < draft.frame.until:
        steps.recheck(draft)
        steps.observe_and_propose(draft)


@story(0.7, within=HOUR)
def executing_within_the_undo_window(draft: PlannedDraft) -> None:
    steps.proposed(draft, quick=True)
    draft.at = max(draft.at, draft.frame.until - draft.frame.undo)
    steps.decide(draft, "approve", Event.QUORUM_REACHED, within=(0.0, 1.0))


@story(0.7, within=HOUR)
def executing_and_read_back(draft: PlannedDraft) -> None:
    steps.proposed(draft, quick=True)
    steps.approve(draft, within=(MINUTE, 10 * MINUTE))
    steps.accept(draft)


@story(0.7, within=HOUR)
def executing_in_doubt(draft: PlannedDraft) -> None:
    steps.proposed(draft, quick=True)
    steps.approve(draft, within=(MINUTE, 10 * MINUTE))
    steps.lose_answer(draft)


@story(1, within=HOUR)
def notifying(draft: PlannedDraft) -> None:
    steps.proposed(draft, quick=True)
    steps.approve(draft, within=(MINUTE, 10 * MINUTE))
    steps.perform(draft)


@story(0.5, within=30 * MINUTE)
def notifying_of_a_closing(draft: PlannedDraft) -> None:
    draft.world["subscription"]["status"] = "active"
    steps.observed(draft)


# Needs attention ------------------------------------------------------------------------------------------------------


@story(1.4)
def amount_differs(draft: PlannedDraft) -> None:
    draft.world["payment"]["amount"] = "490.00"
    steps.observed(draft)


@story(0.8)
def another_account(draft: PlannedDraft) -> None:
    draft.world["payment"]["customer_id"] = "U-0"
    steps.observed(draft)


@story(0.3)
def unclear_facts(draft: PlannedDraft) -> None:
    draft.world["payment"]["status"] = "reversed"
    steps.observed(draft)


@story(0.3)
def broken_proposal(draft: PlannedDraft) -> None:
    task = steps.observe(draft, steps.check(draft))
    draft.wait(0.01, 0.2)
    facts = {"decision": "restore_access", "problem": "the evidence 'payment.state' does not exist"}
    draft.move(Event.PERSON_NEEDED, facts, sets={"reason": "broken_proposal"})
    draft.end(task)


@story(0.8)
def attempts_exhausted(draft: PlannedDraft) -> None:
    task = steps.observe_in_vain(draft, steps.check(draft), ["http_503"] * 5)
    steps.give_up(draft, task, "attempts_exhausted", "http_503", "payments")


@story(0.4)
def deadline_passed(draft: PlannedDraft) -> None:
    task = steps.observe_in_vain(draft, steps.check(draft), ["timeout"])
    draft.at = task["deadline_at"] - timedelta(seconds=3)
    steps.give_up(draft, task, "deadline_passed", "timeout", "payments")


@story(0.3)
def permanent_fault(draft: PlannedDraft) -> None:
    steps.give_up(draft, steps.check(draft), "permanent_fault", "bad_answer", "payments", FaultKind.PERMANENT)


@story(0.3)
def not_permitted(draft: PlannedDraft) -> None:
    steps.give_up(draft, steps.check(draft), "not_permitted", "http_403", "payments", FaultKind.NOT_PERMITTED)


@story(0.3)
def worker_lost(draft: PlannedDraft) -> None:
    task = steps.check(draft)
    draft.begin(task)
    for _ in range(4):
        draft.lose(task)
    steps.lose_for_good(draft, task)


@story(0.6)
def waited_too_long(draft: PlannedDraft) -> None:
    draft.world["payment"] = {"status": "not_found"}
    steps.waiting(draft)
    steps.notify(draft, None)
    task = steps.due(draft, "data_due")
    draft.move(Event.WAITED_TOO_LONG, {}, sets={"reason": "waited_too_long"})
    draft.end(task)


@story(0.8)
def decision_expired(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    task = steps.due(draft, "expire")
    draft.move(Event.EXPIRED, {"proposal": task["subject"]}, sets={"reason": "decision_expired"})
    draft.end(task)


@story(0.5)
def rejected_by_hand(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.decide(draft, "reject", Event.REJECTED_TO_HAND, next="by_hand", sets={"reason": "rejected_by_hand"})


@story(0.3)
def returned_too_often(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    for _ in range(2):
        draft.returns += 1
        steps.decide(draft, "return", Event.RETURNED)
        steps.observe_and_propose(draft)
    draft.returns += 1
    steps.decide(draft, "return", Event.RETURNED_TOO_OFTEN, sets={"reason": "returned_too_often"})


@story(0.6)
def effect_refused(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.approve(draft)
    steps.refuse(draft, "effect_refused", "subscription_locked")


@story(0.3)
def gave_up(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.approve(draft)
    steps.not_applied(draft, times=5)
    steps.refuse(draft, "gave_up", "gave_up", answer="not_applied")


@story(0.8)
def unknown_too_long(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.approve(draft)
    steps.lose_answer(draft)
    steps.reconcile_in_vain(draft, Event.EFFECT_UNKNOWN, "unknown_too_long", "unknown")


@story(0.4)
def not_applied(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.approve(draft)
    steps.lose_answer(draft)
    steps.reconcile_in_vain(draft, Event.EFFECT_NOT_APPLIED, "not_applied", "not_applied")


@story(0.4)
def not_confirmed(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.approve(draft)
    steps.accept(draft)
    steps.reconcile_in_vain(draft, Event.EFFECT_UNKNOWN, "not_confirmed", "")


@story(0.3)
def partly_done(draft: PlannedDraft) -> None:
    """Sent once and provably not applied; before the repeat the facts had changed."""
    steps.proposed(draft)
    steps.approve(draft)
    steps.not_applied(draft, times=1)
    steps.find_changed(draft, begun=True)


@story(0.8)
def notice_unconfirmed(draft: PlannedDraft) -> None:
    steps.proposed(draft)
    steps.approve(draft)
    steps.perform(draft)
    task, action, call = steps.begin_notice(draft)
    draft.wait(0.1, 1)
    draft.answered(call, "refused", "mailbox_unknown")
    draft.settle(action, "REFUSED", code="mailbox_unknown")
    facts: Row = draft.about(action, call) | {"status": "REFUSED", "code": "mailbox_unknown"}
    draft.move(Event.NOTICES_UNCONFIRMED, owned(facts, "mail"), sets={"reason": "notice_unconfirmed"})
    draft.end(task)
