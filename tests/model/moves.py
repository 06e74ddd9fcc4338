"""Everything that may happen next, in any order: dispatchers, queue, workers, the outside system, time, persons."""

from __future__ import annotations

from collections.abc import Iterator

from caseflow.domain.lifecycle import State

from .claiming import claim
from .draft import Draft
from .people import people_moves
from .rules import IN_DOUBT
from .states import IDLE, Action, Setting, Task, World
from .working import Move, apply, worker_moves


def moves(world: World, setting: Setting) -> Iterator[Move]:
    """(what happens, "machine" | "fault" | "person", the world after it)."""
    yield from worker_moves(world, setting)
    for task in world.tasks:
        yield from _bell(world, setting, task)
    yield from _outside(world, setting)
    yield from people_moves(world, setting)


def _bell(world: World, setting: Setting, task: Task) -> Iterator[Move]:
    """Mark and commit, ring, deliver (cases/dispatching.py); a message is only a bell."""
    about = f"{task.stage} of case {task.case + 1}"
    draft = Draft(world, setting)
    abandoned = task.leased and task.lapsed
    due = not task.leased and not world.paused
    free = sum(other.bell == "marked" for other in world.tasks) < setting.bounds.dispatchers
    if (task.bell == "" and due) or (
        setting.protections.ring_again and (task.bell == "lost" or (abandoned and not task.bell))
    ):
        if free:
            draft.set_task(task.id, bell="marked")
            yield f"a dispatcher marks {about}", "machine", draft.frozen()
    elif task.bell == "marked":
        draft.set_task(task.id, bell="sent")
        yield f"a dispatcher rings for {about}", "machine", draft.frozen()
        if world.left.crashes:
            draft = Draft(world, setting)
            draft.spend("crashes")
            draft.set_task(task.id, bell="lost")
            yield f"a dispatcher dies before it rings for {about}", "fault", draft.frozen()
    elif task.bell == "sent":
        yield from _message(world, setting, task, about)
    if task.echo and IDLE in world.workers:
        draft = Draft(world, setting)
        draft.set_task(task.id, echo=False)
        claim(draft, world.workers.index(IDLE), task.id)
        yield f"the second copy of the message for {about} arrives", "machine", draft.frozen()


def _message(world: World, setting: Setting, task: Task, about: str) -> Iterator[Move]:
    if world.left.drops:
        draft = Draft(world, setting)
        draft.spend("drops")
        draft.set_task(task.id, bell="lost")
        yield f"the message for {about} is lost", "fault", draft.frozen()
    if IDLE not in world.workers:
        return
    me = world.workers.index(IDLE)
    draft = Draft(world, setting)
    claim(draft, me, task.id)
    yield f"a worker claims {about}", "machine", draft.frozen()
    if world.left.repeats:
        draft = Draft(world, setting)
        draft.spend("repeats")
        draft.set_task(task.id, echo=True)
        claim(draft, me, task.id)
        yield f"a worker claims {about}; the message will come once more", "fault", draft.frozen()


def _outside(world: World, setting: Setting) -> Iterator[Move]:
    for place, (key, _) in enumerate(world.flying):
        if key in world.flying[:place]:
            continue
        rest = (*world.flying[:place], *world.flying[place + 1 :])
        draft = Draft(world, setting)
        draft.flying = rest
        apply(draft, key)
        yield "a late request arrives: applied", "machine", draft.frozen()
        draft = Draft(world, setting)
        draft.flying = rest
        yield "a late request is lost on its way", "machine", draft.frozen()
    if world.good and world.left.changes:
        draft = Draft(world, setting)
        draft.spend("changes")
        draft.good = False
        yield "a fact changes outside", "fault", draft.frozen()
    for index, case in enumerate(world.cases):
        if world.left.lapses and case.state is State.EXECUTING and case.approved and not case.begun:
            draft = Draft(world, setting)
            draft.spend("lapses")
            draft.set_case(index, approved=0)
            yield f"the approval of case {index + 1} may not be used any more", "machine", draft.frozen()
    for action in world.actions:
        if action.status in IN_DOUBT:
            yield from _time(world, setting, action)


def _time(world: World, setting: Setting, action: Action) -> Iterator[Move]:
    """Promises that end: how long a request may still land, how long a key lives."""
    newest = setting.protections.wait_for_newest_call
    if action.waited < 2 and not _may_land(world, action, first_only=False):
        draft = Draft(world, setting)
        draft.set_action(action.case, action.number, waited=2)
        yield "nothing of it can land any more", "machine", draft.frozen()
    elif action.waited == 0 and not newest and not _may_land(world, action, first_only=True):
        draft = Draft(world, setting)
        draft.set_action(action.case, action.number, waited=1)
        yield "its first call cannot land any more", "machine", draft.frozen()
    if setting.outside.honours_keys and action.sent and not action.aged:
        draft = Draft(world, setting)
        draft.set_action(action.case, action.number, aged=True)
        yield "its key has reached the end of its life", "machine", draft.frozen()
    if action.aged and action.waited == 2 and world.known and not _about_to_repeat(world, action):
        draft = Draft(world, setting)
        draft.known = tuple(key for key in world.known if (key.case, key.number) != (action.case, action.number))
        if draft.known != world.known:
            yield "the outside system forgets its key", "machine", draft.frozen()


def _about_to_repeat(world: World, action: Action) -> bool:
    """An adapter declares a life that ends well before the system forgets: longer before than any stage may last."""
    for worker in world.workers:
        if (
            (worker.repeat or worker.young)
            and worker.holds
            and (worker.case, worker.subject) == (action.case, action.number)
        ):
            return any(task.id == worker.task and not task.lapsed for task in world.tasks)
    return False


def _may_land(world: World, action: Action, *, first_only: bool) -> bool:
    """A request is under way, or a worker that is not asleep is about to send one."""
    for key, first in world.flying:
        if (key.case, key.number) == (action.case, action.number) and (first or not first_only):
            return True
    for worker in world.workers:
        if worker.at not in ("begun", "flying") or (worker.case, worker.subject) != (action.case, action.number):
            continue
        if first_only and not worker.first:
            continue
        lapsed = any(task.id == worker.task and task.lapsed for task in world.tasks)
        if worker.at == "flying" or (worker.holds and not lapsed):
            return True
    return False
