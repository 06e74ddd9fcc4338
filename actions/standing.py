"""What the rows say about a case that stopped: its plan, its effect in doubt, and the evidence about that (§8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection

from approvals.models import Proposal
from approvals.snapshots import ActionSpec, effects_of, notices_of, opened
from caseflow.domain.process import EndingKind
from caseflow.domain.recovery import Doubt, Standing
from cases.rows import CaseRow
from integrations.registry import get_adapter

from .models import Action, ActionStatus

#: The newest look-up counts as evidence only when it was asked after the last request was over for us.
_DOUBT = """
SELECT a.id, a.public_id, a.status, a.system, asked.call_id,
       asked.outcome = 'not_applied', asked.begun_at - sent.over_at, asked.begun_at - a.first_sent_at,
       clock_timestamp() - a.first_sent_at, clock_timestamp() - sent.over_at
FROM actions_action a
LEFT JOIN LATERAL (
  SELECT max(e.id) AS id,
         max(coalesce(e.ended_at, clock_timestamp())) FILTER (WHERE e.outcome IN ('', 'unknown')) AS over_at
  FROM actions_externalcall e WHERE e.action_id = a.id AND e.kind = 'perform') sent ON true
LEFT JOIN LATERAL (
  SELECT e.call_id, e.outcome, e.begun_at FROM actions_externalcall e
  WHERE e.action_id = a.id AND e.kind = 'lookup' AND e.id > sent.id ORDER BY e.id DESC LIMIT 1) asked ON true
WHERE a.case_id = %s AND a.kind = 'effect' AND a.status IN ('REQUESTED', 'UNKNOWN')
ORDER BY a.id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Doubtful:
    """The effect in doubt, with its row and the look-up that denies it ('' where none does)."""

    row_id: int
    call_id: str
    doubt: Doubt


@dataclass(frozen=True, slots=True)
class PlanNow:
    """The plan that recoveries speak of, and its notices as they were sent last."""

    root: Proposal
    newest: Proposal  #: `root`, or the newest plan that sends its notices again
    effects: Sequence[ActionSpec]
    notices: Sequence[ActionSpec]
    status: dict[str, str]  #: of every action of the case that has a row

    @property
    def stands(self) -> bool:
        """Every effect is CONFIRMED; of a plan of notices only that is true of itself."""
        return all(self.status.get(effect.id) == ActionStatus.CONFIRMED for effect in self.effects)

    @property
    def left(self) -> list[ActionSpec]:
        """The notices that nobody confirmed."""
        return [notice for notice in self.notices if self.status.get(notice.id) != ActionStatus.CONFIRMED]

    @property
    def never_sent(self) -> bool:
        """None of the notices that are left was ever handed over."""
        return all(self.status.get(notice.id, ActionStatus.PLANNED) == ActionStatus.PLANNED for notice in self.left)


@dataclass(frozen=True, slots=True)
class Seen:
    """A case's standing with the rows it was read from."""

    standing: Standing
    doubtful: Doubtful | None
    plan: PlanNow | None


def look_at(case: CaseRow) -> Seen:
    """Four queries; under the case's lock they say what is true until the end of the transaction."""
    doubtful = _doubtful(case)
    plan = find_plan(case)
    standing = Standing(
        state=case.state,
        plan_begun=case.plan_begun,
        effects_open=case.effects_open,
        effects_done=case.effects_done,
        doubt=doubtful.doubt if doubtful else None,
        plan_stands=plan is not None and plan.stands,
        notice_left=plan is not None and bool(plan.left),
        returns=case.returns,
    )
    return Seen(standing, doubtful, plan)


def find_plan(case: CaseRow) -> PlanNow | None:
    """The newest plan with effects or closing notices; a plan that only asks for data is none."""
    proposals = list(Proposal.objects.filter(case_id=case.id).order_by("-number"))
    resends: dict[str, Proposal] = {}
    for proposal in proposals:
        snapshot = opened(proposal.snapshot)
        if root := snapshot.get("resends"):
            resends.setdefault(root, proposal)
        elif proposal.has_effects or _closes(case, proposal.decision):
            newest = resends.get(proposal.public_id, proposal)
            rows = Action.objects.filter(case_id=case.id).values_list("public_id", "status")
            return PlanNow(
                root=proposal,
                newest=newest,
                effects=effects_of(snapshot),
                notices=notices_of(opened(newest.snapshot)),
                status=dict(rows),
            )
    return None


def _closes(case: CaseRow, decision: str) -> bool:
    ending = case.definition.endings.get(decision)
    return ending is not None and ending.kind is EndingKind.CLOSE


def _doubtful(case: CaseRow) -> Doubtful | None:
    with connection.cursor() as cursor:
        cursor.execute(_DOUBT, [case.id])
        row: tuple[Any, ...] | None = cursor.fetchone()
    if row is None:
        return None
    row_id, public_id, status, system, call_id, denied, asked_after, key_then, key_age, over = row
    adapter = get_adapter(system)
    settled = denied and (asked_after is None or asked_after > adapter.settles_after)
    # What a system has forgotten it cannot deny: past the key's life a look-up alone proves nothing. Where the case
    # stopped as "not applied", `reconcile` had read the subject, too.
    remembered = not adapter.honours_keys or (key_then or timedelta(0)) < adapter.key_life
    remembered = remembered or case.reason == "not_applied"
    doubt = Doubt(
        action=public_id,
        status=status,
        denied=bool(denied),
        denied_for_good=bool(settled and remembered),
        key_lives=adapter.honours_keys and key_age is not None and key_age < adapter.key_life,
        cannot_land=over is None or over > adapter.settles_after,
    )
    return Doubtful(row_id, call_id if denied else "", doubt)
