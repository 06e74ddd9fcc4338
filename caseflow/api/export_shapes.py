"""What may be sent to take a list out as a file."""

from __future__ import annotations

from typing import Literal

from drf_spectacular.utils import OpenApiExample
from pydantic import Field

from .reading import Body


class ExportFilter(Body):
    """The filters of the list; each list has its own, and refuses those of another."""

    organisation: str = ""
    state: str = Field(default="", description="Of cases.")
    process: str = Field(default="", description="Of cases and attention.")
    external_id: str = Field(default="", description="Of cases.")
    subject: str = Field(default="", description="Of cases.")
    reason: str = Field(default="", description="Of attention.")
    stopped_in: str = Field(default="", description="Of attention: the state before.")
    status: str = Field(default="", description="Of actions and of the cases of a bulk.")
    kind: str = Field(default="", description="Of actions: effect or notice.")
    system: str = Field(default="", description="Of actions.")
    bulk: str = Field(default="", description="Of the cases of a bulk: which one.")


class ExportBody(Body):
    """Which list, in which form, narrowed to what."""

    what: Literal["cases", "actions", "attention", "approvals", "bulk"] = Field(
        description="attention: what has stopped; approvals: what you may decide; bulk: the cases of one."
    )
    form: Literal["csv", "xlsx"] = Field(default="csv")
    filter: ExportFilter = Field(default_factory=ExportFilter)


EXPORT = OpenApiExample(
    "Stopped cases as a workbook",
    value={"what": "cases", "form": "xlsx", "filter": {"organisation": "acme", "state": "NEEDS_ATTENTION"}},
    request_only=True,
)
