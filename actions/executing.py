"""Effects: re-read, begin, perform, read back, settle (requirements D2, D3, E4)."""

from __future__ import annotations

import logging
from datetime import timedelta
from random import Random
from typing import Any

from approvals.deciding import MAX_RETURNS
from caseflow.domain.errors import CallRefused, LeaseLost
from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event
from caseflow.domain.outcomes import Confirmed, FaultKind, NotApplied, Outcome, ReadFailed, Refused, Unknown
from caseflow.domain.process import differences
from caseflow.domain.retry import GiveUp, TryAgain
from cases.claiming import Lease
from cases.observing import Readings, read_now, store_readings
from cases.publishing import NewTask
from cases.settling import Fault, Settlement, settlement
from cases.stages import policy_of
from integrations.registry import get_adapter

from .beginning import Begun, Purpose, begin_call
from .models import ActionStatus
from .planned import Planned, find_planned, reserved
from .storing import cancel_planned, end_lost_calls, end_own_call, store_outcome

log = logging.getLogger("caseflow.actions")
rng = Random()  # noqa: S311  # jitter, no secret

BUSY = timedelta(seconds=2)  #: until a busy subject is tried again
HELD_UP = timedelta(seconds=15)  #: until a paused system or installation is tried again
FIRST_LOOK = timedelta(seconds=1)  #: from a lost answer to the first look-up
READ_AGAIN = timedelta(seconds=2)  #: until an accepted effect is read back again


def load_execute(lease: Lease) -> Planned:
    """Reserve before reading: the row is committed with the claim."""
    return reserved(lease, find_planned(lease, effects_only=True))


def execute(lease: Lease) -> Lease | None:
    """Perform one effect of the approved plan, or leave it to `reconcile` where a call of it began before."""
    planned: Planned = lease.loaded
    if planned.busy:
        return _wait_for_subject(lease, planned)
    if planned.in_doubt:
        return _hand_to_reconcile(lease, planned)
    if planned.status is not ActionStatus.PLANNED:
        with settlement(lease) as settling:
            pass
        return settling.next_lease
    purpose = Purpose.FIRST if planned.first_sent_at is None else Purpose.REPEAT
    return send(lease, planned, purpose)


def send(lease: Lease, planned: Planned, purpose: Purpose) -> Lease | None:
    """Re-read the critical facts, pass the point of no return, call, read back, settle."""
    if lease.case is None:
        raise ValueError("an effect belongs to a case")
    names = {path.partition(".")[0] for path in planned.spec.preconditions}
    readings = read_now(lease.case.definition, planned.intake, names, revision=planned.revision)
    failpoint("execute.before_begin")
    try:
        begun = begin_call(lease, planned, purpose, readings)
    except CallRefused as refused:
        return _settle_refused_call(lease, planned, readings, refused)
    failpoint("execute.begun")
    outcome = _perform(planned, begun)
    failpoint("execute.answered")
    back = read_back(lease, planned) if isinstance(outcome, Confirmed) else None
    failpoint("execute.read_back")
    try:
        with settlement(lease) as settling:
            settle_outcome(settling, planned, begun.call_id, outcome, readings, back)
    except LeaseLost:
        end_own_call(begun.call_id, outcome)
        raise
    return settling.next_lease


def settle_outcome(
    settling: Settlement,
    planned: Planned,
    call_id: str,
    outcome: Outcome,
    readings: Readings | None,
    back: Readings | None,
    *,
    confirmed_by: str = "read",
) -> None:
    """Store what became of the call, and move the case where this was the last word."""
    read = [stored for stored in (readings, back) if stored is not None]
    store_readings(settling.case.id, *read, at=settling.now, known=planned.addresses())
    match outcome:
        case Confirmed() if back is not None and not differences(planned.spec.confirms, back.facts):
            _confirmed(settling, planned, call_id, outcome, back, confirmed_by)
        case Confirmed():
            _accepted(settling, planned, call_id, outcome)
        case Refused():
            _refused(settling, planned, call_id, outcome, "effect_refused", outcome.code)
        case NotApplied():
            _not_applied(settling, planned, call_id, outcome)
        case Unknown():
            _unknown(settling, planned, call_id, outcome)


def _perform(planned: Planned, begun: Begun) -> Outcome:
    spec = planned.spec
    try:
        return get_adapter(spec.system).perform(
            spec.operation, spec.subject, spec.request, key=spec.key, call_id=begun.call_id
        )
    except Exception as error:
        # Whatever went wrong here may have gone wrong after the request had left.
        log.exception("performing %s failed", spec.id)
        return Unknown("adapter_failed", type(error).__name__)


def read_back(lease: Lease, planned: Planned) -> Readings | None:
    """The facts that confirm the effect, or None where the system cannot be read just now."""
    if lease.case is None:
        raise ValueError("an effect belongs to a case")
    names = {path.partition(".")[0] for path in planned.spec.confirms}
    try:
        return read_now(lease.case.definition, planned.intake, names, revision=planned.revision)
    except ReadFailed:
        return None


def _confirmed(
    settling: Settlement, planned: Planned, call_id: str, outcome: Confirmed, back: Readings, confirmed_by: str
) -> None:
    store_outcome(
        planned.row_id or 0, call_id, outcome, status=ActionStatus.CONFIRMED, confirmed_by=confirmed_by, settled=True
    )
    facts = _about(planned, call_id) | {
        "external_id": outcome.external_id,
        "confirmed_by": confirmed_by,
        "read_back": {path: _value(back, path) for path in planned.spec.confirms},
    }
    adds = {"effects_open": -1, "effects_done": 1}
    following = planned.following()
    if settling.late or following is not None:
        settling.record("action.confirmed", facts=facts, adds=adds)
        if following is not None:
            settling.follow(NewTask("execute", subject=following.id))
        return
    notices = planned.notices()
    if notices:
        follow = [NewTask("notify", subject=notice.id) for notice in notices]
        settling.move(Event.EFFECTS_CONFIRMED, facts=facts, adds=adds, follow=follow)
    else:
        settling.move(Event.EFFECTS_CONFIRMED_WITHOUT_NOTICES, facts=facts, adds=adds)


def _accepted(settling: Settlement, planned: Planned, call_id: str, outcome: Confirmed) -> None:
    """A success whose read-back still shows the old state stays REQUESTED and is read again until its deadline."""
    store_outcome(planned.row_id or 0, call_id, outcome, status=ActionStatus.REQUESTED)
    settling.record("action.awaiting", facts=_about(planned, call_id))
    _look_again(settling, planned, READ_AGAIN)


def _unknown(settling: Settlement, planned: Planned, call_id: str, outcome: Unknown) -> None:
    store_outcome(planned.row_id or 0, call_id, outcome, status=ActionStatus.UNKNOWN)
    settling.record("action.unknown", facts=_about(planned, call_id) | {"code": outcome.code})
    _look_again(settling, planned, FIRST_LOOK)


def _refused(settling: Settlement, planned: Planned, call_id: str, outcome: Outcome, reason: str, code: str) -> None:
    store_outcome(planned.row_id or 0, call_id, outcome, status=ActionStatus.REFUSED, settled=True, code=code)
    facts = _about(planned, call_id) | {"code": code}
    adds = {"effects_open": -1}
    if settling.late:
        settling.record("action.refused", facts=facts, adds=adds)
        return
    settling.move(Event.EFFECT_REFUSED, facts=facts, sets={"reason": reason}, adds=adds)


def _not_applied(settling: Settlement, planned: Planned, call_id: str, outcome: NotApplied) -> None:
    lease = settling.lease
    verdict = policy_of(lease.definition, settling.row).next(
        attempt=lease.spent,
        kind=FaultKind.TRANSIENT,
        now=settling.now,
        deadline_at=lease.deadline_at,
        rng=rng,
        retry_after=outcome.retry_after,
    )
    fault = Fault(FaultKind.TRANSIENT, outcome.code, outcome.message)
    if planned.unanswered_at is not None:
        _still_unknown(settling, planned, call_id, outcome, verdict, fault)
        return
    if isinstance(verdict, GiveUp):
        _refused(settling, planned, call_id, outcome, "gave_up", "gave_up")
        return
    store_outcome(planned.row_id or 0, call_id, outcome, status=ActionStatus.PLANNED)
    settling.record(
        "action.not_applied", facts=_about(planned, call_id) | {"code": outcome.code}, adds={"effects_open": -1}
    )
    settling.again(verdict.delay, fault=fault)


def _still_unknown(
    settling: Settlement, planned: Planned, call_id: str, outcome: NotApplied, verdict: TryAgain | GiveUp, fault: Fault
) -> None:
    """This request was not taken, but an earlier one got no answer and may still land: the doubt stays."""
    store_outcome(planned.row_id or 0, call_id, outcome, status=ActionStatus.UNKNOWN)
    facts = _about(planned, call_id) | {"code": outcome.code}
    if isinstance(verdict, TryAgain):
        settling.record("action.unknown", facts=facts)
        settling.again(verdict.delay, fault=fault)
        return
    settling.end_as("failed", "unknown_too_long", outcome.code)
    if settling.late:
        settling.record("action.unknown", facts=facts)
    else:
        settling.move(Event.EFFECT_UNKNOWN, facts=facts, sets={"reason": "unknown_too_long"})


def _look_again(settling: Settlement, planned: Planned, delay: timedelta) -> None:
    if settling.lease.stage != "reconcile":
        settling.follow(NewTask("reconcile", subject=planned.spec.id, delay=delay))
        return
    lease = settling.lease
    verdict = policy_of(lease.definition, settling.row).next(
        attempt=lease.spent, kind=FaultKind.TRANSIENT, now=settling.now, deadline_at=lease.deadline_at, rng=rng
    )
    if isinstance(verdict, TryAgain):
        settling.again(max(delay, verdict.delay))
    else:
        to_person(settling, planned, Event.EFFECT_UNKNOWN, "unknown_too_long")


def to_person(settling: Settlement, planned: Planned, event: Event, reason: str) -> None:
    """The action stays in doubt: nobody may call it refused, or send it again, without evidence."""
    settling.end_as("failed", reason, reason)
    if not settling.late:
        settling.move(event, facts={"action": planned.spec.id, "reason": reason}, sets={"reason": reason})


def _hand_to_reconcile(lease: Lease, planned: Planned) -> Lease | None:
    """Whoever takes over an action whose call began starts with a look-up, never with a call."""
    with settlement(lease) as settling:
        if planned.status is ActionStatus.REQUESTED and not planned.accepted:
            end_lost_calls(planned.row_id or 0)
            store_outcome(planned.row_id or 0, "", Unknown("worker_lost"), status=ActionStatus.UNKNOWN)
            settling.record("action.unknown", facts=_about(planned, "") | {"code": "worker_lost"})
        settling.follow(NewTask("reconcile", subject=planned.spec.id))
    return settling.next_lease


def _wait_for_subject(lease: Lease, planned: Planned) -> Lease | None:
    """Another case changes the same subject: the attempt is given back, bounded by `execute_by`."""
    with settlement(lease) as settling:
        if planned.execute_by is not None and planned.execute_by <= settling.now:
            _give_up(settling, planned, Event.APPROVAL_LAPSED, {"reason": "approval_lapsed"})
        else:
            if lease.number == 1:
                settling.record("action.busy", facts=_about(planned, "") | {"reason": "subject_busy"})
            settling.again(BUSY, give_back=True, fault=Fault(FaultKind.TRANSIENT, "subject_busy"))
    return settling.next_lease


def _settle_refused_call(lease: Lease, planned: Planned, readings: Readings, refused: CallRefused) -> Lease | None:
    """Nothing was sent. What the re-read showed is stored with the event that the reason names."""
    reason = refused.params["reason"]
    with settlement(lease) as settling:
        store_readings(settling.case.id, readings, at=settling.now, known=planned.addresses())
        if reason == "facts_changed" and _may_still_land(planned, settling):
            # What changed may be our own earlier request, landing late: look before anything is given up.
            settling.again(READ_AGAIN, fault=Fault(FaultKind.TRANSIENT, reason))
        elif reason == "facts_changed":
            _give_up(settling, planned, Event.FACTS_CHANGED, {"changed": refused.params["differences"]})
        elif reason in ("approval_lapsed", "decider_lost_right"):
            _give_up(settling, planned, Event.APPROVAL_LAPSED, {"reason": reason})
        elif reason == "snapshot_broken":
            settling.exhaust("internal_error", Fault(FaultKind.PERMANENT, reason))
        elif reason == "began_already":
            settling.again(timedelta(0), give_back=True)
        elif reason in ("paused", "installation", "facts_stale"):
            settling.again(HELD_UP, give_back=True, fault=Fault(FaultKind.TRANSIENT, reason))
    return settling.next_lease


def _give_up(settling: Settlement, planned: Planned, event: Event, facts: dict[str, Any]) -> None:
    """The plan is given up: back to checking, or to a person when a part of it began or it keeps happening."""
    cancel_planned(settling.case.id)
    about = _about(planned, "") | facts
    adds = {"returns": 1} if event is Event.FACTS_CHANGED else {}
    if settling.case.plan_begun:
        settling.move(Event.PARTLY_DONE, facts=about, sets={"reason": "partly_done"}, adds=adds)
    elif event is Event.FACTS_CHANGED and settling.case.returns + 1 >= MAX_RETURNS:
        settling.move(Event.RETURNED_TOO_OFTEN, facts=about, sets={"reason": "returned_too_often"}, adds=adds)
    else:
        settling.move(event, facts=about, adds=adds)


def _may_still_land(planned: Planned, settling: Settlement) -> bool:
    if planned.unanswered_at is None:
        return False
    return settling.now - planned.unanswered_at <= get_adapter(planned.spec.system).settles_after


def give_up_plan(settling: Settlement) -> None:
    """For an exhausted task of this room: what was reserved is cancelled; what began stays in doubt."""
    cancel_planned(settling.case.id)


def _about(planned: Planned, call_id: str) -> dict[str, Any]:
    spec = planned.spec
    about = {"action": spec.id, "operation": spec.operation, "system": spec.system, "subject": spec.subject}
    return about | ({"call": call_id} if call_id else {})


def _value(readings: Readings, path: str) -> Any:
    name, _, key = path.partition(".")
    return readings.facts.get(name, {}).get(key)
