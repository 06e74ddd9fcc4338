"""Who works on a case now, whom it can be handed to, and the notes beside it (console.md §1, 16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts import access
from accounts.models import Person
from caseflow.domain.lifecycle import OPEN
from caseflow.domain.roles import Right
from cases.holding import find_hold, list_notes
from cases.models import Case, Hold, Note

NOTES = 20  #: the newest


@dataclass(frozen=True, slots=True)
class Hands:
    """`colleagues` may be given the case; nobody where this reader may not hand it over."""

    hold: Hold | None
    notes: Sequence[Note]
    colleagues: Sequence[Person]
    is_open: bool
    is_mine: bool
    may_work: bool

    @property
    def may_take(self) -> bool:
        return self.may_work and self.is_open and (self.hold is None or self.is_mine)

    @property
    def may_take_over(self) -> bool:
        return self.may_work and self.is_open and self.hold is not None and not self.is_mine

    @property
    def may_release(self) -> bool:
        return self.may_work and self.is_open and self.is_mine

    @property
    def may_hand_over(self) -> bool:
        return self.may_work and self.is_open


def hands_on(case: Case, person: Person, rights: frozenset[Right]) -> Hands:
    """Two queries, and one more for who may work on the case."""
    is_open, may_work = case.state in OPEN, Right.SUPPLY_DATA in rights
    hold = find_hold(case.pk)
    colleagues: Sequence[Person] = ()
    if is_open and may_work:
        able = access.persons_with_right(case.organisation_id, Right.SUPPLY_DATA)
        colleagues = list(able.exclude(pk=person.pk).order_by("name", "username"))
    return Hands(
        hold=hold,
        notes=list(list_notes(case.pk)[:NOTES]),
        colleagues=colleagues,
        is_open=is_open,
        is_mine=hold is not None and hold.person_id == person.pk,
        may_work=may_work,
    )
