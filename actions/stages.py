"""The stages of this room, and what it tells the room below about earlier effects."""

from __future__ import annotations

from approvals.proposing import provide_effects
from cases.stages import Stage, register

from . import notifying, reconciling
from .executing import execute, load_execute
from .giving_up import give_up_plan, settle_exhausted
from .planned import ask_for_notice
from .undoing import effects_of_case

provide_effects(effects_of_case)
register(Stage("execute", execute, load=load_execute, give_up=give_up_plan, exhausted=settle_exhausted))
register(
    Stage(
        "reconcile",
        reconciling.reconcile,
        load=reconciling.load_reconcile,
        policy=reconciling.POLICY,
        give_up=give_up_plan,
        exhausted=settle_exhausted,
    )
)
# A notice does not carry its case: exhausted, it is settled by what is known of it, and the others go on.
register(
    Stage(
        "notify",
        notifying.notify,
        load=ask_for_notice,
        policy=notifying.POLICY,
        exhausted=notifying.settle_exhausted,
        carries=False,
    )
)
