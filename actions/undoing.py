"""Compensation: an effect of its own that undoes an earlier one, with its own approval, id and key (design §4)."""

from __future__ import annotations

from typing import Any

from caseflow.domain.lifecycle import Outcome
from caseflow.domain.process import Effect, standing

from .models import Action, ActionKind


def effects_of_case(case_id: int) -> tuple[Effect, ...]:
    """The effects of a case, oldest first."""
    rows = Action.objects.filter(case_id=case_id, kind=ActionKind.EFFECT).select_related("undoes").order_by("id")
    return tuple(
        Effect(
            row.public_id,
            row.system,
            row.operation,
            row.subject,
            row.status,
            row.undoes.public_id if row.undoes else "",
        )
        for row in rows
    )


def outcome_of_undoing(case_id: int) -> dict[str, Any]:
    """What the end of an undoing sets: nothing where all is undone, `partial` where another effect still stands."""
    return {"outcome": Outcome.PARTIAL.value} if standing(effects_of_case(case_id)) else {}
