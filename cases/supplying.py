"""Data supplied to an open case: a new intake revision, and the event that moves a waiting case on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from accounts.principal import Actor
from caseflow.domain.errors import BadInput, StaleCase
from caseflow.domain.lifecycle import Event, State

from .advancing import advance_case, record_event
from .bell import ring_after_commit
from .models import IntakeRevision
from .personal import digest_of_personal, read_texts, store_texts
from .publishing import publish
from .revisions import checked_intake, split_personal
from .rows import CaseRow, lock_case
from .settling import started_by

#: States in which supplied data moves the case; elsewhere it is recorded and the operator told.
MOVED_BY_DATA = frozenset({State.WAITING_DATA, State.WAITING_APPROVAL})

#: States in which the facts are still to be read, or are read again before anything is proposed.
CHECKED_AGAIN = frozenset({State.RECEIVED, State.CHECKING})


@dataclass(frozen=True, slots=True)
class Revision:
    """What a new intake revision would hold: `body` with references, the personal texts of what was given."""

    number: int
    body: Mapping[str, Any]
    digest: str
    personal: Mapping[str, str]
    subject: str
    fields: Sequence[str]

    @property
    def facts(self) -> dict[str, Any]:
        return {"revision": self.number, "fields": list(self.fields)}


@dataclass(frozen=True, slots=True)
class Supplied:
    """The number of the new revision, and whether it moved the case."""

    revision: int
    moved: bool
    case: CaseRow


def supply_data(*, case_id: int, data: Any, actor: Actor, seen_revision: int | None = None) -> Supplied:
    """Append a revision that changes the given intake fields. Data that changes nothing is not recorded again.

    A waiting case goes back to CHECKING, and a case being checked reads again; in any other state the data is recorded
    and moves nothing. Raises BadInput(code, path, problem), and StaleCase where somebody supplied data after
    `seen_revision`.
    """
    with transaction.atomic():
        case = lock_case(case_id)
        revision = next_revision(case, data, seen_revision=seen_revision)
        if isinstance(revision, int):
            return Supplied(revision, False, case)
        moved = case.state in MOVED_BY_DATA
        if moved:
            written = advance_case(
                case, Event.DATA_RECEIVED, actor=actor, facts=revision.facts, sets={"subject": revision.subject}
            )
        else:
            # A case being checked is read again for this revision; a plan on its way keeps the one it was made from.
            sets = {"subject": revision.subject} if case.state in CHECKED_AGAIN else {}
            facts = revision.facts | {"state": case.state}
            written = record_event(case, "data.recorded", actor=actor, facts=facts, sets=sets)
        store_revision(case, revision, actor=actor, at=written.at)
        if moved:
            transition = case.definition.table.get(case.state, Event.DATA_RECEIVED)
            publish(written.case, started_by(transition.starts, []))
            ring_after_commit()
        return Supplied(revision.number, moved, written.case)


def next_revision(case: CaseRow, data: Any, *, seen_revision: int | None = None) -> Revision | int:
    """The intake as `data` would change it, or the present revision's number where it changes nothing.

    The caller holds the case. Raises BadInput and StaleCase.
    """
    if not isinstance(data, Mapping):
        raise BadInput(code="wrong_type", path="$.data", problem="an object with intake fields is needed")
    if not data:
        raise BadInput(code="empty", path="$.data", problem="at least one field is needed")
    process = case.definition
    if not process.from_outside:
        raise BadInput(code="not_from_outside", path="$.data", problem="what such a case is about cannot be changed")
    unknown = sorted(set(data) - set(process.Intake.model_fields))
    if unknown:
        raise BadInput(code="unknown_field", path=f"$.data.{unknown[0]}", problem="this process has no such field")
    newest = IntakeRevision.objects.filter(case_id=case.id).latest("number")
    if seen_revision is not None and seen_revision != newest.number:
        raise StaleCase(seen=f"intake {seen_revision}", current=f"intake {newest.number}")
    references = {name: value["personal"] for name, value in newest.body.items() if isinstance(value, dict)}
    texts = read_texts(case.id, list(references.values()))
    present = newest.body | {name: texts[field] for name, field in references.items()}
    intake = checked_intake(process, present | dict(data), path="$.data")
    if intake == present:
        return newest.number
    body, personal = split_personal(process, {name: intake[name] for name in data})
    return Revision(
        number=newest.number + 1,
        body=newest.body | body,
        digest=digest_of_personal(intake),
        personal=personal,
        subject=process.subject(intake)[:200],
        fields=sorted(data),
    )


def store_revision(case: CaseRow, revision: Revision, *, actor: Actor, at: datetime) -> None:
    """Append it with its personal texts; the caller holds the case and has told the history."""
    store_texts(case.id, revision.personal, at=at)
    IntakeRevision.objects.create(
        case_id=case.id,
        number=revision.number,
        body=revision.body,
        digest=revision.digest,
        told_by_kind=actor.kind,
        told_by_id=actor.id,
        told_by_person=actor.person_id,
        at=at,
    )
