"""What somebody has to look after beside the cases: processes, pauses, messages, orders that wait, the audit trail.

Of the whole platform, for `/metrics`: none of it names an organisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Count, Min, OuterRef, Subquery

from accounts.models import StaffNotice
from approvals.circuits import list_open
from audit.models import AuditEvent, WaitingEvent
from cases.models import WorkerBeat
from cases.pausing import live_pauses
from cases.selectors import list_beats
from integrations.chat import names_of_providers
from operations.models import Hook, HookReading, Obligation, Recovery
from operations.report_opening import still_missing

from .scope import PLATFORM, SINCE, ask


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many of something wait, and since when the first of them does."""

    number: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Crew:
    """Processes of one kind by their state; when the newest heartbeat was, and the newest fetch or sweep."""

    kind: str
    states: dict[str, int]
    beat_at: datetime | None
    turned_at: datetime | None


@dataclass(frozen=True, slots=True)
class PauseCount:
    """Live pauses of one process, system or organisation, or of everything; `key` is '' for the last two."""

    kind: str
    key: str
    number: int


@dataclass(frozen=True, slots=True)
class FailedNotices:
    """Messages of one system that were given up: refused, or of unknown fate."""

    system: str
    status: str
    number: int


_FAILED_NOTICES = f"""
SELECT system, status, count(*) FROM actions_action
WHERE kind = 'notice' AND status IN ('REFUSED', 'UNKNOWN') AND settled_at > {SINCE} GROUP BY 1, 2 ORDER BY 1, 2
"""

_FAILED_STAFF_NOTICES = f"SELECT count(*) FROM accounts_staffnotice WHERE outcome = 'failed' AND at > {SINCE}"

#: Both lie in one small index.
_DELIVERIES = """
SELECT status, count(*) FROM operations_hookdelivery WHERE status IN ('waiting', 'failed') GROUP BY 1 ORDER BY 1
"""

_ROWS = """
SELECT relname, greatest(reltuples, 0)::bigint FROM pg_class
WHERE oid = ANY(ARRAY['cases_case', 'cases_task', 'cases_attempt', 'actions_action', 'actions_externalcall',
                      'audit_auditevent']::regclass[]) ORDER BY relname
"""


def crews() -> list[Crew]:
    """Workers and dispatchers, of both kinds also where there is none; one query over as many rows as processes."""
    found = {kind.value: Crew(kind.value, {}, None, None) for kind in WorkerBeat.Kind}
    for beat in list_beats():
        crew = found[beat.kind]
        state = beat.state  # type: ignore[attr-defined]  # the selector annotates it
        crew.states[state] = crew.states.get(state, 0) + 1
        found[beat.kind] = Crew(
            crew.kind, crew.states, _newest(crew.beat_at, beat.beat_at), _newest(crew.turned_at, beat.last_fetch_at)
        )
    return list(found.values())


def count_pauses() -> list[PauseCount]:
    """One query."""
    rows = live_pauses().order_by("kind", "key").values_list("kind", "key").annotate(number=Count("pk"))
    return [PauseCount(*row) for row in rows]


def orders_waiting() -> Waiting:
    """Recoveries that a second person has to sign; one query."""
    rows = Recovery.objects.filter(status=Recovery.Status.WAITING)
    return Waiting(**rows.aggregate(number=Count("pk"), oldest=Min("asked_at")))


def reports_late() -> Waiting:
    """Obligations that were named late and still have no document, since they had to have one; one query."""
    rows = still_missing(Obligation.objects.filter(overdue_at__isnull=False))
    return Waiting(**rows.aggregate(number=Count("pk"), oldest=Min("grace_until")))


def staff_mail_waiting() -> Waiting:
    """Mail to staff that was not tried yet; one query."""
    return Waiting(**StaffNotice.objects.filter(outcome="").aggregate(number=Count("pk"), oldest=Min("at")))


def staff_mail_failed(within: timedelta) -> int:
    """Mail to staff that the mail server did not take; one query."""
    return int(ask(_FAILED_STAFF_NOTICES, PLATFORM, length=within)[0][0])


def events_unnumbered() -> Waiting:
    """Events of organisations that the sealer has not numbered yet; one query."""
    # Event by event: joined, the planner, which thinks that there are many, may read every event there ever was.
    moment = AuditEvent.objects.filter(pk=OuterRef("event")).values("at")
    return Waiting(**WaitingEvent.objects.annotate(at=Subquery(moment)).aggregate(number=Count("pk"), oldest=Min("at")))


def failed_notices(within: timedelta) -> list[FailedNotices]:
    """Given up within that time; one query."""
    return [FailedNotices(*row) for row in ask(_FAILED_NOTICES, PLATFORM, length=within)]


def failing_hooks() -> list[tuple[str, Waiting]]:
    """(channel, how many of its active listeners fail and since when) of those that have any; one query."""
    rows = Hook.objects.filter(is_active=True, failing_since__isnull=False).order_by("channel").values("channel")
    found = rows.annotate(number=Count("pk"), oldest=Min("failing_since"))
    return [(row["channel"], Waiting(row["number"], row["oldest"])) for row in found]


def count_deliveries() -> list[tuple[str, int]]:
    """(status, number) of what is waiting or failed; one query."""
    return [(status, number) for status, number in ask(_DELIVERIES, PLATFORM)]


def read_for_hooks() -> datetime | None:
    """Up to when the history was read for every organisation with an active listener; one query."""
    listening = Hook.objects.filter(is_active=True).values("organisation")
    oldest = HookReading.objects.filter(organisation__in=listening).aggregate(at=Min("safe_us"))["at"]
    return None if oldest is None else datetime.fromtimestamp(oldest / 1e6, UTC)


def circuits() -> list[tuple[str, datetime | None]]:
    """(provider of models, since when it is left alone or None) of each that the settings name; one query."""
    left_alone = {one.provider: one.opened_at for one in list_open()}
    return [(provider, left_alone.get(provider)) for provider in names_of_providers()]


def estimate_rows() -> list[tuple[str, int]]:
    """(table, rows as its last ANALYZE or VACUUM found them) of those that grow; one query, whatever their size."""
    return [(name, rows) for name, rows in ask(_ROWS, PLATFORM)]


def _newest(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(filter(None, (one, other)), default=None)
