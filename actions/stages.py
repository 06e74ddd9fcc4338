"""The stages of this room, and what it tells the room below about earlier effects."""

from __future__ import annotations

from approvals.proposing import provide_effects
from cases.stages import Stage, register

from . import notifying, reconciling
from .executing import execute, give_up_plan, load_execute
from .undoing import effects_of_case

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
register(
    Stage(
        "notify",
        notifying.notify,
        load=notifying.load_notice,
        policy=notifying.POLICY,
        exhausted=notifying.settle_exhausted,
    )
)
