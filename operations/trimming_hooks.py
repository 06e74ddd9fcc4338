"""Deleting what was written down of tellings that arrived or were skipped long ago: a log, and no part of a history.

What waits or was given up stays: it can still be told. So does what the readers of the history may come upon again,
for its row is all that keeps them from telling it twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection

from accounts.principal import Actor
from audit.services import record_organisation_event

from .hook_models import Hook
from .models import Repair

PORTION = 5_000  #: rows deleted by one statement

_OLD = """
FROM operations_hookdelivery d JOIN operations_hook h ON h.id = d.hook_id
JOIN audit_auditevent e ON e.id = d.event_id
JOIN operations_hookreading r ON r.organisation_id = h.organisation_id
WHERE d.status IN ('sent', 'skipped') AND d.settled_at < clock_timestamp() - %(older_than)s::interval
  AND e.at_us <= r.safe_us
"""
_COUNT = f"""
SELECT h.id, count(*) {_OLD} AND (%(organisations)s::bigint[] IS NULL OR h.organisation_id = ANY(%(organisations)s))
GROUP BY h.id ORDER BY h.id
"""
_DELETE = f"""
DELETE FROM operations_hookdelivery WHERE id IN (
  SELECT d.id {_OLD} AND d.hook_id = %(hook)s ORDER BY d.id LIMIT %(portion)s)
"""


@dataclass(frozen=True, slots=True)
class Trimmable:
    """A hook, switched off or not, and how many rows of its log may go."""

    hook: Hook
    rows: int


def find_trimmable(older_than: timedelta, organisations: Sequence[int] | None) -> Iterator[Trimmable]:
    """Hooks with tellings that were settled longer ago; None stands for every organisation. Two queries."""
    told: dict[str, Any] = {
        "older_than": older_than,
        "organisations": None if organisations is None else list(organisations),
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, told)
        numbers = dict(cursor.fetchall())
    for hook in Hook.objects.filter(pk__in=numbers).select_related("organisation").order_by("pk"):
        yield Trimmable(hook, numbers[hook.pk])


def trim_hook(hook: Hook, older_than: timedelta, *, by: Actor, repair: Repair) -> int:
    """Delete them and put that on record, in the caller's transaction; how many there were."""
    told: dict[str, Any] = {"hook": hook.pk, "older_than": older_than, "portion": PORTION}
    deleted = 0
    with connection.cursor() as cursor:
        cursor.execute(_DELETE, told)
        while cursor.rowcount:
            deleted += cursor.rowcount
            cursor.execute(_DELETE, told)
    if deleted:
        facts = {"hook": hook.public_id, "rows": deleted, "days": older_than.days, "repair": repair.pk}
        record_organisation_event(hook.organisation_id, "hook.log_trimmed", actor=by, facts=facts)
    return deleted
