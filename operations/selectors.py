"""Reading recoveries for both faces: what was ordered, what came of it, and what may be ordered now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from accounts import access
from accounts.models import Person
from accounts.principal import Principal
from actions.standing import Seen, look_at
from caseflow.domain.recovery import RULES, Kind, possible
from caseflow.domain.roles import Right
from cases.models import Case
from cases.rows import CaseRow

from .models import Recovery


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person may order for a case as it is now."""

    kinds: Sequence[Kind]
    may_authorise: bool
    seen: Seen


def list_recoveries(case_id: int) -> QuerySet[Recovery]:
    """The recoveries of a case with persons and actions, oldest first; one query."""
    rows = Recovery.objects.filter(case_id=case_id)
    return rows.select_related("case", "action", "asked_by", "authorised_by").order_by("id")


def get_recovery(principal: Principal, public_id: str) -> Recovery:
    """One recovery in sight; one query. Raises NotFound."""
    rows = Recovery.objects.select_related("case__organisation", "action", "asked_by", "authorised_by")
    return access.get_visible(rows, public_id, principal, Right.SEE_CASES)


def choices_for(person: Person, case: Case) -> Choices:
    """Six queries. For a page: `order_recovery` checks everything again, under the case's lock."""
    rights = access.rights_in(person, case.organisation_id)
    row = CaseRow.of_case(case)
    seen = look_at(row)
    kinds = [kind for kind in possible(seen.standing, row.definition.table) if rights.issuperset(RULES[kind].rights)]
    return Choices(kinds, Right.AUTHORISE_RECOVERY in rights, seen)
