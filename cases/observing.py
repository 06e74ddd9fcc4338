"""Reading facts from outside systems, and keeping each reading (never overwritten; personal values apart)."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, QuerySet
from django.db.models.functions import JSONObject

from caseflow.domain.outcomes import Fact
from caseflow.domain.process import Process, is_personal, value_at
from caseflow.statements import Kept, Question, Row, Values, soon
from integrations.registry import get_adapter

from .models import IntakeRevision, Observation
from .personal import Sealer, digest_of_personal, store_texts, storing_texts


@dataclass(frozen=True, slots=True)
class Readings:
    """Facts of one moment: open values by name, personal texts by field, and the readings themselves."""

    facts: Mapping[str, Mapping[str, Any]]
    texts: Mapping[str, str]
    readings: tuple[Fact, ...]
    revision: int  #: of the intake that said what to read


@dataclass(frozen=True, slots=True)
class Known:
    """What a reading starts from: the newest intake, personal fields as references, and the case's wrapped key."""

    intake: Mapping[str, Any]
    revision: int
    wrapped_key: bytes | memoryview | None


_KNOWN = Kept(
    lambda case_id: (
        IntakeRevision.objects.filter(case_id=case_id)
        .order_by("-number")
        .values_list("body", "number", "case__data_key__wrapped")[:1]
    )
)


def ask_what_is_known(case_id: int) -> Question:
    """`Known`, for a stage that will read and store."""
    return Question(*_KNOWN.of(case_id), _known_of)


def _known_of(rows: Sequence[Row]) -> Known:
    ((body, number, wrapped),) = rows
    return Known(json.loads(body), number, wrapped)


def read_now(
    process: Process, intake: Mapping[str, Any], names: Iterable[str] | None = None, *, revision: int
) -> Readings:
    """Ask the outside systems; no transaction is open. Raises ReadFailed for the first that does not serve us."""
    wanted = set(names) if names is not None else {source.name for source in process.facts}
    facts: dict[str, dict[str, Any]] = {}
    texts: dict[str, str] = {}
    readings: list[Fact] = []
    for source in process.facts:
        if source.name not in wanted:
            continue
        call_id = str(uuid4())
        value = get_adapter(source.system).read(source.name, str(intake[source.subject]), call_id=call_id)
        value, personal = _without_personal(process, source.name, value)
        facts[source.name] = value
        texts |= personal
        readings.append(Fact(source.name, value, source.system, datetime.now(UTC), call_id))
    return Readings(facts, texts, tuple(readings), revision)


_STORE = """
INSERT INTO cases_observation (case_id, name, value, source, observed_at, call_id, intake_revision)
SELECT %s, r.name, r.value, r.source, coalesce(%s::timestamptz, now()) - r.age * interval '1 second', r.call_id,
       r.intake_revision
FROM jsonb_to_recordset(%s::jsonb) AS r(name text, value jsonb, source text, age float8, call_id text,
                                        intake_revision int)
RETURNING name, id
"""


def keep_readings(
    case_id: int, *several: Readings, at: datetime, known: Container[str] = (), sealer: Sealer | None = None
) -> None:
    """Append the readings; they leave with the next statement. Personal texts whose keyed digest is `known` are stored
    already.

    `at` is the database's moment: a reading is dated by it and by its age, for this process's clock may be wrong.
    """
    store_texts(case_id, _texts(several, known), at=at, sealer=sealer)
    soon(*_storing(case_id, several, at))


def storing_readings(case_id: int, readings: Readings, sealer: Callable[[], Sealer]) -> list[tuple[str, Values]]:
    """The same as statements with their values, for whoever begins a transaction with them: a reading is as old as it
    was then. The last one answers with the facts' names and the ids of their readings."""
    texts = _texts([readings], ())
    storing = [storing_texts(case_id, texts, at=None, sealer=sealer())] if texts else []
    return [*storing, _storing(case_id, [readings], None)]


def _texts(several: Sequence[Readings], known: Container[str]) -> dict[str, str]:
    return {
        f"fact.{path}": text
        for readings in several
        for path, text in readings.texts.items()
        if value_at(readings.facts, path)["digest"] not in known
    }


def _storing(case_id: int, several: Sequence[Readings], at: datetime | None) -> tuple[str, Values]:
    ours = datetime.now(UTC)
    rows = [
        {
            "name": fact.name,
            "value": dict(fact.value),
            "source": fact.source,
            "age": (ours - fact.observed_at).total_seconds(),
            "call_id": fact.call_id,
            "intake_revision": readings.revision,
        }
        for readings in several
        for fact in readings.readings
    ]
    return _STORE, [case_id, at, json.dumps(rows)]


def newest_observations(case_id: int) -> list[Observation]:
    """The newest reading of each fact, in one query."""
    return list(_newest(case_id))


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest reading of one fact, as far as a plan or a decision looks at it."""

    id: int
    name: str
    value: Mapping[str, Any]
    intake_revision: int

    @classmethod
    def of(cls, column: Sequence[str]) -> list[Newest]:
        return [cls(**json.loads(reading)) for reading in column]


def newest_within(case_id: int) -> ArraySubquery:
    """The newest reading of each fact as one column of another query; `Newest.of` reads it."""
    columns = {name: F(name) for name in ("id", "name", "value", "intake_revision")}
    return ArraySubquery(_newest(case_id).values(reading=JSONObject(**columns)))


def _newest(case_id: int) -> QuerySet[Observation]:
    return Observation.objects.filter(case_id=case_id).order_by("name", "-id").distinct("name")


def _without_personal(process: Process, name: str, value: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    shown, personal = dict(value), {}
    for key, text in value.items():
        path = f"{name}.{key}"
        if isinstance(text, str) and is_personal(process, path):
            personal[path] = text
            shown[key] = {"personal": f"fact.{path}", "digest": digest_of_personal(text)}
    return shown, personal
