"""Find out what an action in doubt really did (requirement D3): look-up by key, then read the subject.

Only evidence settles: a look-up, a reading of the subject, or a person. A repeat uses the same key, and only where the
system honours keys and the key is alive.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event
from caseflow.domain.outcomes import Confirmed, FaultKind, LookupOutcome, NotApplied, Unknown
from caseflow.domain.process import differences
from caseflow.domain.retry import GiveUp, RetryPolicy
from cases.claiming import Lease
from cases.observing import Readings
from cases.settling import Fault, Settlement, settlement
from cases.stages import policy_of
from integrations.contract import Adapter
from integrations.registry import get_adapter

from .beginning import Purpose
from .executing import READ_AGAIN, read_back, rng, send, settle_outcome, to_person
from .models import ActionStatus
from .planned import Planned, find_planned
from .storing import add_lookup, end_lost_calls

#: Longer than any adapter's `settles_after`, which `manage.py check` compares.
POLICY = RetryPolicy(base=timedelta(seconds=2), cap=timedelta(seconds=30), limit=60, deadline=timedelta(minutes=20))


def load_reconcile(lease: Lease) -> Planned:
    return find_planned(lease, effects_only=True)


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
    call_id, begun_at = str(uuid4()), datetime.now(UTC)
    answer: LookupOutcome | None = None
    if planned.accepted:
        answer = Confirmed()
    elif adapter.can_lookup:
        failpoint("reconcile.before_lookup")
        answer = adapter.lookup(key=planned.spec.key, call_id=call_id)
        failpoint("reconcile.looked_up")
    if isinstance(answer, NotApplied) and _may_repeat(adapter, planned):
        _store_lookup(lease, planned, call_id, begun_at, answer)
        return send(lease, planned, Purpose.REPEAT)
    back = read_back(lease, planned)
    failpoint("reconcile.before_store")
    with settlement(lease) as settling:
        if answer is not None and not planned.accepted:
            add_lookup(planned.row_id or 0, lease.task_id, lease.worker, call_id, begun_at, answer)
        _settle(settling, planned, adapter, answer, back)
    return settling.next_lease


def _settle(
    settling: Settlement, planned: Planned, adapter: Adapter, answer: LookupOutcome | None, back: Readings | None
) -> None:
    shown = back is not None and not differences(planned.spec.confirms, back.facts)
    match answer:
        case Confirmed():
            if shown:
                by = "read" if planned.accepted else "lookup"
                settle_outcome(settling, planned, "", answer, None, back, confirmed_by=by)
            else:
                _ask_again(settling, planned, "not_confirmed")
        case NotApplied():
            if _settled_by_now(adapter, planned, settling):
                to_person(settling, planned, Event.EFFECT_NOT_APPLIED, "not_applied")
            else:
                _ask_again(settling, planned, "not_applied")
        case Unknown():
            _ask_again(settling, planned, "unknown_too_long")
        case None if shown:
            # No look-up here: the subject itself is the evidence.
            settle_outcome(settling, planned, "", Confirmed(), None, back, confirmed_by="read")
        case None:
            _ask_again(settling, planned, "unknown_too_long")


def _ask_again(settling: Settlement, planned: Planned, reason: str) -> None:
    lease = settling.lease
    verdict = policy_of(lease.definition, settling.row).next(
        attempt=lease.spent, kind=FaultKind.TRANSIENT, now=settling.now, deadline_at=lease.deadline_at, rng=rng
    )
    if isinstance(verdict, GiveUp):
        to_person(settling, planned, Event.EFFECT_UNKNOWN, reason)
    else:
        delay = READ_AGAIN if planned.accepted else verdict.delay
        settling.again(delay, fault=Fault(FaultKind.TRANSIENT, reason))


def _store_lookup(lease: Lease, planned: Planned, call_id: str, begun_at: datetime, answer: LookupOutcome) -> None:
    """The evidence is stored before the repeat that rests on it."""
    end_lost_calls(planned.row_id or 0)
    add_lookup(planned.row_id or 0, lease.task_id, lease.worker, call_id, begun_at, answer)


def _may_repeat(adapter: Adapter, planned: Planned) -> bool:
    if not adapter.honours_keys or planned.first_sent_at is None:
        return False
    return datetime.now(UTC) - planned.first_sent_at < adapter.key_life


def _settled_by_now(adapter: Adapter, planned: Planned, settling: Settlement) -> bool:
    """An unanswered request may still land for a while; only then does "not applied" count."""
    return planned.first_sent_at is not None and settling.now - planned.first_sent_at > adapter.settles_after
