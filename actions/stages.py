"""The stages of this room, and what it tells the room below about earlier effects."""

from __future__ import annotations

from approvals.proposing import provide_effects
from caseflow.domain.process import Effect
from cases.stages import Stage, register

from . import notifying, reconciling
from .executing import execute, give_up_plan, load_execute
from .models import Action, ActionKind


def effects_of_case(case_id: int) -> tuple[Effect, ...]:
    """The effects of a case, oldest first."""
    rows = Action.objects.filter(case_id=case_id, kind=ActionKind.EFFECT).order_by("id")
    return tuple(Effect(row.public_id, row.system, row.operation, row.subject, row.status) for row in rows)


provide_effects(effects_of_case)
register(Stage("execute", execute, load=load_execute, give_up=give_up_plan))
register(
    Stage(
        "reconcile",
        reconciling.reconcile,
        load=reconciling.load_reconcile,
        policy=reconciling.POLICY,
        give_up=give_up_plan,
    )
)
register(Stage("notify", notifying.notify, load=notifying.load_notice, policy=notifying.POLICY))
