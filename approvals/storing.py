"""Writing a proposal down: its snapshot as canonical bytes, once, under the number that they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from random import SystemRandom
from typing import Any

from caseflow.domain.identifiers import public_id
from caseflow.statements import insert
from cases.rows import CaseRow

from .models import Proposal
from .snapshots import effects_of, sealed

_rng = SystemRandom()


def store_proposal(
    case: CaseRow,
    *,
    snapshot: Mapping[str, Any],
    causers: Sequence[int],
    valid_until: datetime | None,
    versions: Mapping[str, str],
    at: datetime,
    repeats: Proposal | None = None,
) -> Proposal:
    """Insert one immutable proposal with the number its snapshot says."""
    canonical, digest = sealed(snapshot)
    proposal = Proposal(
        public_id=public_id("P", _rng),
        case_id=case.id,
        number=snapshot["number"],
        decision=snapshot["decision"],
        has_effects=bool(effects_of(snapshot)),
        needs_approval=snapshot["approval"] is not None,
        snapshot=canonical,
        digest=digest,
        valid_until=valid_until,
        causers=list(causers),
        observations=snapshot["observations"],
        repeats=repeats,
        at=at,
        **versions,
    )
    insert(proposal)
    return proposal


def next_number(case_id: int) -> int:
    """The number of the next proposal; the caller holds the case."""
    return Proposal.objects.filter(case_id=case_id).count() + 1
