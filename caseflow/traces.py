"""The ids that tie the log lines of one piece of work together: request, case, task, action, call (requirement H10).

They are bound to the thread that works and stand on every line that it writes, whoever writes it. Ids only: what
somebody wrote, is called or paid is never bound.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType

#: First letter of a public id → what it is called on a line.
NAMES = {
    "A": "action_id",
    "B": "bulk_id",
    "C": "case_id",
    "D": "document_id",
    "P": "proposal_id",
    "R": "recovery_id",
}
_PUBLIC_ID = re.compile(r"[ABCDPR]-[0-9A-HJKMNP-TV-Z]{10}", re.ASCII)
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
MOST_CALLS = 20  #: told of one piece of work; a bulk of reads says how many there were


@dataclass(frozen=True, slots=True)
class Call:
    """One request to an outside system: its id is what that system was sent as X-Request-Id."""

    call_id: str
    system: str
    verb: str  #: read, perform, lookup
    outcome: str  #: of `perform` and `lookup` the value, of a fault its code
    ms: float


@dataclass(slots=True)
class Piece:
    """A piece of work while it is done: when it began (monotonic seconds), and the outside calls made for it."""

    begun: float
    calls: list[Call] = field(default_factory=list)

    @property
    def ms(self) -> float:
        return round((time.monotonic() - self.begun) * 1000, 1)

    def told(self) -> list[dict[str, str | float]]:
        return [
            {"call_id": one.call_id, "system": one.system, "verb": one.verb, "outcome": one.outcome, "ms": one.ms}
            for one in self.calls[:MOST_CALLS]
        ]


_ids: ContextVar[Mapping[str, str | int]] = ContextVar("caseflow_ids", default=MappingProxyType({}))
_piece: ContextVar[Piece | None] = ContextVar("caseflow_piece", default=None)


def ids_of(*texts: object) -> dict[str, str]:
    """Those of the texts that are public ids, by what they are called; anything else is left out."""
    found = {}
    for text in texts:
        if isinstance(text, str) and _PUBLIC_ID.fullmatch(text):
            found[NAMES[text[0]]] = text
    return found


def code_of(text: object) -> str:
    """The text where it is a code. Some come from outside systems, which may write a sentence in its place."""
    return text if isinstance(text, str) and _CODE.fullmatch(text) else "other"


def bind(**ids: str | int) -> None:
    """From here on every line of this thread says so."""
    # A new mapping: the one before may be bound in another context, too.
    _ids.set({**_ids.get(), **ids})


def bind_ids(*texts: object) -> None:
    """The same for public ids, whatever they are ids of."""
    if found := ids_of(*texts):
        bind(**found)


def bound() -> Mapping[str, str | int]:
    return _ids.get()


def unbind() -> None:
    """The next piece of work begins without the ids of the one before."""
    _ids.set({})


@contextmanager
def piece_of_work() -> Iterator[Piece]:
    """Gather the outside calls that are made while the block runs."""
    piece = Piece(time.monotonic())
    token = _piece.set(piece)
    try:
        yield piece
    finally:
        _piece.reset(token)


def note_call(call: Call) -> None:
    """A call ended; nobody gathers them outside a piece of work."""
    if (piece := _piece.get()) is not None:
        piece.calls.append(call)
