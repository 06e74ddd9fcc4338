"""Where fewer people may decide than are needed, the case says so instead of waiting for nobody (design §9)."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models.functions import Now

from accounts import access
from accounts.principal import SYSTEM
from caseflow.domain.lifecycle import Event, State
from caseflow.domain.roles import Right
from caseflow.statements import Kept, Row, Values, rows_of
from cases.advancing import advance_case
from cases.claiming import Lease
from cases.models import Task
from cases.processes import all_processes
from cases.rows import CaseRow, lock_case
from cases.settling import settlement

from .models import Proposal
from .snapshots import opened

STAGE = "find_deciders"
REASON = "no_decider"
CAUSERS = 3  #: of a plan, as many as are thought of before they are known

#: Cases whose plan waits for more people than may decide on it. A case whose plan is being stored at this moment is
#: looked at, too: it may have counted its deciders before the right was taken.
_LACKING = """
SELECT c.id FROM cases_case c LEFT JOIN LATERAL (
  SELECT p.causers, convert_from(p.snapshot, 'UTF8')::jsonb -> 'approval' AS approval
  FROM approvals_proposal p WHERE p.case_id = c.id AND p.has_effects ORDER BY p.number DESC LIMIT 1) plan ON true
WHERE c.organisation_id = %(organisation)s AND (
  c.state = 'WAITING_APPROVAL' AND plan.approval ->> 'right' = %(right)s AND (
    SELECT count(*) FROM unnest(%(permitted)s::bigint[]) AS person
    WHERE NOT ((plan.approval ->> 'four_eyes')::boolean AND person = ANY(plan.causers))
  ) < (plan.approval ->> 'quorum')::int
  OR c.state = 'CHECKING' AND EXISTS (
    SELECT FROM cases_task t
    WHERE t.case_id = c.id AND t.stage IN ('observe', 'propose', 'ask_model') AND t.status = 'leased'))
ORDER BY c.id
"""


def lacking(
    organisation_id: int, approval: Mapping[str, Any], causers: Collection[int], told: Sequence[Row] | None = None
) -> dict[str, int]:
    """{"quorum", "permitted"} where fewer people may decide than a plan needs, or nothing; at most one query.

    `approval` is that part of the plan's snapshot: right, quorum, four_eyes; `told` is the answer to `deciders_of`.
    """
    quorum, excluded = approval["quorum"], set(causers) if approval["four_eyes"] else set()
    if told is None or len(excluded) > CAUSERS:
        told = rows_of(*deciders_of(organisation_id, approval, len(excluded)))
    number = len({key for (key,) in told} - excluded)
    return {"quorum": quorum, "permitted": number} if number < quorum else {}


def deciders_of(organisation_id: int, approval: Mapping[str, Any], causers: int = CAUSERS) -> tuple[str, Values]:
    """What `lacking` asks for a plan that so many people caused: of that many at least a quorum are others, and more
    need not be looked at."""
    return _PERMITTED.of(organisation_id, Right(approval["right"]), approval["quorum"] + causers)


_PERMITTED = Kept(
    lambda organisation, right, most: access.persons_with_right(organisation, right).values_list("pk")[:most]
)


def look_again(organisation_id: int) -> None:
    """Publish the task that looks through what waits, in the transaction that took a right."""
    # A name of its own: a task that is under way may have looked already.
    subject = f"{organisation_id}.{uuid.uuid4().hex[:12]}"
    Task.objects.create(
        stage=STAGE, subject=subject, organisation_key=organisation_id, available_at=Now(), created_at=Now()
    )


def find_deciders(lease: Lease) -> Lease | None:
    """Stop every waiting case of the organisation that has too few deciders left, each in its own transaction."""
    organisation_id = int(lease.subject.partition(".")[0])
    for right in {process.approval.right for process in all_processes().values() if process.approval}:
        permitted = list(access.persons_with_right(organisation_id, right).values_list("pk", flat=True))
        with connection.cursor() as cursor:
            cursor.execute(_LACKING, {"organisation": organisation_id, "right": right.value, "permitted": permitted})
            found = [case_id for (case_id,) in cursor.fetchall()]
        for case_id in found:
            with transaction.atomic():
                _stop(lock_case(case_id))
    with settlement(lease) as settling:
        pass
    return settling.next_lease


def _stop(case: CaseRow) -> None:
    """Looks again behind the lock: meanwhile somebody may have decided, or got the right."""
    proposal = Proposal.objects.filter(case_id=case.id, has_effects=True).order_by("-number").first()
    if case.state is not State.WAITING_APPROVAL or proposal is None:
        return
    lacks = lacking(case.organisation_id, opened(proposal.snapshot)["approval"], proposal.causers)
    if lacks:
        facts = {"proposal": proposal.public_id, **lacks}
        advance_case(case, Event.PERSON_NEEDED, actor=SYSTEM, facts=facts, sets={"reason": REASON})
