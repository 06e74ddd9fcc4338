"""Taking a case to oneself, handing it over, letting it go, and writing a note beside it (design §9: supply data).

A hold tells colleagues that somebody is at it; it stops neither them nor the machines, and it ends by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Max, QuerySet

from accounts import access
from accounts.models import Person
from accounts.principal import Principal, actor_of, actor_of_person
from caseflow.domain.errors import BadInput, CaseIsClosed, HeldByAnother
from caseflow.domain.lifecycle import CLOSED
from caseflow.domain.roles import Right

from .advancing import record_event
from .models import Hold, Note
from .pausing import CLOCK
from .personal import store_texts
from .rows import CaseRow, database_now, lock_case

HOLD = timedelta(hours=1)  #: until it ends by itself
MAX_NOTE = 4000  #: characters


@dataclass(frozen=True, slots=True)
class Held:
    """The live hold; `created` is false where the same person held it already and it only lasts longer now."""

    hold: Hold
    created: bool


def live_holds() -> QuerySet[Hold]:
    """Not ended, and not past their end by the database's clock, with their persons."""
    return Hold.objects.filter(ended_at=None, until__gt=CLOCK).select_related("person", "given_by")


def find_hold(case_id: int) -> Hold | None:
    """Who has the case now; one query."""
    return live_holds().filter(case_id=case_id).first()


def holders_of(case_ids: Iterable[int]) -> dict[int, Hold]:
    """Case → its live hold; one query."""
    return {hold.case_id: hold for hold in live_holds().filter(case_id__in=list(case_ids))}


def list_notes(case_id: int) -> QuerySet[Note]:
    """The newest first; one query. Their words are personal texts."""
    return Note.objects.filter(case_id=case_id).order_by("-number")


@transaction.atomic
def hold_case(*, case_id: int, person: Person) -> Held:
    """Take an open case; the holder takes it anew and it lasts longer.

    Raises NotPermitted, CaseIsClosed(state) and HeldByAnother(person, until).
    """
    case, now = _locked(case_id, person)
    held = _live(case_id, now)
    if held is not None and held.person_id != person.pk:
        raise HeldByAnother(person=held.person.get_full_name(), until=held.until.isoformat())
    if held is not None:
        Hold.objects.filter(pk=held.pk).update(until=now + HOLD)
        held.until = now + HOLD
        return Held(held, created=False)
    return Held(_write(case, "hold.taken", holder=person, by=person, now=now), created=True)


@transaction.atomic
def hand_over(*, case_id: int, to: Person, person: Person) -> Hold:
    """Give an open case to somebody who may work on it too, whoever had it. To oneself it is a take-over, on record.

    Raises NotPermitted, CaseIsClosed(state), and BadInput where `to` has no right to it.
    """
    case, now = _locked(case_id, person)
    if not access.has_right(to, case.organisation_id, Right.SUPPLY_DATA):
        raise BadInput(code="unknown_holder", path="$.to", problem="this person may not work on the case")
    _end(case_id, now)
    return _write(case, "hold.handed_over", holder=to, by=person, now=now)


@transaction.atomic
def release_case(*, case_id: int, person: Person) -> bool:
    """Let go of a case one holds; whether it was held.

    Raises NotPermitted, CaseIsClosed(state) and HeldByAnother(person, until).
    """
    case, now = _locked(case_id, person)
    held = _live(case_id, now)
    if held is None:
        return False
    if held.person_id != person.pk:
        raise HeldByAnother(person=held.person.get_full_name(), until=held.until.isoformat())
    _end(case_id, now)
    record_event(case, "hold.released", actor=actor_of_person(person))
    return True


@transaction.atomic
def add_note(*, case_id: int, text: Any, principal: Principal) -> Note:
    """Write a note beside a case, open or closed. Raises BadInput, NotPermitted and Purged."""
    words = _checked_note(text)
    case = lock_case(case_id)
    access.require(principal, case.organisation_id, Right.SUPPLY_DATA)
    now, actor = database_now(), actor_of(principal)
    last = Note.objects.filter(case_id=case_id).aggregate(last=Max("number"))["last"] or 0
    field = f"note.{last + 1}"
    store_texts(case_id, {field: words}, at=now)
    note = Note.objects.create(
        case_id=case_id,
        number=last + 1,
        field=field,
        by_kind=actor.kind,
        by_id=actor.id,
        by_name=actor.name[:150],
        at=now,
    )
    record_event(case, "note.added", actor=actor, facts={"note_field": field})
    return note


def _locked(case_id: int, person: Person) -> tuple[CaseRow, datetime]:
    case = lock_case(case_id)
    access.require(person, case.organisation_id, Right.SUPPLY_DATA)
    if case.state in CLOSED:
        raise CaseIsClosed(state=case.state.value)
    return case, database_now()


def _live(case_id: int, now: datetime) -> Hold | None:
    return Hold.objects.filter(case_id=case_id, ended_at=None, until__gt=now).select_related("person").first()


def _end(case_id: int, now: datetime) -> None:
    """One that ended by itself ended then, whenever it is noticed."""
    Hold.objects.filter(case_id=case_id, ended_at=None, until__lte=now).update(ended_at=F("until"))
    Hold.objects.filter(case_id=case_id, ended_at=None).update(ended_at=now)


def _write(case: CaseRow, kind: str, *, holder: Person, by: Person, now: datetime) -> Hold:
    _end(case.id, now)
    hold = Hold.objects.create(
        case_id=case.id, person=holder, given_by=by if kind == "hold.handed_over" else None, at=now, until=now + HOLD
    )
    facts = {"until": hold.until, "holder": holder.get_full_name(), "holder_id": holder.pk}
    record_event(case, kind, actor=actor_of_person(by), facts=facts)
    return hold


def _checked_note(text: Any) -> str:
    if not isinstance(text, str):
        raise BadInput(code="wrong_type", path="$.text", problem="text is needed")
    if not text.strip():
        raise BadInput(code="empty", path="$.text", problem="a note needs words")
    if len(text) > MAX_NOTE:
        raise BadInput(code="too_long", path="$.text", problem=f"longer than {MAX_NOTE} characters")
    if "\x00" in text:
        raise BadInput(code="nul", path="$.text", problem="a NUL character")
    return text.strip()
