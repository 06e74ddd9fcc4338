"""What persons may do, each in one transaction under the lock of the case.

Mirrors approvals/deciding.py, actions/withdrawing.py and cases/supplying.py. Pausing, closing and the orders to a case
that needs attention follow design §4 and §8.
"""

from __future__ import annotations

from collections.abc import Iterator

from caseflow.domain.lifecycle import Event, State

from .draft import Draft
from .rules import IN_DOUBT, MAX_RETURNS
from .states import Setting, World
from .working import Move


def people_moves(world: World, setting: Setting) -> Iterator[Move]:
    if world.paused:
        draft = Draft(world, setting)
        draft.paused = False
        yield "a person resumes", "person", draft.frozen()
    elif world.left.acts:
        draft = Draft(world, setting)
        draft.paused = True
        draft.spend("acts")
        yield "a person pauses", "fault", draft.frozen()
    for index, case in enumerate(world.cases):
        if case.state is State.WAITING_APPROVAL:
            yield from _decide(world, setting, index)
        if world.left.acts:
            yield from _act(world, setting, index)
        if world.left.closes:
            yield from _close(world, setting, index)
        if case.state is State.NEEDS_ATTENTION and world.left.recoveries:
            yield from _recover(world, setting, index)


def _decide(world: World, setting: Setting, index: int) -> Iterator[Move]:
    newest = world.cases[index].number
    # A form may have been open since an older plan; the refused decision changes nothing.
    seen = range(newest, newest + 1) if setting.protections.match_at_decision else range(1, newest + 1)
    for number in seen:
        draft = Draft(world, setting)
        if draft.advance(index, Event.QUORUM_REACHED, approved=number):
            draft.publish(index, "execute", newest)
            yield f"a person approves plan {number}", "person", draft.frozen()


def _act(world: World, setting: Setting, index: int) -> Iterator[Move]:
    case = world.cases[index]
    if case.state is State.WAITING_APPROVAL:
        often = case.returns + 1 >= MAX_RETURNS
        returned = Event.RETURNED_TOO_OFTEN if often else Event.RETURNED
        yield from _moved(world, setting, index, "rejects", Event.REJECTED_TO_CLOSE)
        yield from _moved(world, setting, index, "rejects, by hand", Event.REJECTED_TO_HAND)
        yield from _moved(world, setting, index, "returns the plan", returned, returns=case.returns + 1)
        yield from _moved(world, setting, index, "asks for data", Event.DATA_ASKED, follow="data_due")
    if case.state in (State.WAITING_APPROVAL, State.WAITING_DATA):
        yield from _moved(world, setting, index, "supplies data", Event.DATA_RECEIVED)
    if case.state is State.EXECUTING:
        yield from _withdraw(world, setting, index)


def _moved(
    world: World,
    setting: Setting,
    index: int,
    words: str,
    event: Event,
    *,
    follow: str = "",
    returns: int | None = None,
) -> Iterator[Move]:
    draft = Draft(world, setting)
    draft.spend("acts")
    sets = {} if returns is None else {"returns": returns}
    if draft.advance(index, event, **sets):
        if follow:
            draft.publish(index, follow)
        yield f"a person {words}", "fault", draft.frozen()


def _close(world: World, setting: Setting, index: int) -> Iterator[Move]:
    draft = Draft(world, setting)
    draft.spend("closes")
    draft.cancel_planned(index)
    if draft.advance(index, Event.CLOSED_BY_PERSON):
        yield "a person closes the case", "fault", draft.frozen()


def _withdraw(world: World, setting: Setting, index: int) -> Iterator[Move]:
    """The same plan is proposed again under the next number."""
    case = world.cases[index]
    if case.number >= setting.bounds.proposals:
        return
    draft = Draft(world, setting)
    draft.spend("acts")
    if setting.protections.withdraw_cancels_tasks:
        for task in world.tasks:
            if task.case == index and task.stage == "execute":
                draft.take_from_others(task.id)
                draft.end_task(task.id)
    draft.cancel_planned(index)
    if draft.advance(index, Event.WITHDRAWN, number=case.number + 1):
        draft.publish(index, "expire")
        yield "a person withdraws the approval", "fault", draft.frozen()


def _recover(world: World, setting: Setting, index: int) -> Iterator[Move]:
    case = world.cases[index]
    draft = Draft(world, setting)
    draft.spend("recoveries")
    if draft.advance(index, Event.OBSERVE_AGAIN):
        yield "a person asks to observe again", "fault", draft.frozen()
    action = draft.action(index, case.number)
    if action is None or action.status not in IN_DOUBT:
        return
    draft = Draft(world, setting)
    draft.spend("recoveries")
    if draft.advance(index, Event.RECONCILE_ORDERED):
        draft.publish(index, "reconcile", case.number)
        yield "a person orders to reconcile", "fault", draft.frozen()
    if case.reason == "not_applied":
        # The evidence is the look-up's; a second send then has a new plan and a new decision.
        draft = Draft(world, setting)
        draft.set_action(index, case.number, status="REFUSED")
        draft.set_case(index, open=case.open - 1, reason="")
        yield "a person accepts that it was not applied", "person", draft.frozen()
