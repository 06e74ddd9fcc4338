"""A customer's postal address is corrected in the address book, where the new line already waits."""

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


class AddressCorrectionIntake(IntakeSchema):
    customer_id: OutsideId
    correction_id: OutsideId
    claim: str = Field(min_length=1, max_length=4000)


class AddressCorrection(Process):
    """A correction that waits and can be delivered to is proposed for applying; the address itself is never sent."""

    slug = "address_correction"
    version = 1
    title = _("Correct a customer's address")
    Intake = AddressCorrectionIntake
    personal_intake = frozenset({"claim"})
    facts = (
        FactSource("customer", "payments", "customer_id"),
        FactSource("address", "addresses", "customer_id"),
        FactSource("correction", "addresses", "correction_id"),
    )
    personal_facts = frozenset({"customer.email", "address.line", "correction.line"})
    critical = (
        "customer.status",
        "address.status",
        "address.line",
        "correction.status",
        "correction.customer_id",
        "correction.check",
        "correction.line",
    )
    endings = {
        "correct_address": Ending(
            EndingKind.ACT,
            _("The new address passed the delivery check, and the correction is not applied yet."),
            request=_("The correction of customer {subject}'s address will be applied once. Nothing else changes."),
        ),
        "correction_not_found": Ending(
            EndingKind.ASK_DATA, _("There is no correction with this number. Ask for the right one.")
        ),
        "customer_unknown": Ending(
            EndingKind.ASK_DATA, _("There is no customer with this number. Ask for the right one.")
        ),
        "not_deliverable": Ending(
            EndingKind.ASK_DATA, _("The new address failed the delivery check. Ask for another correction.")
        ),
        "being_checked": Ending(
            EndingKind.WAIT,
            _("The delivery check of the new address is not finished. It is read again every 15 minutes for 24 hours."),
            wait_for=timedelta(hours=24),
            every=timedelta(minutes=15),
        ),
        "correction_withdrawn": Ending(
            EndingKind.CLOSE, _("The correction was withdrawn, so the address stays as it is.")
        ),
        "already_applied": Ending(EndingKind.CLOSE, _("The correction is applied already.")),
        "another_customer": Ending(EndingKind.PERSON, _("The correction belongs to another customer. Find out whose.")),
        "address_unknown": Ending(EndingKind.PERSON, _("The customer has no address to correct. Find out why.")),
        "unclear_facts": Ending(EndingKind.PERSON, _("The facts fit no rule. They need another check by a person.")),
    }
    words = {
        "intake.correction_id": _("Correction number"),
        "fact.address": _("Postal address"),
        "fact.correction": _("Correction of the address"),
        "part.line": _("full line"),
        "part.check": _("delivery check"),
        "part.correction_id": _("correction"),
        "value.address.status.known": _("address known"),
        "value.address.status.unknown": _("no address"),
        "value.correction.status.pending": _("correction not applied yet"),
        "value.correction.status.applied": _("correction applied"),
        "value.correction.status.withdrawn": _("correction withdrawn"),
        "value.correction.status.not_found": _("correction not found"),
        "value.correction.check.pending": _("check not finished"),
        "value.correction.check.deliverable": _("check passed"),
        "value.correction.check.undeliverable": _("check failed"),
        "system.addresses": _("Address book"),
        "operation.addresses.apply": _("Apply the correction of an address"),
    }

    def subject(self, intake: IntakeBody) -> str:
        return str(intake.get("customer_id", ""))

    def decide(self, *, facts: Facts, intake: IntakeBody) -> Proposed:
        customer, address = value_at(facts, "customer.status"), value_at(facts, "address.status")
        status, check = value_at(facts, "correction.status"), value_at(facts, "correction.check")
        if status == "not_found":
            return _because("correction_not_found", "correction.status")
        if customer == "unknown":
            return _because("customer_unknown", "customer.status")
        if value_at(facts, "correction.customer_id") != intake["customer_id"]:
            return _because("another_customer", "correction.customer_id")
        if status == "withdrawn":
            return _because("correction_withdrawn", "correction.status")
        if status == "applied":
            return _because("already_applied", "correction.status")
        if address == "unknown":
            return _because("address_unknown", "address.status")
        if check == "pending":
            return _because("being_checked", "correction.check")
        if check == "undeliverable":
            return _because("not_deliverable", "correction.check")
        if (customer, address, status, check) == ("known", "known", "pending", "deliverable"):
            return _because("correct_address", "correction.status", "correction.check")
        return _because("unclear_facts")

    def plan(self, *, decision: str, facts: Facts, intake: IntakeBody, effects: Sequence[Effect]) -> Plan:
        if decision == "correct_address":
            return Plan(effects=[_applying(self.critical, facts, intake)], notices=_tell("corrected", facts, intake))
        if self.endings[decision].kind in (EndingKind.CLOSE, EndingKind.ASK_DATA):
            return Plan(notices=_tell(decision, facts, intake))
        return Plan()


def _because(decision: str, *evidence: str) -> Proposed:
    return Proposed(decision=decision, reason=decision, evidence=evidence)


def _applying(critical: Sequence[str], facts: Facts, intake: IntakeBody) -> EffectSpec:
    """The request names the correction. Which line it holds is a precondition: another line needs another approval."""
    return EffectSpec(
        system="addresses",
        operation="apply",
        subject=intake["customer_id"],
        request={"correction_id": intake["correction_id"]},
        preconditions={path: value_at(facts, path) for path in critical},
        confirms={"correction.status": "applied"},
    )


def _tell(template: str, facts: Facts, intake: IntakeBody) -> list[NoticeSpec]:
    """One message to the customer; none where the customer is unknown and nobody could be written to."""
    if value_at(facts, "customer.status") != "known":
        return []
    return [
        NoticeSpec(
            system="mail",
            to="customer.email",
            template=f"address_correction/{template}",
            language="en" if value_at(facts, "customer.language") == "en" else "ru",
            params={"correction_id": intake["correction_id"]},
        )
    ]
