"""Find out what an action in doubt really did (requirement D3): look-up by key, then read the subject.

Only evidence settles: a look-up, a reading of the subject, or a person. A repeat uses the same key, and only where the
system honours keys and the key is alive.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event
from caseflow.domain.outcomes import Confirmed, FaultKind, LookupOutcome, NotApplied, Unknown
from caseflow.domain.process import differences
from caseflow.domain.retry import GiveUp, RetryPolicy
from caseflow.statements import Question
from cases.claiming import Lease
from cases.observing import Readings
from cases.settling import Fault, Settlement, settlement
from cases.stages import policy_of
from integrations.contract import Adapter
from integrations.registry import get_adapter

from .beginning import Purpose
from .executing import read_back, rng, send, settle_outcome, to_person
from .giving_up import READ_AGAIN
from .models import ActionStatus
from .planned import Planned, ask_for_planned
from .storing import Asked, add_lookup, end_lost_calls, store_evidence, store_outcome

#: Longer than any adapter's `settles_after`, which `manage.py check` compares.
POLICY = RetryPolicy(base=timedelta(seconds=2), cap=timedelta(seconds=30), limit=60, deadline=timedelta(minutes=20))


def load_reconcile(lease: Lease) -> Question:
    return ask_for_planned(lease, effects_only=True)


def reconcile(lease: Lease) -> Lease | None:
    """Settle the doubt about one effect, repeat it under its own key, or leave it to a person."""
    planned: Planned = lease.loaded
    if planned.status is ActionStatus.PLANNED and planned.row_id is not None:
        return send(lease, planned, Purpose.REPEAT)
    if not planned.in_doubt:
        with settlement(lease) as settling:
            pass
        return settling.next_lease
    adapter = get_adapter(planned.spec.system)
    asked = Asked.now()
    answer: LookupOutcome | None = None
    if planned.accepted:
        answer = Confirmed()
    elif adapter.can_lookup:
        failpoint("reconcile.before_lookup", *lease.about)
        answer = adapter.lookup(key=planned.spec.key, call_id=asked.call_id)
        failpoint("reconcile.looked_up", *lease.about)
    if isinstance(answer, NotApplied) and _may_repeat(adapter, planned):
        store_evidence(lease, planned.row_id or 0, asked, answer)
        return send(lease, planned, Purpose.REPEAT)
    back = read_back(lease, planned)
    failpoint("reconcile.before_store", *lease.about)
    with settlement(lease) as settling:
        if planned.status is ActionStatus.REQUESTED and not planned.accepted:
            _note_lost(settling, planned)
        if answer is not None and not planned.accepted:
            add_lookup(lease, planned.row_id or 0, asked, answer)
        _settle(settling, planned, adapter, answer, back, settling.now - asked.ago)
    return settling.next_lease


def _note_lost(settling: Settlement, planned: Planned) -> None:
    """The worker that repeated the call from here was lost with it: from now on it counts as unanswered."""
    end_lost_calls(planned.row_id or 0)
    store_outcome(planned.row_id or 0, "", Unknown("worker_lost"), status=ActionStatus.UNKNOWN)
    settling.record("action.unknown", facts={"action": planned.spec.id, "code": "worker_lost"})


def _settle(
    settling: Settlement,
    planned: Planned,
    adapter: Adapter,
    answer: LookupOutcome | None,
    back: Readings | None,
    asked_at: datetime,
) -> None:
    shown = back is not None and not differences(planned.spec.confirms, back.facts)
    match answer:
        case Confirmed():
            if shown:
                by = "read" if planned.accepted else "lookup"
                settle_outcome(settling, planned, "", answer, None, back, confirmed_by=by)
            else:
                _ask_again(settling, planned, "not_confirmed")
        case NotApplied() if back is None and adapter.honours_keys:
            # The key may be past its life, and the subject could not be read: nothing proves anything yet.
            _ask_again(settling, planned, "unknown_too_long")
        case NotApplied() if shown and adapter.honours_keys:
            # The key is past its life, and what a system has forgotten it cannot deny: the subject is the evidence.
            settle_outcome(settling, planned, "", Confirmed(), None, back, confirmed_by="read")
        case NotApplied():
            if _settled_by(asked_at, adapter, planned):
                to_person(settling, planned, Event.EFFECT_NOT_APPLIED, "not_applied")
            else:
                _ask_again(settling, planned, "not_applied")
        case Unknown():
            _ask_again(settling, planned, "unknown_too_long", answer.retry_after)
        case None if shown:
            # No look-up here: the subject itself is the evidence.
            settle_outcome(settling, planned, "", Confirmed(), None, back, confirmed_by="read")
        case None:
            _ask_again(settling, planned, "unknown_too_long")


def _ask_again(settling: Settlement, planned: Planned, reason: str, retry_after: timedelta | None = None) -> None:
    lease = settling.lease
    verdict = policy_of(lease.definition, settling.row).next(
        attempt=lease.spent,
        kind=FaultKind.TRANSIENT,
        now=settling.now,
        deadline_at=lease.deadline_at,
        rng=rng,
        retry_after=retry_after,
    )
    if isinstance(verdict, GiveUp):
        to_person(settling, planned, Event.EFFECT_UNKNOWN, reason)
    else:
        delay = READ_AGAIN if planned.accepted else verdict.delay
        settling.again(delay, fault=Fault(FaultKind.TRANSIENT, reason))


def _may_repeat(adapter: Adapter, planned: Planned) -> bool:
    return adapter.honours_keys and planned.key_age is not None and planned.key_age < adapter.key_life


def _settled_by(asked_at: datetime, adapter: Adapter, planned: Planned) -> bool:
    """An unanswered request may still land for a while; "not applied" counts when it was asked after that."""
    return planned.unanswered_at is not None and asked_at - planned.unanswered_at > adapter.settles_after
