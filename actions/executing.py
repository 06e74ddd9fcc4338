"""Effects: re-read, begin, perform, read back, settle (requirements D2, D3, E4)."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

from caseflow.domain.errors import CallRefused, LeaseLost
from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event
from caseflow.domain.outcomes import Confirmed, FaultKind, NotApplied, Outcome, ReadFailed, Refused, Unknown
from caseflow.domain.process import differences
from caseflow.domain.retry import GiveUp, TryAgain
from caseflow.statements import Question
from cases.claiming import Lease
from cases.observing import Readings, keep_readings, read_now
from cases.publishing import NewTask
from cases.settling import Fault, Settlement, settlement
from cases.stages import policy_of
from integrations.registry import owner_of

from .beginning import Purpose, begin_call
from .by_hand import FOUND_NOT_DONE
from .giving_up import READ_AGAIN, give_up, may_still_land, settle_refused_call
from .models import ActionStatus
from .planned import Planned, ask_for_planned
from .sending import perform
from .storing import end_lost_calls, end_own_call, store_outcome
from .undoing import outcome_of_undoing

rng = Random()  # noqa: S311  # jitter, no secret

BUSY = timedelta(seconds=2)  #: until a busy subject is tried again
FIRST_LOOK = timedelta(seconds=1)  #: from a lost answer to the first look-up

#: Why the service said no is what a person has to do next (requirement C1).
_WAYS_ON = {
    FaultKind.INVALID_DATA: "invalid_data",
    FaultKind.NOT_PERMITTED: "not_permitted",
    FaultKind.NO_ROOM: "no_room",
}


def load_execute(lease: Lease) -> Question:
    """Reserve before reading: the row is committed with the claim."""
    return ask_for_planned(lease, effects_only=True, reserve=True)


def execute(lease: Lease) -> Lease | None:
    """Perform one effect of the approved plan, or leave it to `reconcile` where a call of it began before."""
    planned: Planned = lease.loaded
    if planned.busy:
        return _wait_for_subject(lease, planned)
    if planned.in_doubt:
        return _hand_to_reconcile(lease, planned)
    if planned.status is not ActionStatus.PLANNED:
        return _go_on(lease, planned)
    purpose = Purpose.FIRST if planned.first_sent_at is None else Purpose.REPEAT
    return send(lease, planned, purpose)


def send(lease: Lease, planned: Planned, purpose: Purpose) -> Lease | None:
    """Re-read the critical facts, pass the point of no return, call, read back, settle."""
    if lease.case is None:
        raise ValueError("an effect belongs to a case")
    names = {path.partition(".")[0] for path in planned.spec.preconditions}
    readings = read_now(lease.case.definition, planned.intake, names, revision=planned.revision)
    failpoint("execute.before_begin", *lease.about)
    try:
        begun = begin_call(lease, planned, purpose, readings)
    except CallRefused as refused:
        return settle_refused_call(lease, planned, readings, refused)
    failpoint("execute.begun", *lease.about)
    outcome = perform(lease, planned, begun, to=planned.spec.subject, request=planned.spec.request)
    failpoint("execute.answered", *lease.about)
    back = read_back(lease, planned) if isinstance(outcome, Confirmed) else None
    failpoint("execute.read_back", *lease.about)
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
    keep_readings(settling.case.id, *read, at=settling.now, known=planned.addresses())
    match outcome:
        case Confirmed() if back is not None and not differences(planned.spec.confirms, back.facts):
            _confirmed(settling, planned, call_id, outcome, back, confirmed_by)
        case Confirmed():
            _accepted(settling, planned, call_id, outcome)
        case Refused() if may_still_land(planned, settling):
            # The system refused this request; an earlier one got no answer and may still land.
            _unknown(settling, planned, call_id, outcome)
        case Refused():
            _refused(settling, planned, call_id, outcome, "effect_refused", outcome.code)
        case NotApplied():
            _not_applied(settling, planned, call_id, outcome)
        case Unknown():
            _unknown(settling, planned, call_id, outcome)


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
    facts = planned.about(call_id) | {
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
    _all_confirmed(settling, planned, facts, adds)


def _all_confirmed(settling: Settlement, planned: Planned, facts: dict[str, Any], adds: dict[str, int]) -> None:
    """The last effect of the plan stands: its notices follow, or the case is at its end."""
    notices = planned.notices()
    if notices:
        follow = [NewTask("notify", subject=notice.id) for notice in notices]
        event = Event.UNDONE if planned.is_undoing else Event.EFFECTS_CONFIRMED
        settling.move(event, facts=facts, adds=adds, follow=follow)
    elif planned.is_undoing:
        sets = outcome_of_undoing(settling.case.id)
        settling.move(Event.UNDONE_WITHOUT_NOTICES, facts=facts, sets=sets, adds=adds)
    else:
        settling.move(Event.EFFECTS_CONFIRMED_WITHOUT_NOTICES, facts=facts, adds=adds)


def _go_on(lease: Lease, planned: Planned) -> Lease | None:
    """Nothing is sent: two people established by hand what became of this effect, and the plan goes on from there."""
    by_hand = planned.about() | {"found_by": "hand"}
    with settlement(lease) as settling:
        if settling.late:
            pass
        elif planned.status is ActionStatus.CONFIRMED:
            following = planned.following()
            if following is not None:
                settling.follow(NewTask("execute", subject=following.id))
            else:
                _all_confirmed(settling, planned, by_hand, {})
        elif planned.status is ActionStatus.REFUSED:
            settling.move(Event.EFFECT_REFUSED, facts=by_hand, sets={"reason": FOUND_NOT_DONE})
    return settling.next_lease


def _accepted(settling: Settlement, planned: Planned, call_id: str, outcome: Confirmed) -> None:
    """A success whose read-back still shows the old state stays REQUESTED and is read again until its deadline."""
    store_outcome(planned.row_id or 0, call_id, outcome, status=ActionStatus.REQUESTED)
    settling.record("action.awaiting", facts=planned.about(call_id))
    _look_again(settling, planned, READ_AGAIN)


def _unknown(settling: Settlement, planned: Planned, call_id: str, outcome: Unknown | Refused) -> None:
    store_outcome(planned.row_id or 0, call_id, outcome, status=ActionStatus.UNKNOWN)
    settling.record("action.unknown", facts=planned.about(call_id) | {"code": outcome.code})
    _look_again(settling, planned, FIRST_LOOK)


def _refused(settling: Settlement, planned: Planned, call_id: str, outcome: Outcome, reason: str, code: str) -> None:
    store_outcome(planned.row_id or 0, call_id, outcome, status=ActionStatus.REFUSED, settled=True, code=code)
    facts = planned.about(call_id) | {"code": code} | owner_of(planned.spec.system)
    if isinstance(outcome, Refused):
        facts["fault"] = outcome.kind
        reason = _WAYS_ON.get(outcome.kind, reason)
    if planned.spec.undoes:
        facts["undoes"] = planned.spec.undoes
        reason = "undoing_refused"
    elif planned.spec.position > 1:
        # Effects run one after the other: those before this one are confirmed and stand.
        reason = "effect_refused_partly"
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
        "action.not_applied", facts=planned.about(call_id) | {"code": outcome.code}, adds={"effects_open": -1}
    )
    settling.again(verdict.delay, fault=fault)


def _still_unknown(
    settling: Settlement, planned: Planned, call_id: str, outcome: NotApplied, verdict: TryAgain | GiveUp, fault: Fault
) -> None:
    """This request was not taken, but an earlier one got no answer and may still land: the doubt stays."""
    store_outcome(planned.row_id or 0, call_id, outcome, status=ActionStatus.UNKNOWN)
    facts = planned.about(call_id) | {"code": outcome.code}
    if isinstance(verdict, TryAgain):
        settling.record("action.unknown", facts=facts)
        settling.again(verdict.delay, fault=fault)
        return
    settling.end_as("failed", "unknown_too_long", outcome.code)
    if settling.late:
        settling.record("action.unknown", facts=facts)
    else:
        facts |= owner_of(planned.spec.system)
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
        facts = {"action": planned.spec.id, "reason": reason} | owner_of(planned.spec.system)
        settling.move(event, facts=facts, sets={"reason": reason})


def _hand_to_reconcile(lease: Lease, planned: Planned) -> Lease | None:
    """Whoever takes over an action whose call began starts with a look-up, never with a call."""
    with settlement(lease) as settling:
        if planned.status is ActionStatus.REQUESTED and not planned.accepted:
            end_lost_calls(planned.row_id or 0)
            store_outcome(planned.row_id or 0, "", Unknown("worker_lost"), status=ActionStatus.UNKNOWN)
            settling.record("action.unknown", facts=planned.about() | {"code": "worker_lost"})
        settling.follow(NewTask("reconcile", subject=planned.spec.id))
    return settling.next_lease


def _wait_for_subject(lease: Lease, planned: Planned) -> Lease | None:
    """Another case changes the same subject: the attempt is given back, bounded by `execute_by`."""
    with settlement(lease) as settling:
        if planned.execute_by is not None and planned.execute_by <= settling.now:
            give_up(settling, planned, Event.APPROVAL_LAPSED, {"reason": "approval_lapsed"})
        else:
            if lease.number == 1:
                settling.record("action.busy", facts=planned.about() | {"reason": "subject_busy"})
            settling.again(BUSY, give_back=True, fault=Fault(FaultKind.TRANSIENT, "subject_busy"))
    return settling.next_lease


def _value(readings: Readings, path: str) -> Any:
    name, _, key = path.partition(".")
    return readings.facts.get(name, {}).get(key)
