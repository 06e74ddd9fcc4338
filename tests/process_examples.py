"""Processes that only tests have, each one idea apart from `restore_access`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from approvals.answers import Answer
from caseflow.domain.process import (
    AmountQuorum,
    ApprovalPolicy,
    Effect,
    EffectSpec,
    Facts,
    FactSource,
    IntakeBody,
    Plan,
    Proposed,
    value_at,
)
from caseflow.processes.restore_access import OutsideId, RestoreAccess, RestoreAccessIntake


class TwoApprovers(RestoreAccess):
    """Two persons have to approve."""

    slug = "two_approvers"
    approval = ApprovalPolicy(quorum=2)


class ByAmount(RestoreAccess):
    """From ten thousand on, two persons have to approve."""

    slug = "by_amount"
    approval = ApprovalPolicy(by_amount=AmountQuorum("payment.amount", "payment.currency", {"RUB": {"10000": 2}}))


class NoApproval(RestoreAccess):
    """Nobody has to approve; the plan is a proposal all the same."""

    slug = "no_approval"
    approval = None


class PairIntake(RestoreAccessIntake):
    second_subscription_id: OutsideId


class TwoEffects(RestoreAccess):
    """Two subscriptions, one after the other."""

    slug = "two_effects"
    Intake = PairIntake
    facts = (*RestoreAccess.facts, FactSource("second", "subscriptions", "second_subscription_id"))
    critical = ("payment.status", "subscription.status", "second.status")

    def plan(self, *, decision: str, facts: Facts, intake: IntakeBody, effects: Sequence[Effect]) -> Plan:
        plan = super().plan(decision=decision, facts=facts, intake=intake, effects=effects)
        if not plan.effects:
            return plan
        first = replace(plan.effects[0], preconditions=_only(facts, "payment.status", "subscription.status"))
        second = EffectSpec(
            system="subscriptions",
            operation="activate",
            subject=intake["second_subscription_id"],
            request={"payment_id": intake["payment_id"]},
            preconditions=_only(facts, "payment.status", "second.status"),
            confirms={"second.status": "active"},
        )
        return replace(plan, effects=[first, second])


def _only(facts: Facts, *paths: str) -> dict[str, Any]:
    return {path: value_at(facts, path) for path in paths}


class Told(RestoreAccess):
    """Its proposals are what a test puts into `Teller.says`."""

    slug = "told"
    proposer = "teller"


@dataclass
class Teller:
    """A proposer that says what it was told to, as a model might."""

    says: ClassVar[Proposed] = Proposed("restore_access", "restore_access", ("payment.status",))
    name: str = "teller"
    model: str = "parrot-1"
    prompt_version: str = "3"

    def propose(self, *, process: Any, facts: Facts, intake: IntakeBody) -> Answer:
        return Answer(proposed=Teller.says)
