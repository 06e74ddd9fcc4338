"""The action a task is about: its part of the snapshot, and its row, reserved before anything is read (design §5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from approvals.models import Proposal
from approvals.snapshots import ActionSpec, actions_of, opened
from caseflow.statements import row_of
from cases.claiming import Lease

from .models import ActionKind, ActionStatus

_FIND = """
SELECT p.id, p.public_id, p.snapshot, p.digest, p.has_effects, p.needs_approval,
       (SELECT r.body FROM cases_intakerevision r WHERE r.case_id = p.case_id
        AND r.number = (convert_from(p.snapshot, 'UTF8')::jsonb ->> 'intake_revision')::int),
       a.id, a.status, a.first_sent_at,
       (SELECT d.execute_by FROM approvals_decision d
        WHERE d.proposal_id = p.id AND d.decisive AND d.kind = 'approve'),
       EXISTS (SELECT 1 FROM actions_externalcall e
               WHERE e.action_id = a.id AND e.kind = 'perform' AND e.outcome = 'confirmed'),
       (SELECT max(coalesce(e.ended_at, clock_timestamp())) FROM actions_externalcall e
        WHERE e.action_id = a.id AND e.kind = 'perform' AND e.outcome IN ('', 'unknown')),
       clock_timestamp() - a.first_sent_at
FROM approvals_proposal p LEFT JOIN actions_action a ON a.proposal_id = p.id AND a.public_id = %(action)s
WHERE p.case_id = %(case)s AND (p.has_effects OR NOT %(effects_only)s)
ORDER BY p.number DESC LIMIT 1
"""

#: The conflict target is the lock on the subject: who comes second gets no row and waits.
_RESERVE = """
INSERT INTO actions_action (public_id, organisation_id, case_id, proposal_id, position, kind, system, operation,
       subject, key, status, code, external_id, confirmed_by, undoes_id, created_at)
VALUES (%(id)s, %(organisation)s, %(case)s, %(proposal)s, %(position)s, %(kind)s, %(system)s, %(operation)s,
        %(subject)s, %(key)s, 'PLANNED', '', '', '',
        (SELECT id FROM actions_action WHERE public_id = %(undoes)s), clock_timestamp())
ON CONFLICT (organisation_id, system, operation, subject)
  WHERE kind = 'effect' AND status IN ('PLANNED', 'REQUESTED', 'UNKNOWN') DO NOTHING
RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Planned:
    """A task's action. `row_id` is None where another case holds the subject."""

    spec: ActionSpec
    proposal_id: int
    proposal: str
    digest: str
    snapshot: Mapping[str, Any]
    has_effects: bool
    needs_approval: bool
    intake: Mapping[str, Any]
    row_id: int | None
    status: ActionStatus
    first_sent_at: datetime | None
    execute_by: datetime | None
    accepted: bool  #: a call was answered with success; only the read-back is still missing
    unanswered_at: datetime | None  #: when the newest call that got no answer was over for us; it may land late
    key_age: timedelta | None  #: by the database's clock; a worker's may be an hour off
    address: str = ""

    @property
    def busy(self) -> bool:
        return self.row_id is None

    @property
    def revision(self) -> int:
        """Of the intake that the plan was made from: what came later names other subjects."""
        revision: int = self.snapshot["intake_revision"]
        return revision

    @property
    def in_doubt(self) -> bool:
        return self.status in (ActionStatus.REQUESTED, ActionStatus.UNKNOWN)

    @property
    def is_undoing(self) -> bool:
        """Every effect of the plan compensates an earlier one."""
        effects = [action for action in actions_of(self.snapshot) if action.kind == ActionKind.EFFECT]
        return bool(effects) and all(effect.undoes for effect in effects)

    def about(self, call_id: str = "") -> dict[str, Any]:
        """What an event of an effect says first."""
        spec = self.spec
        about = {"action": spec.id, "operation": spec.operation, "system": spec.system, "subject": spec.subject}
        return about | ({"call": call_id} if call_id else {})

    def following(self) -> ActionSpec | None:
        """The next effect of the plan, if any."""
        effects = [action for action in actions_of(self.snapshot) if action.kind == ActionKind.EFFECT]
        later = [action for action in effects if action.position > self.spec.position]
        return later[0] if later else None

    def addresses(self) -> frozenset[str]:
        """Keyed digests of the addresses in the plan; their texts are stored already."""
        return frozenset(notice.request["to"]["digest"] for notice in self.notices())

    def notices(self) -> list[ActionSpec]:
        return [action for action in actions_of(self.snapshot) if action.kind == ActionKind.NOTICE]


def find_planned(lease: Lease, *, effects_only: bool) -> Planned:
    """The action named by the task, in the case's current plan. Raises KeyError when the plan has no such action."""
    if lease.case is None:
        raise ValueError("an action belongs to a case")
    parameters: dict[str, Any] = {"action": lease.subject, "case": lease.case.id, "effects_only": effects_only}
    row = row_of(_FIND, parameters)
    if row is None:
        raise KeyError(f"case {lease.case.public_id} has no plan")
    proposal_id, proposal, snapshot, digest, has_effects, needs, intake, row_id, status, *times = row
    sent, execute_by, accepted, unanswered_at, key_age = times
    plan = opened(snapshot)
    return Planned(
        spec={action.id: action for action in actions_of(plan)}[lease.subject],
        proposal_id=proposal_id,
        proposal=proposal,
        digest=digest,
        snapshot=plan,
        has_effects=has_effects,
        needs_approval=needs,
        intake=json.loads(intake),
        row_id=row_id,
        status=ActionStatus(status or ActionStatus.PLANNED),
        first_sent_at=sent,
        execute_by=execute_by,
        accepted=accepted,
        unanswered_at=unanswered_at,
        key_age=key_age,
    )


def root_of(planned: Planned) -> Mapping[str, Any]:
    """The snapshot of the plan that the action belongs to; of a notice sent again, that of the plan it was first in."""
    root = planned.snapshot.get("resends")
    return opened(Proposal.objects.get(public_id=root).snapshot) if root else planned.snapshot


def reserved(lease: Lease, planned: Planned) -> Planned:
    """The action with its row: found, or inserted PLANNED. `busy` where another case holds the subject."""
    if planned.row_id is not None or lease.case is None:
        return planned
    spec = planned.spec
    values = {
        "id": spec.id,
        "organisation": lease.case.organisation_id,
        "case": lease.case.id,
        "proposal": planned.proposal_id,
        "position": spec.position,
        "kind": spec.kind,
        "system": spec.system,
        "operation": spec.operation,
        "subject": spec.subject,
        "key": spec.key,
        "undoes": spec.undoes,
    }
    row = row_of(_RESERVE, values)
    return replace(planned, row_id=row[0] if row else None)
