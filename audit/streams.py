"""Reading streams of events from the tables, row by row through a cursor of the server.

The caller's transaction gives the moment of which everything is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection

from .models import AuditEvent, OrganisationLink, WaitingEvent
from .verifying import CASE, ORGANISATION, Head, Link

CHUNK = 5_000  #: events read at a time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_COLUMNS = (
    "organisation_id",
    "kind",
    "actor_kind",
    "actor_id",
    "from_state",
    "to_state",
    "version",
    "at",
    "at_us",
    "body",
)


@dataclass(frozen=True, slots=True)
class Unlinked:
    """Organisation events without a number: how many the sealer will come to, and ids of those it knows nothing of."""

    waiting: int
    lost: tuple[int, ...]


def read_links() -> Iterator[Link]:
    """Every event that has a number, by stream and number."""
    events = AuditEvent.objects.filter(case_id__isnull=False).order_by("case_id", "seq")
    for case_id, seq, written, *told in events.values_list("case_id", "seq", "hash", *_COLUMNS).iterator(CHUNK):
        yield _link(f"{CASE}{case_id}", seq, written, told)
    links = OrganisationLink.objects.order_by("organisation_id", "seq")
    columns = [f"event__{name}" for name in _COLUMNS]
    for organisation, seq, written, *told in links.values_list("organisation_id", "seq", "hash", *columns).iterator(
        CHUNK
    ):
        yield _link(f"{ORGANISATION}{organisation}", seq, written, told)


def read_unlinked() -> Unlinked:
    """Two statements."""
    rows = AuditEvent.objects.filter(case_id__isnull=True, link__isnull=True)
    lost = rows.exclude(pk__in=WaitingEvent.objects.values("event")).order_by("pk").values_list("pk", flat=True)
    return Unlinked(WaitingEvent.objects.count(), tuple(lost[:100]))


def read_ends() -> dict[str, Head]:
    """Count and hash of every stream as its events have it; what a seal puts down."""
    cases = AuditEvent.objects.filter(case_id__isnull=False).order_by("case_id", "-seq").distinct("case_id")
    links = OrganisationLink.objects.order_by("organisation_id", "-seq").distinct("organisation_id")
    of_cases = cases.values_list("case_id", "seq", "hash")
    of_organisations = links.values_list("organisation_id", "seq", "hash")
    ends = {f"{CASE}{key}": Head(seq or 0, bytes(head)) for key, seq, head in of_cases}
    return ends | {f"{ORGANISATION}{key}": Head(seq, bytes(head)) for key, seq, head in of_organisations}


def read_hashes(places: Mapping[str, int]) -> dict[str, bytes]:
    """The hash of one event of each stream, by stream → number; those that exist. A statement per CHUNK streams."""
    found: dict[str, bytes] = {}
    for prefix, statement in (
        (CASE, "SELECT e.case_id, e.hash FROM audit_auditevent e JOIN w ON e.case_id = w.id AND e.seq = w.seq"),
        (
            ORGANISATION,
            "SELECT l.organisation_id, l.hash FROM audit_organisationlink l"
            " JOIN w ON l.organisation_id = w.id AND l.seq = w.seq",
        ),
    ):
        wanted = [(int(name.removeprefix(prefix)), seq) for name, seq in places.items() if name.startswith(prefix)]
        for start in range(0, len(wanted), CHUNK):
            found |= _hashes_of(prefix, statement, wanted[start : start + CHUNK])
    return found


def _hashes_of(prefix: str, statement: str, wanted: list[tuple[int, int]]) -> dict[str, bytes]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH w AS (SELECT * FROM unnest(%s::bigint[], %s::bigint[]) AS w(id, seq)) {statement}",
            [[key for key, _ in wanted], [seq for _, seq in wanted]],
        )
        return {f"{prefix}{key}": bytes(written) for key, written in cursor.fetchall()}


def _link(stream: str, seq: int, written: bytes, told: list[Any]) -> Link:
    organisation, kind, actor_kind, actor_id, from_state, to_state, version, at, at_us, body = told
    moment = (at - _EPOCH) // _MICROSECOND
    return Link(
        stream,
        seq,
        organisation,
        kind,
        actor_kind,
        actor_id,
        from_state,
        to_state,
        version,
        moment,
        at_us,
        bytes(body),
        bytes(written),
    )
