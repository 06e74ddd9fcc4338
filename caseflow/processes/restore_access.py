"""Money was taken, access did not open (requirements, case T-4821; endings of design §6)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

from pydantic import Field, StringConstraints

from caseflow.domain.process import (
    Effect,
    EffectSpec,
    Ending,
    EndingKind,
    Facts,
    FactSource,
    IntakeBody,
    IntakeSchema,
    NoticeSpec,
    Plan,
    Process,
    Proposed,
    value_at,
)
from caseflow.domain.words import gettext_noop as _

OutsideId = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")]


class RestoreAccessIntake(IntakeSchema):
    customer_id: OutsideId
    subscription_id: OutsideId
    payment_id: OutsideId
    claim: str = Field(min_length=1, max_length=4000)


class RestoreAccess(Process):
    """A confirmed payment beside an inactive subscription is proposed for activation; no refund is ever created."""

    slug = "restore_access"
    version = 1
    title = _("Restore access after a payment")
    Intake = RestoreAccessIntake
    personal_intake = frozenset({"claim"})
    facts = (
        FactSource("payment", "payments", "payment_id"),
        FactSource("customer", "payments", "customer_id"),
        FactSource("subscription", "subscriptions", "subscription_id"),
    )
    personal_facts = frozenset({"customer.email"})
    critical = (
        "payment.status",
        "payment.amount",
        "payment.currency",
        "payment.customer_id",
        "customer.status",
        "subscription.status",
        "subscription.price",
        "subscription.currency",
        "subscription.customer_id",
    )
    prompts = "restore_access"
    told_facts = (*critical, "customer.language", "customer.email")
    told_intake = ("customer_id", "subscription_id", "payment_id", "claim")
    endings = {
        "restore_access": Ending(
            EndingKind.ACT,
            _("The payment is confirmed, the subscription is inactive."),
            request=_("One activation request for subscription {subject} will be sent. No refund is created."),
        ),
        "payment_not_found": Ending(
            EndingKind.ASK_DATA, _("There is no payment with this number. Ask for the right one.")
        ),
        "customer_unknown": Ending(
            EndingKind.ASK_DATA, _("There is no customer with this number. Ask for the right one.")
        ),
        "subscription_not_found": Ending(
            EndingKind.ASK_DATA, _("There is no subscription with this number. Ask for the right one.")
        ),
        "payment_pending": Ending(
            EndingKind.WAIT,
            _("The bank has not confirmed the payment yet. It is read again every 15 minutes for 24 hours."),
            wait_for=timedelta(hours=24),
            every=timedelta(minutes=15),
        ),
        "payment_refunded": Ending(
            EndingKind.CLOSE, _("The payment was returned to the customer, so access stays closed.")
        ),
        "payment_failed": Ending(EndingKind.CLOSE, _("The payment failed and no money was taken.")),
        "already_active": Ending(EndingKind.CLOSE, _("The subscription is active already.")),
        "amount_differs": Ending(EndingKind.PERSON, _("The amount paid differs from the price. Decide by hand.")),
        "another_account": Ending(
            EndingKind.PERSON, _("The payment or the subscription belongs to another account. Find out whose.")
        ),
        "unclear_facts": Ending(EndingKind.PERSON, _("The facts fit no rule. They need another check by a person.")),
    }

    def subject(self, intake: IntakeBody) -> str:
        return str(intake.get("subscription_id", ""))

    def decide(self, *, facts: Facts, intake: IntakeBody) -> Proposed:
        payment, subscription = facts.get("payment", {}), facts.get("subscription", {})
        status = payment.get("status")
        owners = {payment.get("customer_id"), subscription.get("customer_id")}
        if status == "not_found":
            return _because("payment_not_found", "payment.status")
        if value_at(facts, "customer.status") == "unknown":
            return _because("customer_unknown", "customer.status")
        if subscription.get("status") == "not_found":
            return _because("subscription_not_found", "subscription.status")
        if owners != {intake["customer_id"]}:
            # An owner that is not known is no evidence: nobody could find it.
            named = ("payment.customer_id", "subscription.customer_id")
            return _because("another_account", *(path for path in named if value_at(facts, path) is not None))
        if status == "refunded":
            return _because("payment_refunded", "payment.status")
        if status == "failed":
            return _because("payment_failed", "payment.status")
        if subscription.get("status") == "active":
            return _because("already_active", "subscription.status")
        if status == "pending":
            return _because("payment_pending", "payment.status")
        if (payment.get("amount"), payment.get("currency")) != (
            subscription.get("price"),
            subscription.get("currency"),
        ):
            return _because("amount_differs", "payment.amount", "subscription.price")
        known = value_at(facts, "customer.status") == "known"
        if known and status == "confirmed" and subscription.get("status") == "inactive":
            return _because("restore_access", "payment.status", "subscription.status")
        return _because("unclear_facts")

    def plan(self, *, decision: str, facts: Facts, intake: IntakeBody, effects: Sequence[Effect]) -> Plan:
        if decision == "restore_access":
            return Plan(effects=[_activation(self.critical, facts, intake)], notices=_tell("restored", facts, intake))
        kind = self.endings[decision].kind
        if kind is EndingKind.CLOSE or kind is EndingKind.ASK_DATA:
            return Plan(notices=_tell(decision, facts, intake))
        return Plan()


def _because(decision: str, *evidence: str) -> Proposed:
    return Proposed(decision=decision, reason=decision, evidence=evidence)


def _activation(critical: Sequence[str], facts: Facts, intake: IntakeBody) -> EffectSpec:
    return EffectSpec(
        system="subscriptions",
        operation="activate",
        subject=intake["subscription_id"],
        request={"payment_id": intake["payment_id"], "customer_id": intake["customer_id"]},
        preconditions={path: value_at(facts, path) for path in critical},
        confirms={"subscription.status": "active"},
    )


def _tell(template: str, facts: Facts, intake: IntakeBody) -> list[NoticeSpec]:
    """One message to the customer; none where the customer is unknown and nobody could be written to."""
    if value_at(facts, "customer.status") != "known":
        return []
    return [
        NoticeSpec(
            system="mail",
            to="customer.email",
            template=f"restore_access/{template}",
            language="en" if value_at(facts, "customer.language") == "en" else "ru",
            params={"subscription_id": intake["subscription_id"], "payment_id": intake["payment_id"]},
        )
    ]
