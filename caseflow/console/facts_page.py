"""Every reading of every fact: value, source, moment, how fresh it is, and which proposals stand on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from accounts.models import Person
from approvals.models import Proposal
from caseflow.domain.recovery import Kind
from cases.models import Case, Observation, Task
from cases.models.task import LIVE
from cases.selectors import get_intake
from operations.selectors import choices_for

from . import vocabulary, words
from .case_page import Value, value_of

READINGS = 500  #: the newest of a case
#: Stages that read the facts.
READS = ("observe", "look", "recheck")


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading. `newest` of its fact; `outdated`: it was read for data that was corrected since."""

    pk: int
    observed_at: datetime
    call_id: str
    values: Sequence[Value]
    newest: bool
    outdated: bool
    used_by: Sequence[tuple[int, str]]  #: (number, public id) of proposals


@dataclass(frozen=True, slots=True)
class FactShown:
    """One fact with its readings, newest first."""

    name: str
    label: str
    source: str
    readings: Sequence[Reading]

    @property
    def newest(self) -> Reading:
        return self.readings[0]


@dataclass(frozen=True, slots=True)
class NextReading:
    """When the facts are read again by themselves; `error` is why the last try did not succeed."""

    stage: str
    at: datetime
    attempts: int
    error: str


@dataclass(frozen=True, slots=True)
class FactsPage:
    facts: Sequence[FactShown]
    next: NextReading | None
    may_read_again: bool
    complete: bool


def gather(case: Case, person: Person) -> FactsPage:
    """A fixed number of queries, however often the facts were read."""
    rows = list(Observation.objects.filter(case=case).order_by("-id")[:READINGS])
    revision = get_intake(case.pk).revision
    used: dict[int, list[tuple[int, str]]] = {}
    plans = Proposal.objects.filter(case=case).order_by("number").values_list("number", "public_id", "observations")
    for number, public_id, observations in plans:
        for pk in observations:
            used.setdefault(pk, []).append((number, public_id))
    by_name: dict[str, list[Observation]] = {}
    for row in rows:
        by_name.setdefault(row.name, []).append(row)
    return FactsPage(
        facts=[_fact(name, of_one, used, revision) for name, of_one in sorted(by_name.items())],
        next=_next(case),
        may_read_again=Kind.OBSERVE_AGAIN in choices_for(person, case).kinds,
        complete=len(rows) < READINGS,
    )


def _fact(
    name: str, rows: Sequence[Observation], used: Mapping[int, Sequence[tuple[int, str]]], revision: int
) -> FactShown:
    readings = [
        Reading(
            pk=row.pk,
            observed_at=row.observed_at,
            call_id=row.call_id,
            values=[
                value_of(vocabulary.part_label(key), f"{name}.{key}", found, personal=f"fact.{name}.{key}")
                for key, found in row.value.items()
            ],
            newest=place == 0,
            outdated=row.intake_revision < revision,
            used_by=used.get(row.pk, ()),
        )
        for place, row in enumerate(rows)
    ]
    return FactShown(name, vocabulary.fact_label(name), vocabulary.system_label(rows[0].source), readings)


def _next(case: Case) -> NextReading | None:
    tasks = Task.objects.filter(case=case, stage__in=READS, status__in=LIVE, generation=case.version)
    task = tasks.order_by("available_at", "id").first()
    if task is None:
        return None
    stage = str(words.STAGES.get(task.stage, task.stage))
    return NextReading(stage, task.available_at, task.attempt, task.last_error)
