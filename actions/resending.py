"""Sending a notice again: a plan of notices only, each with a new id and key, naming the one it repeats (design §4)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from approvals.models import Proposal
from approvals.snapshots import opened, resent
from approvals.storing import next_number, store_proposal
from cases.rows import CaseRow

from .standing import PlanNow
from .storing import cancel_held_back, reopen_held_back


def notices_to_send(case: CaseRow, plan: PlanNow, *, person: int, at: datetime) -> Sequence[str]:
    """Ids of the notices to start: those that were never handed over, or fresh ones that repeat the unconfirmed.

    The caller holds the case. A notice that may have arrived is never sent again under its old key.
    """
    ids = [notice.id for notice in plan.left]
    if plan.never_sent and not Proposal.objects.filter(case_id=case.id, number__gt=plan.newest.number).exists():
        reopen_held_back(ids)
        return ids
    cancel_held_back(ids)
    snapshot = resent(
        opened(plan.newest.snapshot),
        ids,
        number=next_number(case.id),
        root=plan.root.public_id,
    )
    root = plan.root
    store_proposal(
        case,
        snapshot=snapshot,
        causers=[person],
        valid_until=None,
        versions={
            "proposer": root.proposer,
            "rule_version": root.rule_version,
            "schema_version": root.schema_version,
            "prompt_version": root.prompt_version,
            "model": root.model,
        },
        at=at,
    )
    return [action["id"] for action in snapshot["actions"]]
