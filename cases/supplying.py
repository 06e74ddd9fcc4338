"""Data supplied to an open case: a new intake revision, and the event that moves a waiting case on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    if not isinstance(data, Mapping):
        raise BadInput(code="wrong_type", path="$.data", problem="an object with intake fields is needed")
    if not data:
        raise BadInput(code="empty", path="$.data", problem="at least one field is needed")
    with transaction.atomic():
        case = lock_case(case_id)
        process = case.definition
        unknown = sorted(set(data) - set(process.Intake.model_fields))
        if unknown:
            raise BadInput(code="unknown_field", path=f"$.data.{unknown[0]}", problem="this process has no such field")
        newest = IntakeRevision.objects.filter(case_id=case_id).latest("number")
        if seen_revision is not None and seen_revision != newest.number:
            raise StaleCase(seen=f"intake {seen_revision}", current=f"intake {newest.number}")
        references = {name: value["personal"] for name, value in newest.body.items() if isinstance(value, dict)}
        texts = read_texts(case_id, list(references.values()))
        present = newest.body | {name: texts[field] for name, field in references.items()}
        intake = checked_intake(process, present | dict(data), path="$.data")
        if intake == present:
            return Supplied(newest.number, False, case)
        supplied = {name: intake[name] for name in data}
        body, personal = split_personal(process, supplied)
        moved = case.state in MOVED_BY_DATA
        facts = {"revision": newest.number + 1, "fields": sorted(data)}
        if moved:
            written = advance_case(
                case, Event.DATA_RECEIVED, actor=actor, facts=facts, sets={"subject": process.subject(intake)[:200]}
            )
        else:
            # A case being checked is read again for this revision; a plan on its way keeps the one it was made from.
            sets = {"subject": process.subject(intake)[:200]} if case.state in CHECKED_AGAIN else {}
            written = record_event(case, "data.recorded", actor=actor, facts=facts | {"state": case.state}, sets=sets)
        store_texts(case_id, personal, at=written.at)
        IntakeRevision.objects.create(
            case_id=case_id,
            number=newest.number + 1,
            body=newest.body | body,
            digest=digest_of_personal(intake),
            told_by_kind=actor.kind,
            told_by_id=actor.id,
            told_by_person=actor.person_id,
            at=written.at,
        )
        if moved:
            transition = process.table.get(case.state, Event.DATA_RECEIVED)
            publish(written.case, started_by(transition.starts, []))
            ring_after_commit()
        return Supplied(newest.number + 1, moved, written.case)
