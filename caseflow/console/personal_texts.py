"""What a page needs to show the place of a personal text: whether it may be shown, and whether it is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from accounts import access
from accounts.models import Person
from caseflow.domain.roles import Right
from cases.models import Case
from cases.selectors import is_erased


@dataclass(frozen=True, slots=True)
class Known:
    """As the tag `personal` asks for it."""

    may_reveal: bool
    erased: bool
    revealed: Mapping[str, str] = field(default_factory=dict)


def known_of(case: Case, person: Person) -> Known:
    """Two queries. The text itself is shown on the case's own page, after a press that is put on record."""
    return Known(access.has_right(person, case.organisation_id, Right.REVEAL), is_erased(case.pk))
