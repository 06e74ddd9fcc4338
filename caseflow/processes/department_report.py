"""A department's regular report: the second process (requirements G). Nobody has to approve it.

To the engine the documents are one more outside system: a set of data is read, an effect makes a file of it, and each
recipient is one notice. Whether a recipient may open the file is read again when the message is about to leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Literal

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

SOURCE = "reports"  #: of every case of this process; its ticket is the obligation

KINDS = ("requests",)  #: what reports can be about; `documents.wording` has their titles

MAX_RECIPIENTS = 100  #: persons; each is an action of its own

Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class DepartmentReportIntake(IntakeSchema):
    obligation: Text  #: `acme/sales/requests/2026-10-01`, later editions with `/r2`
    department: Text
    kind: Text
    period: Text
    edition: int = Field(ge=1)
    zone: Text
    language: Literal["ru", "en"]
    recipients: list[int] = Field(min_length=1, max_length=MAX_RECIPIENTS)  #: keys of persons


class DepartmentReport(Process):
    """Data chosen, file made, access checked, recipients told: each with an outcome of its own."""

    slug = "department_report"
    version = 1
    title = _("Regular report of a department")
    Intake = DepartmentReportIntake
    from_outside = False
    own_source = SOURCE
    facts = (
        FactSource("data_set", "documents.data", "obligation"),
        FactSource("document", "documents.store", "obligation"),
        FactSource("access", "documents.recipients", "obligation"),
        FactSource("addresses", "documents.recipients", "obligation"),
        FactSource("languages", "documents.recipients", "obligation"),
    )
    personal_facts = frozenset({"addresses.*"})
    critical = ("data_set.digest", "document.status")
    approval = None
    endings = {
        "make_report": Ending(
            EndingKind.ACT,
            _("The period is over and its data are chosen."),
            request=_("One file will be made for {subject}, and each recipient told. The file is not sent by mail."),
        ),
        "not_closed": Ending(
            EndingKind.WAIT,
            _("The period is not over yet."),
            wait_for=timedelta(hours=24),
            every=timedelta(minutes=15),
        ),
        "already_made": Ending(
            EndingKind.PERSON, _("The file is there already. Nothing is made twice: go on with the messages.")
        ),
        "file_lost": Ending(
            EndingKind.PERSON, _("A document is registered, but its file is not there. Restore it, then check again.")
        ),
        "unclear_facts": Ending(EndingKind.PERSON, _("The facts fit no rule. They need another check by a person.")),
    }

    def subject(self, intake: IntakeBody) -> str:
        return str(intake.get("obligation", ""))

    def decide(self, *, facts: Facts, intake: IntakeBody) -> Proposed:
        made = value_at(facts, "document.status")
        chosen = value_at(facts, "data_set.status")
        if made == "made":
            return _because("already_made", "document.status")
        if made == "lost":
            return _because("file_lost", "document.status")
        if chosen == "not_closed":
            return _because("not_closed", "data_set.status")
        if made == "none" and chosen == "ready":
            return _because("make_report", "data_set.status", "data_set.digest", "document.status")
        return _because("unclear_facts")

    def plan(self, *, decision: str, facts: Facts, intake: IntakeBody, effects: Sequence[Effect]) -> Plan:
        if decision != "make_report":
            return Plan()
        digest = value_at(facts, "data_set.digest")
        make = EffectSpec(
            system="documents.store",
            operation="make_report",
            subject=intake["obligation"],
            request={"data_set": digest, "formats": ["xlsx", "pdf"]},
            preconditions={"data_set.digest": digest, "document.status": "none"},
            confirms={"document.status": "made", "document.data_set": digest},
        )
        return Plan(effects=[make], notices=[_tell(f"p{person}", facts, intake) for person in intake["recipients"]])


def _because(decision: str, *evidence: str) -> Proposed:
    return Proposed(decision=decision, reason=decision, evidence=evidence, requires_approval=False)


def _tell(person: str, facts: Facts, intake: IntakeBody) -> NoticeSpec:
    """The mail holds a link, never the file; who may not open it is not told of it."""
    return NoticeSpec(
        system="mail",
        to=f"addresses.{person}",
        template="department_report/ready",
        language="en" if value_at(facts, f"languages.{person}") == "en" else "ru",
        params={
            "page": str(intake["obligation"]).removesuffix(f"/r{intake['edition']}"),
            "department": intake["department"],
            "period": intake["period"],
            "edition": intake["edition"],
        },
        preconditions={f"access.{person}": "open"},
        otherwise="no_access",
    )
