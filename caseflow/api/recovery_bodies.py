"""What may be sent about recoveries. Form only: what the words mean is checked by the services."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .reading import Body


class OrderBody(Body):
    """What a person orders for one version of the case."""

    kind: str = Field(description="One of `possible`.", examples=["observe_again"])
    version: int = Field(description="The version of the case that was seen.", examples=[7])
    reason: str = Field(description="Why; kept as personal text.")
    action: str = Field(default="", description="Which effect in doubt was seen; a result by hand needs it.")
    action_status: str = Field(default="", description="What was seen of it.", examples=["UNKNOWN"])
    result: str = Field(default="", description="Of a result by hand: done or not_done.")
    evidence: str = Field(default="", description="By hand: a link or a number; kept as personal text.")
    data: dict[str, Any] | None = Field(default=None, description="Of a correction: only the fields that change.")


class ReconcileBody(Body):
    """The version of the case that was seen, and why."""

    version: int = Field(description="The version of the case that was seen.", examples=[7])
    reason: str = Field(description="Why; kept as personal text.")


class AuthoriseBody(Body):
    """What the second person saw."""

    version: int = Field(description="The version of the case that was seen.", examples=[7])
    action_status: str = Field(default="", description="What was seen of the action; needed where one is named.")


class TakeBackBody(Body):
    """Nothing: the order stands in the address."""
