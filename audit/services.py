"""Writing events that belong to an organisation rather than to a case; a sealer chains them later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.db import connection, transaction

from .bodies import ActorLike, event_body

#: The stream of what belongs to no organisation: a pause of an outside system, a grant of the platform operator.
PLATFORM = 0

_INSERT = """
WITH t AS MATERIALIZED (SELECT clock_timestamp() AS at)
INSERT INTO audit_auditevent (organisation_id, kind, actor_kind, actor_id, from_state, to_state, at, at_us, body, hash)
SELECT %s, %s, %s, %s, '', '', t.at, (extract(epoch FROM t.at) * 1000000)::bigint, %s, '' FROM t
"""


def record_organisation_event(organisation_id: int, kind: str, *, actor: ActorLike, facts: Mapping[str, Any]) -> None:
    """Append one event to an organisation's stream, or to PLATFORM's, in the caller's transaction.

    `kind` is a noun and a past tense: `role.granted`, `pause.set`, `webhook.refused`. Facts are ids and primitives.
    """
    body = event_body(kind, actor=actor, facts=facts)
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [organisation_id, kind, actor.kind, actor.id, body])


def record_access(organisation_id: int, kind: str, *, actor: ActorLike, facts: Mapping[str, Any]) -> None:
    """Put on record that something was taken out or refused: `export.made`, `access.refused`.

    A short transaction of its own, after the data was read (design §10). Raises RuntimeError inside another one.
    """
    with transaction.atomic(durable=True):
        record_organisation_event(organisation_id, kind, actor=actor, facts=facts)


def facts_of(body: bytes | memoryview) -> dict[str, Any]:
    """What an event's body says, as Python."""
    parsed: dict[str, Any] = json.loads(bytes(body))
    return parsed
