"""What code checks of a proposer's answer before it becomes a Proposal (requirement B2)."""

from __future__ import annotations

from collections.abc import Sequence

from caseflow.domain.errors import BrokenProposal
from caseflow.domain.process import Effect, EndingKind, Facts, IntakeBody, Plan, Process, Proposed, standing, value_at


def check_proposed(process: Process, proposed: Proposed, facts: Facts, intake: IntakeBody) -> None:
    """Allowed decision, evidence that exists, the business rule, approval not switched off. Raises BrokenProposal."""
    ending = process.endings.get(proposed.decision)
    if ending is None:
        raise BrokenProposal(problem=f"the decision {proposed.decision!r} is not one of this process")
    for path in proposed.evidence:
        if value_at(facts, path) is None:
            raise BrokenProposal(problem=f"the evidence {path!r} does not exist")
    if ending.kind is EndingKind.ACT and process.approval is not None and not proposed.requires_approval:
        raise BrokenProposal(problem="the approval cannot be switched off")
    ruled = process.decide(facts=facts, intake=intake)
    if proposed.decision != ruled.decision:
        raise BrokenProposal(problem=f"the facts allow {ruled.decision!r}, not {proposed.decision!r}")


def check_plan(plan: Plan, kind: EndingKind, effects: Sequence[Effect]) -> None:
    """Effects where the ending acts and only there; no confirmed effect again unless named. Raises BrokenProposal."""
    if bool(plan.effects) != (kind is EndingKind.ACT):
        raise BrokenProposal(problem="a plan has effects exactly where its decision acts")
    confirmed = {
        (effect.system, effect.operation, effect.subject): effect.action_id
        for effect in effects
        if effect.status == "CONFIRMED"
    }
    for spec in plan.effects:
        before = confirmed.get((spec.system, spec.operation, spec.subject))
        if before and spec.again_after != before:
            raise BrokenProposal(problem=f"this case already did {spec.operation} {spec.subject} as {before}")
    _check_compensations(plan, effects)


def _check_compensations(plan: Plan, effects: Sequence[Effect]) -> None:
    """What is undone is a confirmed effect of this case that still stands, and it is undone once."""
    stands = {effect.action_id for effect in standing(effects)}
    for spec in plan.effects:
        if not spec.undoes:
            continue
        if spec.undoes not in stands:
            raise BrokenProposal(problem=f"{spec.undoes} is no confirmed effect of this case that still stands")
        stands.remove(spec.undoes)
