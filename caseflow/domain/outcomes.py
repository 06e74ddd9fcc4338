"""What an outside system said, as values. Doubt is one: a lost answer is `Unknown`, never a failure (design §8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

JsonObject = Mapping[str, Any]


class FaultKind(StrEnum):
    """Why an outside system could not serve us, and so which way on is the right one (requirement C1)."""

    TRANSIENT = "transient"  #: passes by itself: wait and try again
    INVALID_DATA = "invalid_data"  #: somebody must correct the input
    NOT_PERMITTED = "not_permitted"  #: the owner of the system must be asked
    NO_ROOM = "no_room"  #: it is full, or may only be read: its owner must make room
    PERMANENT = "permanent"  #: stop; a person decides


@dataclass(frozen=True, slots=True)
class Fact:
    """One value read from an outside system. `value` is a JSON object; `observed_at` is aware UTC."""

    name: str
    value: JsonObject
    source: str
    observed_at: datetime
    call_id: str


class ReadFailed(Exception):
    """The system {system} could not be read: {message}."""

    def __init__(
        self,
        *,
        system: str,
        kind: FaultKind,
        code: str,
        message: str,
        retry_after: timedelta | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(f"The system {system} could not be read: {message}.")
        self.system = system
        self.kind = kind
        self.code = code
        self.message = message
        self.retry_after = retry_after
        self.status = status  #: HTTP; None where no answer came


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The system accepted the request; `external_id` is its own name for it. A read-back has to show the effect."""

    external_id: str = ""
    detail: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refused:
    """The system said no and changed nothing."""

    code: str
    message: str = ""
    kind: FaultKind = FaultKind.PERMANENT


@dataclass(frozen=True, slots=True)
class NotApplied:
    """Provably not applied: connection refused, 429, maintenance before acceptance. The same key may be sent again."""

    code: str
    message: str = ""
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """No trustworthy answer: the effect may or may not have happened, or may still land."""

    code: str
    message: str = ""
    retry_after: timedelta | None = None  #: of a look-up: when the system wants to be asked again


Outcome = Confirmed | Refused | NotApplied | Unknown
LookupOutcome = Confirmed | NotApplied | Unknown
