"""The canonical body of an audit event, and the hash that chains it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Protocol

from caseflow.domain.canonical import canonical_bytes


class ActorLike(Protocol):
    """Who acted: a person, a service account or the system itself."""

    @property
    def kind(self) -> str: ...
    @property
    def id(self) -> int | None: ...
    @property
    def name(self) -> str: ...


def event_body(
    kind: str,
    *,
    actor: ActorLike,
    facts: Mapping[str, Any],
    from_state: str = "",
    to_state: str = "",
    version: int | None = None,
) -> bytes:
    """Canonical bytes of one event. Moments become UTC ISO strings, enums their values."""
    body: dict[str, Any] = {
        "kind": kind,
        "actor": {"kind": actor.kind, "id": actor.id, "name": actor.name},
        "facts": primitives(facts),
    }
    if version is not None:
        body |= {"from": str(from_state), "to": str(to_state), "version": version}
    return canonical_bytes(body)


_PRIMITIVES = frozenset((str, int, bool, type(None)))


def primitives(value: Any) -> Any:
    """JSON primitives of a value that holds moments, enums or tuples."""
    if type(value) in _PRIMITIVES:
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): primitives(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [primitives(item) for item in value]
    return value


def chain_hash(previous: bytes, at_us: int, body: bytes) -> bytes:
    """The same formula as in `cases.advancing`, for whoever checks the chain outside the database."""
    return hashlib.sha256(previous + at_us.to_bytes(8, "big") + body).digest()


def first_link(organisation_id: int) -> bytes:
    """What the first event of an organisation's stream follows from: a stream cannot be passed off as another's."""
    return organisation_id.to_bytes(8, "big")
