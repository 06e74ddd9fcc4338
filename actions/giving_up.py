"""When a plan does not go on: refused at the point of no return, given up, or at the end of its tries."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

from caseflow.domain.errors import CallRefused
from caseflow.domain.lifecycle import Event
from caseflow.domain.outcomes import FaultKind, Unknown
from caseflow.domain.recovery import MAX_RETURNS
from cases.claiming import Lease
from cases.observing import Readings, keep_readings
from cases.settling import Fault, Settlement, settlement
from integrations.registry import get_adapter, owner_of

from .models import ActionStatus
from .pausing import wait_for_resuming
from .planned import Planned, find_planned
from .storing import cancel_planned, end_lost_calls, store_outcome

rng = Random()  # noqa: S311  # jitter, no secret

HELD_UP = timedelta(seconds=15)  #: until an installation that sends nothing is tried again
READ_AGAIN = timedelta(seconds=2)  #: until an accepted effect is read back again


def settle_refused_call(lease: Lease, planned: Planned, readings: Readings, refused: CallRefused) -> Lease | None:
    """Nothing was sent. What the re-read showed is stored with the event that the reason names."""
    reason = refused.params["reason"]
    if reason == "paused":
        return wait_for_resuming(lease, planned, refused, readings)
    with settlement(lease) as settling:
        keep_readings(settling.case.id, readings, at=settling.now, known=planned.addresses())
        match reason:
            case "moved_on":
                pass  # the case went another way while the facts were read
            case "facts_changed" if may_still_land(planned, settling):
                # What changed may be our own earlier request, landing late: look before anything is given up.
                settling.fail(Fault(FaultKind.TRANSIENT, reason, retry_after=READ_AGAIN), rng=rng)
            case "facts_changed":
                give_up(settling, planned, Event.FACTS_CHANGED, {"changed": refused.params["differences"]})
            case "approval_lapsed" | "decider_lost_right":
                give_up(settling, planned, Event.APPROVAL_LAPSED, {"reason": reason})
            case "installation" | "facts_stale":
                settling.again(HELD_UP, give_back=True, fault=Fault(FaultKind.TRANSIENT, reason))
            case "began_already" | "key_expired":
                settling.fail(Fault(FaultKind.TRANSIENT, reason), rng=rng)
            case _:
                settling.exhaust("internal_error", Fault(FaultKind.PERMANENT, reason))
    return settling.next_lease


def give_up(settling: Settlement, planned: Planned, event: Event, facts: dict[str, Any]) -> None:
    """The plan is given up: back to checking, or to a person when a part of it began or it keeps happening."""
    cancel_planned(settling.case.id)
    about = planned.about() | facts
    adds = {"returns": 1} if event is Event.FACTS_CHANGED else {}
    if settling.case.plan_begun:
        settling.move(Event.PARTLY_DONE, facts=about, sets={"reason": "partly_done"}, adds=adds)
    elif event is Event.FACTS_CHANGED and settling.case.returns + 1 >= MAX_RETURNS:
        settling.move(Event.RETURNED_TOO_OFTEN, facts=about, sets={"reason": "returned_too_often"}, adds=adds)
    else:
        settling.move(event, facts=about, adds=adds)


def may_still_land(planned: Planned, settling: Settlement) -> bool:
    """An earlier call of this action got no answer, and the system may still carry it out."""
    if planned.unanswered_at is None:
        return False
    return settling.now - planned.unanswered_at <= get_adapter(planned.spec.system).settles_after


def give_up_plan(settling: Settlement) -> None:
    """For an exhausted task of this room: what was reserved is cancelled; what began stays in doubt."""
    cancel_planned(settling.case.id)


def settle_exhausted(settling: Settlement, reason: str) -> bool:
    """A task that may not be tried again while its effect is in doubt leaves a doubt, no failure (requirement C4)."""
    if settling.late or not settling.case.effects_open:
        return False
    planned = find_planned(settling.lease, effects_only=True)
    if planned.status is ActionStatus.REQUESTED and not planned.accepted:
        end_lost_calls(planned.row_id or 0)
        store_outcome(planned.row_id or 0, "", Unknown("worker_lost"), status=ActionStatus.UNKNOWN)
    said = "not_confirmed" if planned.accepted else "unknown_too_long"
    facts = planned.about() | {"error": reason} | owner_of(planned.spec.system)
    settling.move(Event.EFFECT_UNKNOWN, facts=facts, sets={"reason": said})
    return True
