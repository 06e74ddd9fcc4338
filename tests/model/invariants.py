"""What must hold in every state, whatever happened before (design §13), and where a case may rest."""

from __future__ import annotations

from caseflow.domain.lifecycle import CLOSED, State

from .rules import IN_DOUBT
from .states import POLICY, Setting, World

MOST_CLAIMS = POLICY.limit + POLICY.infrastructure_limit  #: of one task
CARRIED = frozenset({State.RECEIVED, State.CHECKING, State.EXECUTING})  #: states in which a task carries the case
RESTING = CLOSED | {State.WAITING_APPROVAL, State.WAITING_DATA, State.NEEDS_ATTENTION}


def broken(world: World, setting: Setting) -> str:
    """The first invariant that does not hold, in words; "" when all do."""
    if world.wrong:
        return world.wrong
    if len(world.effects) > 1 and (found := _doubled(world)):
        return found
    for action in world.actions:
        applied = any((key.case, key.number) == (action.case, action.number) for key in world.effects)
        if action.status == "CONFIRMED" and not applied:
            return "an action is CONFIRMED and was never applied"
        if action.status in ("REFUSED", "CANCELLED") and applied:
            return f"an action is {action.status} and was applied"
        if action.status in IN_DOUBT and action.number < world.cases[action.case].number:
            return "there is a new plan while an effect of the plan before is open"
    for index, case in enumerate(world.cases):
        mine = [action.status for action in world.actions if action.case == index]
        if case.open != sum(status in IN_DOUBT for status in mine) or case.done != mine.count("CONFIRMED"):
            return "the guard columns of the case do not say what its actions are"
        if case.state is State.COMPLETED and "CONFIRMED" not in mine:
            return "a case is COMPLETED without a confirmed effect"
        if case.state in CARRIED and not any(task.case == index and task.current for task in world.tasks):
            return f"a case in {case.state.value} has no task that carries it"
    if any(task.claims > MOST_CLAIMS or task.claims - task.lost > POLICY.limit for task in world.tasks):
        return "a task was begun more often than its limits allow"
    return ""


def _doubled(world: World) -> str:
    plans = [(key.case, key.number) for key in world.effects]
    if len(set(world.effects)) < len(world.effects):
        return "two effects under one key"
    if len(set(plans)) < len(plans):
        return "two effects of one plan"
    return "two effects on one subject"


def at_rest(world: World) -> bool:
    """Every case is closed or waits for a person or a date; a pause waits for a person too."""
    return world.paused or all(case.state in RESTING for case in world.cases)
