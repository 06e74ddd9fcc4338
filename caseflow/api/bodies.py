"""What may be sent. Form only: what the words mean is checked by the services."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from caseflow.domain.lifecycle import State

from .reading import Body, Query

MAX_LIMIT = 200  #: rows of one page


class OpenCaseBody(Body):
    """A ticket."""

    organisation: str = Field(description="Short name of the organisation.", examples=["acme"])
    process: str = Field(description="What kind of case it is.", examples=["restore_access"])
    source: str = Field(description="The system the ticket comes from.", examples=["helpdesk"])
    external_id: str = Field(description="The ticket's own id in that system.", examples=["T-4821"])
    intake: dict[str, Any] = Field(description="What the process needs to know; each process has its own schema.")
    source_url: str = Field(default="", description="A link back to the ticket.")
    department: str = Field(default="", description="Short name of a department of the organisation.")


class SupplyDataBody(Body):
    """Intake fields with new values."""

    data: dict[str, Any] = Field(description="Only the fields that change.")


class RevealBody(Body):
    """Which personal text."""

    field: str = Field(description="Its name.", examples=["intake.claim"])


class DecisionBody(Body):
    """What a person says of one digest and one version of the case."""

    decision: str = Field(description="approve, reject, return or ask_data.", examples=["approve"])
    digest: str = Field(description="The digest that was seen: 64 lower-case hexadecimal characters.")
    version: int = Field(description="The version of the case that was seen.", examples=[3])
    reason: str = Field(default="", description="Needed for everything but an approval.")
    next: str = Field(default="", description="Of a rejection: close or by_hand.")


class WithdrawalBody(Body):
    """Nothing: the proposal stands in the address."""


class PageQuery(Query):
    """A page of a list: `after` is the id of the last row of the page before."""

    after: str = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50


class CaseListQuery(PageQuery):
    """Filters of the list of cases; they narrow it together."""

    organisation: str = ""
    state: State | None = None
    process: str = ""
    external_id: str = ""
    subject: str = ""


class AuditQuery(Query):
    """Filters of the audit trail of one organisation; they narrow it together."""

    organisation: str
    kind: Annotated[str, Field(max_length=64)] = ""
    person: Annotated[str, Field(max_length=150)] = ""
    case: Annotated[str, Field(max_length=200)] = ""
    since: Annotated[str, Field(max_length=40)] = ""
    until: Annotated[str, Field(max_length=40)] = ""
    after: Annotated[str, Field(max_length=24)] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50


class AuditExportBody(Body):
    """What of the audit trail to take out, and in which form."""

    organisation: str = Field(description="Short name of the organisation.", examples=["acme"])
    form: Literal["jsonl", "csv"] = Field(default="jsonl", description="JSON Lines, or CSV.")
    kind: str = Field(default="", max_length=64, description="Only events of this kind.", examples=["role.granted"])
    person: str = Field(default="", max_length=150, description="Only what this person did, by sign-in name.")
    case: str = Field(default="", max_length=200, description="Only events of this case, by its id or its ticket's.")
    since: str = Field(default="", max_length=40, description="Not before this moment.")
    until: str = Field(default="", max_length=40, description="Before this moment.")


class FactQuery(Query):
    """Which fact's readings; none: the newest of each."""

    name: str = ""


class NoQuery(Query):
    """Nothing may be asked."""
