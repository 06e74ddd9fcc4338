"""Reading cases for both faces. Each function says what it costs; personal values come out masked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case as CaseWhen
from django.db.models import QuerySet, Value, When
from django.db.models.functions import Now

from accounts import access
from accounts.principal import Principal
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.identifiers import normalise_external_id
from caseflow.domain.roles import Right

from .beats import BEAT_SILENCE
from .models import Attempt, Case, CaseKey, IntakeRevision, Observation, Task, WorkerBeat
from .models.task import LIVE

MAX_ENTRIES = 1000  #: newest rows of one kind in a case's history
MOVED_SINCE = 20  #: transitions told to somebody who looked at an earlier version

MASK: dict[str, bool] = {"masked": True}
ERASED: dict[str, bool] = {"erased": True}


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """What a list of cases is narrowed to; empty means any."""

    organisation: str = ""
    state: str = ""
    process: str = ""
    external_id: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class IntakeNow:
    """The newest intake revision, personal fields masked. `erased`: the case's personal texts were purged."""

    revision: int
    body: Mapping[str, Any]
    at: datetime
    erased: bool


@dataclass(frozen=True, slots=True)
class Happened:
    """One audit event of a case with its body read. `seq` is its number within the case."""

    seq: int
    at: datetime
    kind: str
    actor_kind: str
    actor_name: str
    from_state: str
    to_state: str
    version: int | None
    facts: Mapping[str, Any]


def list_cases(principal: Principal, wanted: CaseFilter | None = None) -> QuerySet[Case]:
    """The cases in sight, newest first; one query. Raises BadInput for an external id that cannot be one."""
    wanted = wanted or CaseFilter()
    rows = access.visible(Case.objects.select_related("organisation", "department"), principal, Right.SEE_CASES)
    narrowed = {
        "organisation__slug": wanted.organisation,
        "state": wanted.state,
        "process": wanted.process,
        "external_id_normal": wanted.external_id
        and normalise_external_id(wanted.external_id, path="$query.external_id"),
        "subject": wanted.subject,
    }
    return rows.filter(**{name: value for name, value in narrowed.items() if value}).order_by("-id")


def get_case(principal: Principal, public_id: str, right: Right = Right.SEE_CASES) -> Case:
    """One case in sight; one query. Raises NotFound."""
    return access.get_visible(Case.objects.select_related("organisation", "department"), public_id, principal, right)


def get_intake(case_id: int) -> IntakeNow:
    """What was told last; one query."""
    rows = IntakeRevision.objects.filter(case_id=case_id)
    number, body, at, key = rows.values_list("number", "body", "at", "case__data_key__case_id").latest("number")
    return IntakeNow(number, masked(body, erased=key is None), at, key is None)


def is_erased(case_id: int) -> bool:
    """Whether the case's personal texts were purged; one query."""
    return not CaseKey.objects.filter(case_id=case_id).exists()


def list_events(case_id: int, *, limit: int = MAX_ENTRIES) -> list[Happened]:
    """The newest events of a case in their order; one query."""
    rows = AuditEvent.objects.filter(case_id=case_id).order_by("-seq")[:limit]
    return [happened(row) for row in reversed(rows)]


def find_newest_event(case_id: int, kinds: Collection[str]) -> Happened | None:
    """The newest event of these kinds; one query."""
    row = AuditEvent.objects.filter(case_id=case_id, kind__in=kinds).order_by("-seq").first()
    return happened(row) if row else None


def events_since(case_id: int, version: int) -> list[dict[str, Any]]:
    """The transitions after `version` as primitives, oldest first, for somebody who looked too early; one query."""
    rows = AuditEvent.objects.filter(case_id=case_id, version__gt=version).order_by("version")[:MOVED_SINCE]
    return [
        {
            "number": row.seq,
            "event": row.kind,
            "from": row.from_state,
            "to": row.to_state,
            "version": row.version,
            "actor": happened(row).actor_name,
            "at": row.at.isoformat(),
        }
        for row in rows
    ]


def list_attempts(case_id: int, *, limit: int = MAX_ENTRIES) -> list[Attempt]:
    """The newest tries at the case's tasks, each with its task, in their order; one query."""
    rows = Attempt.objects.filter(task__case_id=case_id).select_related("task").order_by("-begun_at", "-id")[:limit]
    return list(reversed(rows))


def find_next_task(case_id: int, subject: str) -> Task | None:
    """The live task about one subject of a case that is due first; one query."""
    rows = Task.objects.filter(case_id=case_id, subject=subject, status__in=LIVE)
    return rows.order_by("available_at", "id").first()


def list_readings(case_id: int, name: str) -> QuerySet[Observation]:
    """Every reading of one fact, newest first; one query. `cases.observing.newest_observations` gives one of each."""
    return Observation.objects.filter(case_id=case_id, name=name).order_by("-id")


def list_beats() -> QuerySet[WorkerBeat]:
    """Every worker and dispatcher of the last day with its `state` by the database's clock; one query."""
    state = CaseWhen(
        When(stopped_at__isnull=False, then=Value(WorkerBeat.State.STOPPED)),
        When(beat_at__lt=Now() - BEAT_SILENCE, then=Value(WorkerBeat.State.SILENT)),
        When(is_live=False, then=Value(WorkerBeat.State.RED)),
        default=Value(WorkerBeat.State.LIVE),
    )
    return WorkerBeat.objects.annotate(state=state).order_by("name", "-beat_at")


def masked(value: Any, *, erased: bool = False) -> Any:
    """`value` with every reference to a personal text, `{"personal": …}`, replaced by `{"masked": true}`, or by
    `{"erased": true}` where the texts are gone."""
    if isinstance(value, Mapping):
        if "personal" in value:
            return dict(ERASED if erased else MASK)
        return {name: masked(item, erased=erased) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item, erased=erased) for item in value]
    return value


def happened(row: AuditEvent) -> Happened:
    """An event with its body read, personal values masked."""
    body = facts_of(row.body)
    return Happened(
        seq=row.seq or 0,
        at=row.at,
        kind=row.kind,
        actor_kind=row.actor_kind,
        actor_name=body["actor"]["name"],
        from_state=row.from_state,
        to_state=row.to_state,
        version=row.version,
        facts=masked(body["facts"]),
    )
