"""What became of an effect, and what follows (actions/executing.py, reconciling.py, giving_up.py)."""

from __future__ import annotations

from caseflow.domain.lifecycle import Event

from .rules import MAX_RETURNS, cannot_land, facts_hold, gives_up, may_still_land
from .settling import Settling


def evidence(settling: Settling) -> None:
    """`_settle` of actions/reconciling.py."""
    lease, outside, protections = settling.lease, settling.draft.setting.outside, settling.draft.protections
    found = lease.accepted or lease.answer == "confirmed" or not outside.can_lookup
    if lease.answer == "not_applied" and outside.honours_keys and protections.subject_over_expired_key:
        found = _shown(settling)
        if settling.blind and protections.unread_subject_proves_nothing:
            _ask_again(settling)
            return
    if found and _shown(settling):
        _confirmed(settling)
    elif lease.answer == "not_applied" and lease.doubt and _asked_late(settling):
        settling.move(Event.EFFECT_NOT_APPLIED, reason="not_applied")
    else:
        _ask_again(settling)


def _asked_late(settling: Settling) -> bool:
    protections = settling.draft.protections
    return settling.lease.late if protections.judge_at_look_up else cannot_land(settling.action, protections)


def outcome(settling: Settling) -> None:
    lease = settling.lease
    if lease.own and lease.answer != "unknown":
        accepted = settling.action.accepted or lease.answer == "confirmed"
        settling.store(unanswered=settling.action.unanswered - 1, accepted=accepted)
    if lease.answer == "confirmed" and _shown(settling):
        _confirmed(settling)
    elif lease.answer == "confirmed":
        settling.store(status="REQUESTED")
        _look_again(settling)
    elif lease.answer == "refused":
        if lease.doubt and settling.draft.protections.doubt_survives_refusal:
            settling.store(status="UNKNOWN")
            _ask_again(settling)
        else:
            _refused(settling)
    elif lease.answer == "not_applied":
        _not_applied(settling)
    else:
        settling.store(status="UNKNOWN")
        _look_again(settling)


def _confirmed(settling: Settling) -> None:
    settling.store(status="CONFIRMED")
    if settling.late:
        settling.count(open=-1, done=1)
    else:
        settling.move(Event.EFFECTS_CONFIRMED_WITHOUT_NOTICES, open=-1, done=1)


def _refused(settling: Settling) -> None:
    settling.store(status="REFUSED")
    if settling.late:
        settling.count(open=-1)
    else:
        settling.move(Event.EFFECT_REFUSED, open=-1, reason="effect_refused")


def _not_applied(settling: Settling) -> None:
    lease = settling.lease
    if lease.doubt:
        settling.store(status="UNKNOWN")
        if gives_up(lease.spent):
            settling.move(Event.EFFECT_UNKNOWN, reason="unknown_too_long")
        else:
            settling.again()
    elif gives_up(lease.spent):
        _refused(settling)
    else:
        settling.store(status="PLANNED")
        settling.count(open=-1)
        settling.again()


def _look_again(settling: Settling) -> None:
    if settling.lease.stage != "reconcile":
        settling.follow("reconcile", settling.lease.subject)
    elif settling.draft.protections.every_try_counts:
        _ask_again(settling)
    else:
        settling.again()


def _ask_again(settling: Settling) -> None:
    if gives_up(settling.lease.spent):
        settling.move(Event.EFFECT_UNKNOWN, reason="unknown_too_long")
    else:
        settling.again()


def call_refused(settling: Settling) -> None:
    """Nothing was sent; the reason says what follows (`giving_up.settle_refused_call`)."""
    lease, reason = settling.lease, settling.lease.answer
    if reason == "facts_changed" and may_still_land(lease, settling.action):
        _look_again(settling)
    elif reason == "facts_changed":
        give_up(settling, Event.FACTS_CHANGED)
    elif reason == "approval_lapsed":
        give_up(settling, Event.APPROVAL_LAPSED)
    elif reason in ("began_already", "paused"):
        settling.again(give_back=True)


def give_up(settling: Settling, event: Event) -> None:
    draft, lease = settling.draft, settling.lease
    case = draft.cases[lease.case]
    returns = case.returns + (event is Event.FACTS_CHANGED)
    draft.cancel_planned(lease.case)
    if case.begun:
        settling.move(Event.PARTLY_DONE, returns=returns, reason="partly_done")
    elif event is Event.FACTS_CHANGED and returns >= MAX_RETURNS:
        settling.move(Event.RETURNED_TOO_OFTEN, returns=returns, reason="returned_too_often")
    else:
        settling.move(event, returns=returns)


def _shown(settling: Settling) -> bool:
    """The read-back shows the effect on the subject; read and commit are one step, because an effect stays."""
    draft = settling.draft
    if settling.blind:
        return False
    return not draft.protections.read_back or not facts_hold(True, bool(draft.effects), True)
