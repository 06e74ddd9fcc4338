"""The action a task is about: its part of the snapshot, and its row, reserved before anything is read (design §5)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from approvals.models import Proposal
from approvals.snapshots import ActionSpec, actions_of, opened
from caseflow.statements import Question, Row
from cases.claiming import Lease
from cases.rows import CaseRow

from .models import ActionKind, ActionStatus

#: The newest plan of the case and the one action of it that the task is about.
_PLAN = """
WITH plan AS MATERIALIZED (
  SELECT p.*, convert_from(p.snapshot, 'UTF8')::jsonb AS said FROM approvals_proposal p
  WHERE p.case_id = %(case)s AND (p.has_effects OR NOT %(effects_only)s) ORDER BY p.number DESC LIMIT 1)"""

#: The conflict target is the lock on the subject: who comes second gets no row and waits.
_RESERVED = """,
reserved AS (
  INSERT INTO actions_action (public_id, organisation_id, case_id, proposal_id, position, kind, system, operation,
         subject, key, status, code, external_id, confirmed_by, undoes_id, created_at)
  SELECT s.id, %(organisation)s, plan.case_id, plan.id, s.position, s.kind, s.system, s.operation, s.subject, s.key,
         'PLANNED', '', '', '', (SELECT id FROM actions_action WHERE public_id = s.undoes), clock_timestamp()
  FROM plan, jsonb_to_recordset(plan.said -> 'actions')
       AS s(id text, "position" int, kind text, system text, operation text, subject text, key text, undoes text)
  WHERE s.id = %(action)s AND NOT EXISTS (SELECT 1 FROM actions_action WHERE public_id = %(action)s)
  ON CONFLICT (organisation_id, system, operation, subject)
    WHERE kind = 'effect' AND status IN ('PLANNED', 'REQUESTED', 'UNKNOWN') DO NOTHING
  RETURNING id)"""
_NOT_RESERVED = """,
reserved AS (SELECT NULL::bigint AS id WHERE false)"""

_FOUND = """
SELECT plan.id, plan.public_id, plan.snapshot, plan.digest, plan.has_effects, plan.needs_approval,
       (SELECT r.body FROM cases_intakerevision r
        WHERE r.case_id = plan.case_id AND r.number = (plan.said ->> 'intake_revision')::int),
       coalesce(a.id, reserved.id), a.status, a.first_sent_at,
       (SELECT d.execute_by FROM approvals_decision d
        WHERE d.proposal_id = plan.id AND d.decisive AND d.kind = 'approve'),
       EXISTS (SELECT 1 FROM actions_externalcall e
               WHERE e.action_id = a.id AND e.kind = 'perform' AND e.outcome = 'confirmed'),
       (SELECT max(coalesce(e.ended_at, clock_timestamp())) FROM actions_externalcall e
        WHERE e.action_id = a.id AND e.kind = 'perform' AND e.outcome IN ('', 'unknown')),
       clock_timestamp() - a.first_sent_at, {address}
FROM plan LEFT JOIN actions_action a ON a.proposal_id = plan.id AND a.public_id = %(action)s LEFT JOIN reserved ON true
"""
#: Where a notice goes: the newest text under the name that the plan gives, and the key of the case, wrapped.
_ADDRESS = """
(SELECT ARRAY[t.ciphertext, k.wrapped] FROM cases_personaltext t LEFT JOIN cases_casekey k ON k.case_id = t.case_id
 WHERE t.case_id = plan.case_id AND t.field = (
   SELECT one.action #>> '{request,to,personal}' FROM jsonb_array_elements(plan.said -> 'actions') AS one(action)
   WHERE one.action ->> 'id' = %(action)s)
 ORDER BY t.id DESC LIMIT 1)"""
_FIND = _PLAN + _NOT_RESERVED + _FOUND.format(address="NULL")
_RESERVE = _PLAN + _RESERVED + _FOUND.format(address="NULL")
_RESERVE_NOTICE = _PLAN + _RESERVED + _FOUND.format(address=_ADDRESS)


@dataclass(frozen=True, slots=True)
class Planned:
    """A task's action. `row_id` is None where another case holds the subject."""

    spec: ActionSpec
    proposal_id: int
    proposal: str
    digest: str
    snapshot: Mapping[str, Any]
    actions: Sequence[ActionSpec]  #: of the snapshot, all of them
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
    sealed_address: Sequence[bytes | None] | None = None  #: of a notice: its text, and the case's key
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
        effects = [action for action in self.actions if action.kind == ActionKind.EFFECT]
        return bool(effects) and all(effect.undoes for effect in effects)

    def about(self, call_id: str = "") -> dict[str, Any]:
        """What an event of an effect says first."""
        spec = self.spec
        about = {"action": spec.id, "operation": spec.operation, "system": spec.system, "subject": spec.subject}
        return about | ({"call": call_id} if call_id else {})

    def following(self) -> ActionSpec | None:
        """The next effect of the plan, if any."""
        effects = [action for action in self.actions if action.kind == ActionKind.EFFECT]
        later = [action for action in effects if action.position > self.spec.position]
        return later[0] if later else None

    def addresses(self) -> frozenset[str]:
        """Keyed digests of the addresses in the plan; their texts are stored already."""
        return frozenset(notice.request["to"]["digest"] for notice in self.notices())

    def notices(self) -> list[ActionSpec]:
        return [action for action in self.actions if action.kind == ActionKind.NOTICE]


def ask_for_notice(lease: Lease) -> Question:
    """A notice, reserved, with the address that the plan names."""
    return _asking(_RESERVE_NOTICE, lease, effects_only=False)


def ask_for_planned(lease: Lease, *, effects_only: bool, reserve: bool = False) -> Question:
    """The action named by the task, in the case's current plan; with `reserve` inserted PLANNED where it is not there
    yet. `busy` where another case holds the subject. The answer raises KeyError when the plan has no such action.
    """
    return _asking(_RESERVE if reserve else _FIND, lease, effects_only=effects_only)


def find_planned(lease: Lease, *, effects_only: bool, reserve: bool = False) -> Planned:
    """The same at once."""
    planned: Planned = ask_for_planned(lease, effects_only=effects_only, reserve=reserve).answered()
    return planned


def _asking(statement: str, lease: Lease, *, effects_only: bool) -> Question:
    if lease.case is None:
        raise ValueError("an action belongs to a case")
    case = lease.case
    values = {
        "action": lease.subject,
        "case": case.id,
        "organisation": case.organisation_id,
        "effects_only": effects_only,
    }
    return Question(statement, values, partial(_planned, case, lease.subject))


def _planned(case: CaseRow, name: str, rows: Sequence[Row]) -> Planned:
    if not rows:
        raise KeyError(f"case {case.public_id} has no plan")
    proposal_id, proposal, snapshot, digest, has_effects, needs, intake, row_id, status, *more = rows[0]
    sent, execute_by, accepted, unanswered_at, key_age, sealed_address = more
    plan = opened(snapshot)
    actions = actions_of(plan)
    return Planned(
        spec={action.id: action for action in actions}[name],
        proposal_id=proposal_id,
        proposal=proposal,
        digest=digest,
        snapshot=plan,
        actions=actions,
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
        sealed_address=sealed_address,
    )


def root_of(planned: Planned) -> Mapping[str, Any]:
    """The snapshot of the plan that the action belongs to; of a notice sent again, that of the plan it was first in."""
    root = planned.snapshot.get("resends")
    return opened(Proposal.objects.get(public_id=root).snapshot) if root else planned.snapshot
