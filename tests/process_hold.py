"""`hold_then_activate`: two effects one after the other, and a plan that undoes the first where the second failed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from caseflow.domain.process import (
    Effect,
    EffectSpec,
    Ending,
    EndingKind,
    Facts,
    FactSource,
    IntakeBody,
    Plan,
    Process,
    Proposed,
    standing,
    value_at,
)
from caseflow.domain.retry import RetryPolicy
from caseflow.processes.restore_access import RestoreAccess, RestoreAccessIntake


class HoldThenActivate(Process):
    """Hold the payment, then open the access. A held payment beside a closed access is released again."""

    slug = "hold_then_activate"
    version = 1
    title = "Hold a payment, then restore access"
    Intake = RestoreAccessIntake
    personal_intake = frozenset({"claim"})
    facts = (
        FactSource("payment", "payments", "payment_id"),
        FactSource("hold", "payments", "payment_id"),
        FactSource("subscription", "subscriptions", "subscription_id"),
    )
    critical = ("payment.status", "hold.status", "subscription.status")
    endings = {
        "hold_then_activate": Ending(
            EndingKind.ACT,
            "The payment is confirmed, the subscription is inactive.",
            request="The payment is held, then subscription {subject} is activated.",
        ),
        "release_hold": Ending(
            EndingKind.ACT,
            "The payment is held and the subscription was not activated.",
            request="The hold on the payment of subscription {subject} is released.",
        ),
        "nothing_to_do": Ending(EndingKind.CLOSE, "The subscription is active already."),
        "unclear_facts": Ending(EndingKind.PERSON, "The facts fit no rule. They need another check by a person."),
    }

    def subject(self, intake: IntakeBody) -> str:
        return str(intake.get("subscription_id", ""))

    def decide(self, *, facts: Facts, intake: IntakeBody) -> Proposed:
        if value_at(facts, "payment.status") != "confirmed":
            return Proposed("unclear_facts", "unclear_facts", ())
        if value_at(facts, "subscription.status") == "active":
            return Proposed("nothing_to_do", "nothing_to_do", ("subscription.status",))
        held = value_at(facts, "hold.status") == "held"
        decision = "release_hold" if held else "hold_then_activate"
        return Proposed(decision, decision, ("hold.status", "subscription.status"))

    def plan(self, *, decision: str, facts: Facts, intake: IntakeBody, effects: Sequence[Effect]) -> Plan:
        earlier = {effect.operation: effect.action_id for effect in effects if effect.status == "CONFIRMED"}
        if decision == "hold_then_activate":
            return Plan([_hold(intake, again_after=earlier.get("hold", "")), _activate(intake)])
        if decision == "release_hold":
            again = earlier.get("release", "")
            return Plan([_release(intake, held, again) for held in standing(effects) if held.operation == "hold"])
        return Plan()


class ImpatientLegacy(RestoreAccess):
    """`restore_access` whose doubts go to a person after two looks."""

    slug = "impatient_legacy"
    retry = {"reconcile": RetryPolicy(base=timedelta(seconds=1), limit=2, deadline=timedelta(minutes=5))}


class Fragile(RestoreAccess):
    """`restore_access` that bears one lost worker and two faults when it reads facts."""

    slug = "fragile"
    retry = {"observe": RetryPolicy(limit=2, infrastructure_limit=1)}


def _hold(intake: IntakeBody, *, again_after: str) -> EffectSpec:
    return EffectSpec(
        system="payments",
        operation="hold",
        subject=intake["payment_id"],
        request={"customer_id": intake["customer_id"]},
        preconditions={"payment.status": "confirmed", "hold.status": "free", "subscription.status": "inactive"},
        confirms={"hold.status": "held"},
        again_after=again_after,
    )


def _activate(intake: IntakeBody) -> EffectSpec:
    return EffectSpec(
        system="subscriptions",
        operation="activate",
        subject=intake["subscription_id"],
        request={"payment_id": intake["payment_id"]},
        preconditions={"payment.status": "confirmed", "hold.status": "held", "subscription.status": "inactive"},
        confirms={"subscription.status": "active"},
    )


def _release(intake: IntakeBody, held: Effect, again_after: str) -> EffectSpec:
    return EffectSpec(
        system="payments",
        operation="release",
        subject=held.subject,
        request={"customer_id": intake["customer_id"]},
        preconditions={"hold.status": "held", "subscription.status": "inactive"},
        confirms={"hold.status": "free"},
        undoes=held.action_id,
        again_after=again_after,
    )
