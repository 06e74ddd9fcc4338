"""Claim, with what a stage loads in the claim's transaction (cases/claiming.py, actions/planned.py)."""

from __future__ import annotations

from .draft import Draft
from .rules import claim_verdict
from .states import Action, Worker


def claim(draft: Draft, me: int, ident: int) -> None:
    """A message names the task; whatever the message says, the row decides."""
    task = draft.task(ident)
    if task is None or (task.leased and not task.lapsed):
        return
    verdict = claim_verdict(task, draft.paused, draft.protections)
    if verdict == "obsolete":
        draft.end_task(ident)
        return
    lost = task.lost + task.leased
    draft.take_from_others(ident)
    if verdict == "paused":
        draft.set_task(ident, leased=False, lapsed=False, lost=lost, bell="")
        return
    counted = verdict == "claimed"
    draft.set_task(ident, leased=True, lapsed=False, lost=lost, bell="", claims=task.claims + counted)
    begin_stage(draft, me, ident, exhausted=not counted)


def begin_stage(draft: Draft, me: int, ident: int, *, exhausted: bool = False) -> None:
    """The worker's memory as the claim leaves it."""
    task = draft.task(ident)
    assert task is not None
    worker = Worker(
        "claimed", ident, task.case, task.stage, task.subject, current=task.current, spent=task.claims - task.lost
    )
    if exhausted:
        draft.set_worker(me, worker._replace(exhausted=True))
        return
    if task.stage == "execute" and draft.protections.reserve_before_reading:
        reserve(draft, task.case, task.subject)
    if task.stage in ("execute", "reconcile"):
        worker = loaded(draft, worker)
    draft.set_worker(me, worker)


def reserve(draft: Draft, case: int, number: int) -> None:
    """Insert the PLANNED row, unless there is one or the subject is busy (actions/planned.py `_RESERVE`)."""
    if draft.action(case, number) is None and not draft.busy(case):
        draft.actions = tuple(sorted((*draft.actions, Action(case, number))))


def loaded(draft: Draft, worker: Worker) -> Worker:
    action = draft.action(worker.case, worker.subject)
    if action is None:
        status = "busy" if draft.protections.reserve_before_reading else "PLANNED"
        return worker._replace(status=status, stale=not draft.good)
    return worker._replace(
        status=action.status,
        sent=action.sent,
        accepted=action.accepted,
        doubt=action.unanswered,
        stale=not draft.good,
    )
