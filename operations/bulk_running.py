"""Going through the list of a bulk: each case in a short transaction of its own, by the service that serves one case.

The order for a case and the result of its item are stored together, so a worker that dies anywhere leaves every case
either untouched or done, and whoever takes over goes on with the first one that is planned.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db import InterfaceError, OperationalError, connection, transaction

from accounts import access, gate
from accounts.models import Person
from accounts.principal import SYSTEM
from approvals.deciding import decide
from approvals.models import Decision
from caseflow.domain import errors
from caseflow.domain.bulk import RECOVERIES, RIGHTS, BulkKind, Skip, pace_of
from caseflow.domain.failpoints import failpoint
from cases.claiming import Lease
from cases.holding import hand_over
from cases.models import Hold
from cases.models.task import SLOW
from cases.rows import database_now
from cases.settling import settlement
from cases.stages import Stage, register

from .bulk import STAGE, end_where_through, hold_bulk
from .bulk_models import Bulk, BulkItem
from .ordering import order_recovery
from .recovery_models import Recovery
from .recovery_refusals import record_refusal

log = logging.getLogger("caseflow.bulk")

#: The case is not any more as it was seen: somebody or something else went on with it.
MOVED_ON = (
    errors.VersionMoved, errors.StaleCase, errors.StaleSnapshot, errors.ForbiddenTransition, errors.RecoveryNotPossible,
    errors.RecoveryWaits, errors.AlreadyDecided, errors.NotDecidable, errors.ProposalExpired, errors.CaseIsClosed,
)  # fmt: skip

#: Shared: pausing, resuming and cancelling wait for the case that has its turn, cases do not wait for each other.
_STATUS = "SELECT status FROM operations_bulk WHERE id = %s FOR SHARE"
_SINCE_LAST = """
SELECT clock_timestamp() - max(ended_at) FROM operations_bulkitem WHERE bulk_id = %s AND status IN ('done', 'failed')
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one case."""

    status: BulkItem.Status
    reason: str = ""
    recovery: Recovery | None = None
    decision: Decision | None = None
    hold: Hold | None = None


def run_bulk(lease: Lease) -> Lease | None:
    """A few cases at the pace of the bulk, then on from there as the same task."""
    bulk = Bulk.objects.select_related("ordered_by", "given_to").get(public_id=lease.subject)
    wait = _go_on(bulk)
    with settlement(lease) as settling:
        # Looked at under its lock: whoever resumes finds this task alive, or publishes the next one.
        row = hold_bulk(bulk.public_id)
        if row.status == Bulk.Status.RUNNING and not end_where_through(row, SYSTEM):
            settling.again(wait, give_back=True)
    return settling.next_lease


def _go_on(bulk: Bulk) -> timedelta:
    """How long to wait before the next cases."""
    if bulk.rate is None:
        return timedelta(0)
    pace = pace_of(bulk.rate)
    early = _too_early(bulk, pace.every)
    if early > timedelta(0):
        return early
    for _ in range(pace.cases):
        if not carry_next(bulk):
            break
    return pace.every


def carry_next(bulk: Bulk) -> bool:
    """Give the next planned case its turn; False where none is left or the bulk does not run."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_STATUS, [bulk.pk])
            if cursor.fetchone() != (Bulk.Status.RUNNING,):
                return False
        planned = BulkItem.objects.filter(bulk=bulk, status=BulkItem.Status.PLANNED)
        rows = planned.select_related("case", "action", "proposal").order_by("position")
        # A late worker may still have its hands on one.
        item = rows.select_for_update(of=("self",), skip_locked=True).first()
        if item is None:
            return False
        result = _ordered(item, bulk)
        item.status, item.reason, item.ended_at = result.status, result.reason, database_now()
        item.recovery, item.decision, item.hold = result.recovery, result.decision, result.hold
        item.save(update_fields=["status", "reason", "ended_at", "recovery", "decision", "hold"])
        failpoint("bulk.before_commit", bulk.public_id, f"item-{item.position}")
    failpoint("bulk.item_committed", bulk.public_id, f"item-{item.position}")
    return True


def _ordered(item: BulkItem, bulk: Bulk) -> Result:
    """What became of the order: the service takes back what it began and keeps the record of its refusal."""
    person, kind = bulk.ordered_by, BulkKind(bulk.kind)
    try:
        _require_rights(item, person, kind)
        return _KINDS[kind](item, bulk)
    except MOVED_ON:
        return Result(BulkItem.Status.SKIPPED, Skip.MOVED_ON)
    except errors.CaseflowError as error:
        return Result(BulkItem.Status.FAILED, error.code)
    except (OperationalError, InterfaceError):
        raise  # nothing is known of this case; the task is tried again and comes to it first
    except Exception:
        log.exception("case %s of bulk %s failed", item.position, bulk.public_id)
        return Result(BulkItem.Status.FAILED, "internal_error")


def _require_rights(item: BulkItem, person: Person, kind: BulkKind) -> None:
    """As they are now: who lost a right, or left, orders nothing any more, whatever they confirmed."""
    gate.hold_shared()
    try:
        for right in RIGHTS[kind]:
            access.require(person, item.case.organisation_id, right)
    except errors.NotPermitted as error:
        record_refusal(item.case_id, person, kind, error)
        raise


def _order_recovery(item: BulkItem, bulk: Bulk) -> Result:
    ordered = order_recovery(
        case_id=item.case_id,
        kind=RECOVERIES[BulkKind(bulk.kind)],
        person=bulk.ordered_by,
        seen_version=item.case_version,
        reason=bulk.reason,
        action=item.action.public_id if item.action else "",
        action_status=item.action_status,
        bulk=bulk.public_id,
    )
    return Result(BulkItem.Status.DONE, recovery=ordered.recovery)


def _ask_data(item: BulkItem, bulk: Bulk) -> Result:
    if item.proposal is None:
        raise ValueError("data is asked for on a proposal")
    decided = decide(
        proposal=item.proposal,
        person=bulk.ordered_by,
        kind=Decision.Kind.ASK_DATA,
        seen_digest=item.proposal.digest,
        seen_version=item.case_version,
        reason=bulk.reason,
    )
    if not decided.created:
        return Result(BulkItem.Status.SKIPPED, Skip.MOVED_ON)
    return Result(BulkItem.Status.DONE, decision=decided.decision)


def _hand_over(item: BulkItem, bulk: Bulk) -> Result:
    if bulk.given_to is None:
        raise ValueError("cases are handed over to somebody")
    return Result(BulkItem.Status.DONE, hold=hand_over(case_id=item.case_id, to=bulk.given_to, person=bulk.ordered_by))


_KINDS: Mapping[BulkKind, Callable[[BulkItem, Bulk], Result]] = {
    BulkKind.OBSERVE_AGAIN: _order_recovery,
    BulkKind.RECONCILE: _order_recovery,
    BulkKind.ASK_DATA: _ask_data,
    BulkKind.HAND_OVER: _hand_over,
}


def _too_early(bulk: Bulk, every: timedelta) -> timedelta:
    """A worker that takes over is not faster than the one before it."""
    with connection.cursor() as cursor:
        cursor.execute(_SINCE_LAST, [bulk.pk])
        (since,) = cursor.fetchone()
    return every - since if since is not None else timedelta(0)


register(Stage(STAGE, run_bulk, carries=False, queue=SLOW))
