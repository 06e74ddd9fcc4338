"""Notices: actions of the same plan with their own key and status; one failed notice never stops the others (§4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

from approvals.snapshots import effects_of
from caseflow.domain.errors import CallRefused, LeaseLost
from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event, State
from caseflow.domain.outcomes import Confirmed, FaultKind, NotApplied, Outcome, Refused, Unknown
from caseflow.domain.retry import GiveUp, RetryPolicy
from cases.claiming import Lease
from cases.observing import Readings, keep_readings, read_now
from cases.personal import Sealer, digest_of_personal
from cases.settling import Fault, Settlement, settlement
from cases.stages import policy_of
from integrations.registry import get_adapter, owner_of

from .beginning import Purpose, begin_call
from .giving_up import may_still_land
from .models import Action, ActionStatus
from .pausing import wait_for_resuming
from .planned import Planned, find_planned, root_of
from .sending import perform
from .storing import Asked, add_lookup, end_lost_calls, end_own_call, store_evidence, store_outcome
from .texts import notice_text
from .undoing import outcome_of_undoing

rng = Random()  # noqa: S311  # jitter, no secret

POLICY = RetryPolicy(limit=8, deadline=timedelta(minutes=30))
HELD_UP = timedelta(seconds=15)  #: until an installation that sends nothing is tried again


def notify(lease: Lease) -> Lease | None:
    """Send one notice, or find out what became of one whose answer was lost."""
    found: Planned = lease.loaded
    planned = replace(found, address=_address(found))
    if planned.status in (ActionStatus.CONFIRMED, ActionStatus.REFUSED, ActionStatus.CANCELLED):
        with settlement(lease) as settling:
            pass
        return settling.next_lease
    if planned.in_doubt:
        return _look_up(lease, planned)
    if not planned.address:
        with settlement(lease) as settling:
            _settle(settling, planned, "", Refused("no_address"))
        return settling.next_lease
    return _send(lease, planned)


def _send(lease: Lease, planned: Planned) -> Lease | None:
    if lease.case is None:
        raise ValueError("a notice belongs to a case")
    text = notice_text(planned.spec.request, reference=lease.case.external_id)
    readings = _read_again(lease, planned)
    try:
        begun = begin_call(lease, planned, Purpose.NOTICE, readings)
    except CallRefused as refused:
        if refused.params["reason"] == "paused":
            return wait_for_resuming(lease, planned, refused, readings)
        with settlement(lease) as settling:
            _store(settling, planned, readings)
            _held_up(settling, planned, refused)
        return settling.next_lease
    failpoint("notify.begun", *lease.about)
    request = {"subject": text.subject, "text": text.body, "reference": lease.case.public_id}
    outcome = perform(lease, planned, begun, to=planned.address, request=request)
    failpoint("notify.answered", *lease.about)
    try:
        with settlement(lease) as settling:
            _store(settling, planned, readings)
            _settle(settling, planned, begun.call_id, outcome)
    except LeaseLost:
        end_own_call(begun.call_id, outcome)
        raise
    return settling.next_lease


def _read_again(lease: Lease, planned: Planned) -> Readings | None:
    """The facts on which it depends whether this recipient may have the message; none for most. Raises ReadFailed."""
    names = {path.partition(".")[0] for path in planned.spec.preconditions}
    if not names or lease.case is None:
        return None
    return read_now(lease.case.definition, planned.intake, names, revision=planned.revision)


def _store(settling: Settlement, planned: Planned, readings: Readings | None) -> None:
    if readings is not None:
        keep_readings(settling.case.id, readings, at=settling.now, known=planned.addresses())


def _held_up(settling: Settlement, planned: Planned, refused: CallRefused) -> None:
    match reason := refused.params["reason"]:
        case "moved_on":
            pass  # the case went another way; nobody waits for this notice
        case "facts_changed":
            _hold_back(settling, planned, refused.params["differences"])
        case "facts_stale":
            settling.again(timedelta(0), give_back=True, fault=Fault(FaultKind.TRANSIENT, reason))
        case "installation":
            settling.again(HELD_UP, give_back=True, fault=Fault(FaultKind.TRANSIENT, reason))
        case "began_already" | "key_expired":
            settling.fail(Fault(FaultKind.TRANSIENT, reason), rng=rng)
        case _:
            settling.exhaust("internal_error", Fault(FaultKind.PERMANENT, reason))


def _hold_back(settling: Settlement, planned: Planned, differing: Mapping[str, Any]) -> None:
    """This recipient may not have the message: it stays PLANNED with the reason until a person has seen to that.

    An earlier request that got no answer may have brought the message all the same: then the doubt stays.
    """
    name = min(differing).partition(".")[0]
    system = next(source.system for source in settling.case.definition.facts if source.name == name)
    code, facts = planned.spec.otherwise or "facts_changed", {"differences": differing} | owner_of(system)
    if planned.in_doubt:
        _final(settling, planned, "", Unknown(code), ActionStatus.UNKNOWN, more=facts)
    else:
        _final(settling, planned, "", NotApplied(code), ActionStatus.PLANNED, more=facts)


def _look_up(lease: Lease, planned: Planned) -> Lease | None:
    """A lost answer is settled by look-up; where there is none the notice stays UNKNOWN and is not sent again."""
    adapter = get_adapter(planned.spec.system)
    if not adapter.can_lookup:
        with settlement(lease) as settling:
            end_lost_calls(planned.row_id or 0)
            _final(settling, planned, "", Unknown("worker_lost"), ActionStatus.UNKNOWN)
        return settling.next_lease
    asked = Asked.now()
    answer = adapter.lookup(key=planned.spec.key, call_id=asked.call_id)
    young = planned.key_age is not None and planned.key_age < adapter.key_life
    if isinstance(answer, NotApplied) and adapter.honours_keys and young:
        store_evidence(lease, planned.row_id or 0, asked, answer)
        # Since then the call of a worker that was lost has an end, too: from there on it is known how long it may land.
        known = find_planned(lease, effects_only=False)
        return _send(lease, replace(known, address=planned.address))
    with settlement(lease) as settling:
        end_lost_calls(planned.row_id or 0)
        add_lookup(lease, planned.row_id or 0, asked, answer)
        _settle(settling, planned, "", answer if isinstance(answer, Confirmed) else Unknown("still_unknown"))
    return settling.next_lease


def _settle(settling: Settlement, planned: Planned, call_id: str, outcome: Outcome) -> None:
    match outcome:
        case Confirmed():
            _final(settling, planned, call_id, outcome, ActionStatus.CONFIRMED)
        case Refused() if not may_still_land(planned, settling):
            _final(settling, planned, call_id, outcome, ActionStatus.REFUSED)
        case NotApplied() | Unknown() | Refused():
            _try_again(settling, planned, call_id, outcome)


def _try_again(settling: Settlement, planned: Planned, call_id: str, outcome: NotApplied | Unknown | Refused) -> None:
    """Where an earlier request got no answer, no answer to a later one says what became of it: the doubt stays."""
    lease = settling.lease
    doubt = isinstance(outcome, Unknown) or planned.unanswered_at is not None
    status = ActionStatus.UNKNOWN if doubt else ActionStatus.PLANNED
    verdict = policy_of(lease.definition, settling.row).next(
        attempt=lease.spent,
        kind=FaultKind.TRANSIENT,
        now=settling.now,
        deadline_at=lease.deadline_at,
        rng=rng,
        retry_after=None if isinstance(outcome, Refused) else outcome.retry_after,
    )
    if isinstance(verdict, GiveUp) or (doubt and not get_adapter(planned.spec.system).can_lookup):
        _final(settling, planned, call_id, outcome, status if doubt else ActionStatus.REFUSED)
        return
    store_outcome(planned.row_id or 0, call_id, outcome, status=status)
    kind = "action.unknown" if doubt else "action.not_applied"
    settling.record(kind, facts=_about(planned, call_id) | {"code": outcome.code})
    settling.again(verdict.delay, fault=Fault(FaultKind.TRANSIENT, outcome.code, outcome.message))


def settle_exhausted(settling: Settlement, reason: str) -> bool:
    """No further try: this notice is settled by what is known of it, and the others of its plan go on (design §4)."""
    planned = find_planned(settling.lease, effects_only=False, reserve=True)
    if planned.in_doubt:
        end_lost_calls(planned.row_id or 0)
        _final(settling, planned, "", Unknown(reason), ActionStatus.UNKNOWN)
    elif planned.status is ActionStatus.PLANNED:
        _final(settling, planned, "", NotApplied(reason), ActionStatus.REFUSED)
    return True


def _final(
    settling: Settlement,
    planned: Planned,
    call_id: str,
    outcome: Outcome,
    status: ActionStatus,
    *,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Nothing is left to ask about this notice. The last one of its plan moves the case."""
    confirmed_by = "receipt" if status is ActionStatus.CONFIRMED else ""
    store_outcome(planned.row_id or 0, call_id, outcome, status=status, confirmed_by=confirmed_by, settled=True)
    code = getattr(outcome, "code", "")
    facts = _about(planned, call_id) | {"status": status.value, "code": code} | dict(more or {})
    others = _others(planned)
    if settling.case.state is not State.NOTIFYING or settling.late or None in others:
        settling.record(f"action.{'held_back' if status is ActionStatus.PLANNED else status.lower()}", facts=facts)
        return
    failed = {found for found in [(status, code), *others] if found and found[0] is not ActionStatus.CONFIRMED}
    if failed:
        # All that is missing was held back for one reason: that is what a person has to see to.
        held_back = all(found is ActionStatus.PLANNED for found, _ in failed) and len(failed) == 1
        reason = min(failed)[1] if held_back else "notice_unconfirmed"
        facts = owner_of(planned.spec.system) | facts
        settling.move(Event.NOTICES_UNCONFIRMED, facts=facts, sets={"reason": reason})
        return
    effects = effects_of(root_of(planned))
    if effects and all(effect.undoes for effect in effects):
        settling.move(Event.UNDOING_NOTICES_CONFIRMED, facts=facts, sets=outcome_of_undoing(settling.case.id))
    else:
        settling.move(Event.NOTICES_CONFIRMED if effects else Event.CLOSING_NOTICES_CONFIRMED, facts=facts)


def _others(planned: Planned) -> list[tuple[ActionStatus, str] | None]:
    """The settled status of every other notice of the plan with its code; None where one is not settled yet."""
    others = [notice.id for notice in planned.notices() if notice.id != planned.spec.id]
    if not others:
        return []
    settled = Action.objects.filter(public_id__in=others, settled_at__isnull=False)
    rows = {
        name: (ActionStatus(status), code) for name, status, code in settled.values_list("public_id", "status", "code")
    }
    return [rows.get(other) for other in others]


def _address(planned: Planned) -> str:
    """The address whose digest the plan names; empty when it was purged or is another one now."""
    ciphertext, wrapped = planned.sealed_address or (None, None)
    if ciphertext is None or wrapped is None:
        return ""
    wanted = planned.spec.request["to"]
    address = Sealer.of_wrapped(wrapped).open(wanted["personal"], ciphertext)
    return address if address and digest_of_personal(address) == wanted["digest"] else ""


def _about(planned: Planned, call_id: str) -> dict[str, str]:
    about = {
        "action": planned.spec.id,
        "operation": planned.spec.operation,
        "system": planned.spec.system,
        "kind": "notice",
    }
    return about | ({"call": call_id} if call_id else {})
