"""Drift: what we call CONFIRMED against what the outside system says now. Recorded; nothing is repaired by itself."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import connection, transaction

from accounts.principal import Actor
from actions.models import Action
from approvals.snapshots import actions_of, opened
from caseflow.domain.errors import ProcessNotInstalled
from caseflow.domain.outcomes import ReadFailed
from caseflow.domain.process import differences
from cases.advancing import record_event
from cases.models import IntakeRevision
from cases.observing import read_now
from cases.processes import get_process
from cases.rows import database_now, lock_case
from integrations.registry import UnknownAdapter, owner_of

from .models import DriftFinding, DriftRun

SAMPLE = 50  #: effects
CHUNK = 200  #: effects looked up at once
GIVE_UP_AFTER = 3  #: unreadable answers in a row until a system is left alone for this time

#: An effect is what its subject should show until a later one of ours changed it, or may have.
_STANDS = """
a.kind = 'effect' AND a.status = 'CONFIRMED'
  AND (%(organisations)s::bigint[] IS NULL OR a.organisation_id = ANY(%(organisations)s))
  AND NOT EXISTS (
    SELECT FROM actions_action later
    WHERE later.organisation_id = a.organisation_id AND later.subject = a.subject AND later.system = a.system
      AND later.kind = 'effect' AND later.id <> a.id
      AND (later.status IN ('REQUESTED', 'UNKNOWN') OR later.status = 'CONFIRMED' AND later.settled_at > a.settled_at))
"""

_DAY = f"""
SELECT a.id FROM actions_action a
WHERE a.id > %(after)s AND a.settled_at > clock_timestamp() - interval '1 day' AND {_STANDS}
ORDER BY a.id LIMIT %(limit)s
"""

#: Evenly over all ids without reading them all: the first that stands from each of some random places on.
_SAMPLE = f"""
WITH ends AS (SELECT min(id) AS low, max(id) AS high FROM actions_action),
places AS (SELECT (low + floor(random() * (high - low + 1)))::bigint AS id FROM ends, generate_series(1, %(limit)s))
SELECT DISTINCT picked.id FROM places CROSS JOIN LATERAL (
  SELECT a.id FROM actions_action a WHERE a.id >= places.id AND {_STANDS} ORDER BY a.id LIMIT 1) picked
ORDER BY picked.id
"""


@dataclass(frozen=True, slots=True)
class Compared:
    """One effect beside its system: `differences` is path → {"confirmed", "now"}, `unreadable` why there are none."""

    action: Action
    differences: dict[str, dict[str, Any]] = field(default_factory=dict)
    unreadable: str = ""

    @property
    def differs(self) -> bool:
        return bool(self.differences)


def find_confirmed(
    scope: DriftRun.Scope, *, organisations: Sequence[int] | None = None, after: int = 0, limit: int = CHUNK
) -> list[int]:
    """Ids of effects to compare, in order: those of the last day after `after`, or some of all."""
    statement = _DAY if scope == DriftRun.Scope.DAY else _SAMPLE
    wanted = list(organisations) if organisations is not None else None
    with connection.cursor() as cursor:
        cursor.execute(statement, {"organisations": wanted, "after": after, "limit": limit})
        return [row[0] for row in cursor.fetchall()]


def compare_all(ids: Iterable[int], *, within: timedelta | None = None) -> Iterator[Compared]:
    """Ask the systems, one effect after the other; no transaction is open. Ends early when the time is over."""
    end = time.monotonic() + within.total_seconds() if within else float("inf")
    in_a_row: Counter[str] = Counter()
    for action_id in ids:
        if time.monotonic() >= end:
            return
        action = Action.objects.select_related("case", "proposal").get(pk=action_id)
        if in_a_row[action.system] >= GIVE_UP_AFTER:
            yield Compared(action, unreadable="left_alone")
            continue
        compared = compare(action)
        in_a_row[action.system] = in_a_row[action.system] + 1 if compared.unreadable else 0
        yield compared


def compare(action: Action) -> Compared:
    """Read what the plan promised of this effect."""
    snapshot = opened(action.proposal.snapshot)
    spec = next(spec for spec in actions_of(snapshot) if spec.id == action.public_id)
    told = IntakeRevision.objects.get(case_id=action.case_id, number=snapshot["intake_revision"])
    names = {path.partition(".")[0] for path in spec.confirms}
    try:
        process = get_process(action.case.process, action.case.process_version)
        readings = read_now(process, told.body, names, revision=told.number)
    except ReadFailed as error:
        return Compared(action, unreadable=error.code)
    except (ProcessNotInstalled, UnknownAdapter):
        return Compared(action, unreadable="not_installed")
    changed = differences(spec.confirms, readings.facts)
    return Compared(action, {path: {"confirmed": then, "now": now} for path, (then, now) in changed.items()})


def is_news(compared: Compared) -> bool:
    """Nothing on record says the same of this effect."""
    newest = DriftFinding.objects.filter(action=compared.action).order_by("-id").first()
    return newest is None or newest.differences != compared.differences


def store_finding(run: DriftRun, compared: Compared, *, actor: Actor) -> bool:
    """Put a difference on record, once a run, and into the case's history when it is news; whether it was stored."""
    action = compared.action
    with transaction.atomic():
        case = lock_case(action.case_id)
        if DriftFinding.objects.filter(run=run, action=action).exists():
            return False
        news = is_news(compared)
        DriftFinding.objects.create(
            run=run, action=action, differences=compared.differences, is_new=news, at=database_now()
        )
        if news:
            facts = {"action": action.public_id, "differences": compared.differences} | owner_of(action.system)
            record_event(case, "drift.found", actor=actor, facts=facts)
    return True
