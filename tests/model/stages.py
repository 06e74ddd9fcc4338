"""What each stage settles with; a settlement that the table forbids is rolled back and the stage fails for good."""

from __future__ import annotations

from caseflow.domain.lifecycle import Event

from .draft import Draft
from .outcomes import call_refused, evidence, give_up, outcome
from .rules import IN_DOUBT, plan_allowed
from .settling import LeaseLost, Settling
from .states import IDLE, Setting, World


def settled(world: World, setting: Setting, me: int, *, fault: bool = False, blind: bool = False) -> World:
    """The worker settles what it knows; `fault`: with a fault that may pass; `blind`: without a read-back."""
    draft = Draft(world, setting)
    try:
        settling = Settling(draft, me, blind=blind)
    except LeaseLost:
        end_own_call(draft, me)
        return draft.frozen()
    if settling.lease.exhausted:
        settling.exhaust()
    elif fault:
        settling.fail()
    else:
        _work[settling.lease.stage](settling)
    if settling.finish():
        return draft.frozen()
    # cases/working.py: the refused change is recorded, and the stage fails for good.
    draft = Draft(world, setting)
    settling = Settling(draft, me)
    settling.exhaust()
    settling.finish()
    return draft.frozen()


def end_own_call(draft: Draft, me: int) -> None:
    """actions/storing.py `end_own_call`: a late holder ends its own call and nothing else."""
    worker = draft.workers[me]
    draft.set_worker(me, IDLE)
    action = draft.action(worker.case, worker.subject)
    if worker.own and action is not None and worker.answer in ("confirmed", "refused", "not_applied"):
        accepted = action.accepted or worker.answer == "confirmed"
        draft.set_action(worker.case, worker.subject, accepted=accepted, unanswered=action.unanswered - 1)


def _check(settling: Settling) -> None:
    settling.move(Event.CHECK_STARTED)


def _expire(settling: Settling) -> None:
    settling.move(Event.EXPIRED, reason="decision_expired")


def _data_due(settling: Settling) -> None:
    settling.move(Event.WAITED_TOO_LONG, reason="waited_too_long")


def _observe(settling: Settling) -> None:
    """`observe` and `propose` in one: what the facts allow (approvals/proposing.py `submit_proposal`)."""
    draft, lease = settling.draft, settling.lease
    case = draft.cases[lease.case]
    statuses = tuple(action.status for action in draft.actions if action.case == lease.case)
    if draft.setting.outside.effect_shows and draft.effects:
        settling.move(Event.NOTHING_TO_DO)
    elif not lease.facts:
        settling.move(Event.DATA_MISSING)
        settling.follow("data_due")
    elif not plan_allowed(statuses) or case.number == draft.setting.bounds.proposals:
        settling.move(Event.PERSON_NEEDED, reason="broken_proposal")
    else:
        settling.move(Event.PROPOSAL_READY, number=case.number + 1)
        settling.follow("expire")


def _execute(settling: Settling) -> None:
    lease = settling.lease
    if lease.at == "claimed" and lease.status == "busy":
        if settling.draft.cases[lease.case].approved:
            settling.again(give_back=True)
        else:
            give_up(settling, Event.APPROVAL_LAPSED)
    elif lease.at == "claimed" and lease.status in IN_DOUBT:
        # Whoever takes over an action whose call began starts with a look-up, never with a call.
        settling.note_lost()
        settling.follow("reconcile", lease.subject, now=True)
    elif lease.at == "refused":
        call_refused(settling)
    elif lease.at == "answered":
        outcome(settling)


def _reconcile(settling: Settling) -> None:
    lease = settling.lease
    if lease.at == "refused":
        call_refused(settling)
    elif lease.at == "answered":
        outcome(settling)
    elif lease.status in IN_DOUBT:
        settling.note_lost()
        evidence(settling)


_work = {
    "check": _check,
    "observe": _observe,
    "expire": _expire,
    "data_due": _data_due,
    "execute": _execute,
    "reconcile": _reconcile,
}
