"""Pauses as rows: set, prolonged and ended behind the gate, on record, with what waited rung again (design §3).

Who may do it is asked by `operations.pausing`. What is paused waits: nothing is counted, cancelled or lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random, SystemRandom

from django.db import connection, transaction
from django.db.models import DateTimeField, F, Func, Q, QuerySet

from accounts import gate
from accounts.principal import SYSTEM, Actor
from audit.services import PLATFORM, record_organisation_event
from caseflow.domain.identifiers import public_id

from .bell import ring_after_commit
from .models import Pause
from .rows import database_now

CAP_REACHED = "cap_reached"  #: the reason of a pause that the platform set itself
SHORTEST_WAIT = timedelta(seconds=15)  #: until a paused send looks again, in case nobody rang
LONGEST_WAIT = timedelta(minutes=5)  #: the same, for a pause that lasts long: a flood that waits costs little

rng: Random = SystemRandom()

#: The database's moment within a statement: `now()` stands still while a transaction waits for the gate.
CLOCK = Func(function="clock_timestamp", output_field=DateTimeField())

#: What waits for a pause of its process or organisation is due as it is; what was refused at the last moment sleeps.
_WAKE = """
WITH held AS (
  SELECT id FROM cases_task
  WHERE status = 'due' AND last_error = %(error)s AND available_at > clock_timestamp()
    AND (%(organisation)s::bigint IS NULL OR organisation_key = %(organisation)s)
  ORDER BY id FOR UPDATE SKIP LOCKED)
UPDATE cases_task t SET available_at = clock_timestamp() FROM held WHERE t.id = held.id
"""


@dataclass(frozen=True, slots=True)
class Paused:
    """A live pause, and whether this order made it, or let it last longer."""

    pause: Pause
    created: bool = False
    prolonged: bool = False


def live_pauses() -> QuerySet[Pause]:
    """Not ended, and not past their end by the database's clock."""
    return Pause.objects.filter(Q(until=None) | Q(until__gt=CLOCK), ended_at=None)


@transaction.atomic
def set_pause(
    *, kind: Pause.Kind, key: str, organisation_id: int | None, reason: str, until: datetime | None, by: Actor
) -> Paused:
    """Stop it until `until`, or until somebody resumes. No call begins after this has returned.

    The same again is the same pause; one that shall last longer is prolonged, never cut short.
    """
    gate.hold_exclusive()
    return store_pause(kind=kind, key=key, organisation_id=organisation_id, reason=reason, until=until, by=by)


def store_pause(
    *, kind: Pause.Kind, key: str, organisation_id: int | None, reason: str, until: datetime | None, by: Actor = SYSTEM
) -> Paused:
    """For whoever holds a lock that keeps every send concerned from beginning; part of the caller's transaction."""
    now = database_now()
    same = Pause.objects.filter(kind=kind, key=key, organisation=organisation_id, ended_at=None)
    same.filter(until__lte=now).update(ended_at=F("until"))
    live = same.first()
    if live is not None:
        if live.until is None or (until is not None and until <= live.until):
            return Paused(live)
        live.until = until
        live.save(update_fields=["until"])
        _record(live, "pause.prolonged", by, reason=reason, until=until)
        return Paused(live, prolonged=True)
    pause = Pause.objects.create(
        public_id=public_id("S", rng),
        kind=kind,
        key=key,
        organisation_id=organisation_id,
        reason=reason,
        by_id=by.person_id,
        at=now,
        until=until,
    )
    _record(pause, "pause.set", by, reason=reason, until=until)
    return Paused(pause, created=True)


@transaction.atomic
def end_pause(*, pause_id: int, reason: str, by: Actor) -> bool:
    """Whether it was live until now. What waited is rung as soon as this is committed."""
    gate.hold_exclusive()
    pause = live_pauses().filter(pk=pause_id).first()
    if pause is None:
        return False
    pause.ended_at = database_now()
    pause.ended_by_id = by.person_id
    pause.save(update_fields=["ended_at", "ended_by"])
    _record(pause, "pause.ended", by, reason=reason, until=pause.until)
    transaction.on_commit(lambda: wake_held(pause.organisation_id))
    return True


def wake_held(organisation_id: int | None, *, error: str = "paused") -> None:
    """Sends that were refused at the last moment look again now; those of another pause are refused once more."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_WAKE, {"organisation": organisation_id, "error": error})
        ring_after_commit()


def hold_of(pause_id: int) -> timedelta:
    """How long a send that this pause refused sleeps: to its end, or in proportion to how long it lasts already.

    Behind the gate, so that no resuming falls between this and what the caller stores. Ended: not at all.
    """
    gate.hold_shared()
    pause = live_pauses().filter(pk=pause_id).annotate(now=CLOCK).first()
    if pause is None:
        return timedelta(0)
    wait = min(max(pause.now - pause.at, SHORTEST_WAIT), LONGEST_WAIT) * rng.uniform(1, 1.25)
    return wait if pause.until is None else min(wait, pause.until - pause.now)


def _record(pause: Pause, kind: str, by: Actor, *, reason: str, until: datetime | None) -> None:
    facts = {"pause": pause.public_id, "of": pause.kind, "name": pause.key, "reason": reason, "until": until}
    record_organisation_event(pause.organisation_id or PLATFORM, kind, actor=by, facts=facts)
