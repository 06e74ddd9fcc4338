"""The audit trail of one organisation for who may read it: filtered, page by page, and exported (design §9, §10)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from accounts import access
from accounts.models import Organisation, Person
from accounts.principal import Principal, actor_of
from audit.models import AuditEvent
from audit.services import facts_of, record_access
from caseflow.domain.errors import BadInput, NotPermitted
from caseflow.domain.identifiers import PUBLIC_ID, normalise_external_id
from caseflow.domain.roles import Right
from cases.models import Case
from cases.selectors import masked

PAGE = 50  #: events
PORTION = 1_000  #: events of an export read at once; the right to read is asked again each time
MAX_EXPORT = 50_000  #: events of one export; a longer one is asked for by period
LONGEST = 200  #: characters of a filter

PLACE = re.compile(r"[0-9]{1,17}-[0-9]{1,5}", re.ASCII)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the trail is narrowed to; empty means any. `person` is a sign-in name, `case` a public id or a ticket's."""

    kind: str = ""
    person: str = ""
    case: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def told(self) -> dict[str, str]:
        """As primitives, for the record of an export."""
        moments = {
            name: value.astimezone(UTC).isoformat() for name in ("since", "until") if (value := getattr(self, name))
        }
        return {name: value for name in ("kind", "person", "case") if (value := getattr(self, name))} | moments


@dataclass(frozen=True, slots=True)
class Entry:
    """One event as people and files show it. `number` is its place in its stream, None while it has none."""

    at: datetime
    case: str
    external_id: str
    number: int | None
    kind: str
    actor_kind: str
    actor: str
    from_state: str
    to_state: str
    version: int | None
    facts: Mapping[str, Any]
    hash: str


@dataclass(frozen=True, slots=True)
class Page:
    """Events, newest first, and the place after which the next page goes on; '' at the end."""

    entries: Sequence[Entry]
    after: str


def moment_of(text: str, path: str) -> datetime | None:
    """A moment in ISO 8601 with its offset; None for ''. Raises BadInput."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        problem = "a moment like 2026-03-02T09:14:03+00:00 is needed"
        raise BadInput(code="wrong_format", path=path, problem=problem) from None


def list_trail(principal: Principal, organisation: Organisation, wanted: Wanted) -> QuerySet[AuditEvent]:
    """The events of the organisation's stream and of its cases; none without the right, whatever was asked before."""
    rows = access.visible(AuditEvent.objects.filter(organisation_id=organisation.pk), principal, Right.READ_AUDIT)
    if wanted.kind:
        rows = rows.filter(kind=wanted.kind)
    if wanted.person:
        # Looked up first: an index is searched by a number, and not by what another query would say.
        found = Person.objects.filter(username=wanted.person).values_list("pk", flat=True).first()
        rows = rows.filter(actor_kind="person", actor_id=found or 0)
    if wanted.case:
        rows = rows.filter(case_id__in=_named(organisation, wanted.case).values("pk"))
    if wanted.since:
        rows = rows.filter(at_us__gte=_microseconds(wanted.since))
    if wanted.until:
        rows = rows.filter(at_us__lt=_microseconds(wanted.until))
    return rows.select_related("link")


#: Columns of an export, in their order.
COLUMNS = (
    "at", "organisation", "case", "external_id", "number", "kind", "actor_kind", "actor", "from_state", "to_state",
    "version", "facts", "hash",
)  # fmt: skip


def row_of(entry: Entry, organisation: Organisation) -> dict[str, Any]:
    """An event as primitives."""
    told = asdict(entry) | {"at": entry.at.astimezone(UTC).isoformat(), "organisation": organisation.slug}
    return {name: told[name] for name in COLUMNS}


def trail_page(rows: QuerySet[AuditEvent], *, after: str = "", limit: int = PAGE) -> Page:
    """Two queries. Raises BadInput for a place that is none.

    A place is a moment and how many events of this very moment were shown: numbers of rows would tell how much others
    have.
    """
    skipped = 0
    if after:
        moment, skipped = _place_of(after)
        rows = rows.filter(at_us__lte=moment)
    found = list(rows.order_by("-at_us", "-pk")[skipped : skipped + limit + 1])
    shown = found[:limit]
    place = ""
    if len(found) > limit:
        last = shown[-1].at_us
        same = sum(row.at_us == last for row in shown)
        place = f"{last}-{same + skipped if after and _place_of(after)[0] == last else same}"
    return Page(entries_of(shown), place)


def export_trail(principal: Principal, organisation: Organisation, wanted: Wanted, *, form: str) -> list[Entry]:
    """Everything that is wanted, oldest first; that it was taken out is on record.

    The right is asked for with each portion, so that an export ends with the right to it. Raises NotPermitted, and
    BadInput where it is more than one file should hold.
    """
    entries: list[Entry] = []
    for portion in _portions(principal, organisation, wanted):
        entries += portion
        if len(entries) > MAX_EXPORT:
            raise BadInput(code="too_many", path="$.until", problem=f"more than {MAX_EXPORT} events: name a period")
    access.require(principal, organisation, Right.READ_AUDIT)
    facts = {"what": "audit", "form": form, "rows": len(entries), **wanted.told()}
    record_access(organisation.pk, "export.made", actor=actor_of(principal), facts=facts)
    return entries


def require_trail(principal: Principal, organisation: Organisation) -> None:
    """Raises NotPermitted, which is recorded where the organisation is in sight."""
    try:
        access.require(principal, organisation, Right.READ_AUDIT)
    except NotPermitted:
        facts = {"right": Right.READ_AUDIT.value}
        record_access(organisation.pk, "access.refused", actor=actor_of(principal), facts=facts)
        raise


def entries_of(rows: Sequence[AuditEvent]) -> list[Entry]:
    """One query for the cases' names."""
    ids = {row.case_id for row in rows if row.case_id is not None}
    names = {key: (public, ticket) for key, public, ticket in _names(ids)}
    return [_entry(row, *names.get(row.case_id or 0, ("", ""))) for row in rows]


def _portions(principal: Principal, organisation: Organisation, wanted: Wanted) -> Iterator[list[Entry]]:
    moment, key = -1, 0
    while True:
        rows = list_trail(principal, organisation, wanted)
        later = Q(at_us__gt=moment) | Q(at_us=moment, pk__gt=key)
        found = list(rows.filter(later, at_us__gte=moment).order_by("at_us", "pk")[:PORTION])
        if found:
            yield entries_of(found)
            moment, key = found[-1].at_us, found[-1].pk
        if len(found) < PORTION:
            return


def _named(organisation: Organisation, name: str) -> QuerySet[Case]:
    cases = Case.objects.filter(organisation=organisation)
    if PUBLIC_ID.fullmatch(name.upper()):
        return cases.filter(public_id=name.upper())
    try:
        return cases.filter(external_id_normal=normalise_external_id(name))
    except BadInput:
        return cases.none()


def _names(ids: set[int]) -> QuerySet[Case, tuple[int, str, str]]:
    return Case.objects.filter(pk__in=ids).values_list("pk", "public_id", "external_id")


def _entry(row: AuditEvent, case: str, external_id: str) -> Entry:
    body = facts_of(row.body)
    link = getattr(row, "link", None)
    return Entry(
        at=row.at,
        case=case,
        external_id=external_id,
        number=row.seq if row.case_id is not None else link.seq if link else None,
        kind=row.kind,
        actor_kind=row.actor_kind,
        actor=body["actor"]["name"],
        from_state=row.from_state,
        to_state=row.to_state,
        version=row.version,
        facts=masked(body["facts"]),
        hash=bytes(row.hash if row.case_id is not None else link.hash if link else b"").hex(),
    )


def _place_of(after: str) -> tuple[int, int]:
    if not PLACE.fullmatch(after):
        raise BadInput(code="wrong_format", path="$query.after", problem="a place from a page before is needed")
    moment, _, skipped = after.partition("-")
    return int(moment), int(skipped)


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
