"""Every step a worker may take next: read, look up, begin, send, hear, settle; and what may befall it."""

from __future__ import annotations

from collections.abc import Iterator

from .claiming import reserve
from .draft import Draft
from .rules import IN_DOUBT, cannot_land, facts_hold, may_repeat, refuses_to_send, why_no_call
from .stages import settled
from .states import IDLE, Key, Setting, Worker, World

_WHO = {True: "worker on", False: "replaced worker on"}

Move = tuple[str, str, World]  #: what happened; "machine", "fault" or "person"; the world after it


def worker_moves(world: World, setting: Setting) -> Iterator[Move]:
    for me, worker in enumerate(world.workers):
        if worker is IDLE or worker.at == "idle" or (me and worker == world.workers[me - 1]):
            continue
        who = f"{_WHO[worker.holds]} {worker.stage}"
        for words, kind, after in _steps[worker.at](world, setting, me, worker):
            yield f"{who}: {words}", kind, after
        for words, kind, after in _misfortunes(world, setting, me, worker):
            yield f"{who}: {words}", kind, after


def _claimed(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    stage, status = worker.stage, worker.status
    reads = stage == "observe"
    if stage == "execute":
        reads = status == "PLANNED" or (status in IN_DOUBT and not setting.protections.look_up_first)
    elif stage == "reconcile":
        reads = status == "PLANNED"
    if worker.exhausted:
        yield f"settles that {stage} is exhausted", "machine", settled(world, setting, me)
    elif reads:
        repeat = worker.sent or stage == "reconcile"
        yield from _read(world, setting, me, worker._replace(repeat=repeat))
    elif stage == "reconcile" and status in IN_DOUBT and not worker.accepted and setting.outside.can_lookup:
        yield from _look_up(world, setting, me, worker)
    else:
        yield f"settles {stage}", "machine", settled(world, setting, me)


def _read(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    facts = facts_hold(world.good, bool(world.effects), setting.outside.effect_shows)
    if worker.stage != "observe" and not setting.protections.re_read:
        facts = True
    draft = Draft(world, setting)
    draft.set_worker(me, worker._replace(at="read", facts=facts))
    yield f"reads the facts: {'as in the plan' if facts else 'changed'}", "machine", draft.frozen()
    if world.left.losses:
        spent = world._replace(left=world.left._replace(losses=world.left.losses - 1))
        yield "cannot read the facts, settles the fault", "fault", settled(spent, setting, me, fault=True)


def _look_up(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    keys = world.known if setting.outside.honours_keys and setting.outside.lookup_forgets else world.effects
    found = any((key.case, key.number) == (worker.case, worker.subject) for key in keys)
    answer = "confirmed" if found else "not_applied"
    draft = Draft(world, setting)
    action = draft.action(worker.case, worker.subject)
    assert action is not None
    late, young = cannot_land(action, setting.protections), may_repeat(action, setting.outside)
    draft.set_worker(me, worker._replace(at="looked", answer=answer, late=late, young=young))
    yield f"looks up: {answer}", "machine", draft.frozen()
    if world.left.losses:
        draft = Draft(world, setting)
        draft.spend("losses")
        draft.set_worker(me, worker._replace(at="looked", answer="unknown"))
        yield "looks up: no answer", "fault", draft.frozen()


def _looked(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    if worker.answer == "not_applied" and worker.young:
        draft = Draft(world, setting)
        draft.end_lost_calls(worker.case, worker.subject, but=me)
        yield from _read(
            draft.frozen(), setting, _find(draft, me), worker._replace(answer="", late=False, young=False, repeat=True)
        )
    else:
        yield f"settles that the look-up said {worker.answer}", "machine", settled(world, setting, me)
        yield from _blindly(world, setting, me, worker)


def _find(draft: Draft, me: int) -> int:
    return sorted(draft.workers).index(draft.workers[me])


def _has_read(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    if worker.stage == "observe":
        yield "settles what the facts allow", "machine", settled(world, setting, me)
        return
    draft = Draft(world, setting)
    if draft.action(worker.case, worker.subject) is None:
        # Only where the row is not reserved before the reading.
        reserve(draft, worker.case, worker.subject)
        if draft.action(worker.case, worker.subject) is None:
            draft.set_worker(me, worker._replace(at="claimed", status="busy"))
        yield "reserves the action", "machine", draft.frozen()
        return
    if not setting.protections.begin_locks:
        if _refusal(draft, worker):
            yield from _begin(world, setting, me, worker)
            return
        draft.set_worker(me, worker._replace(at="checked"))
        yield "checks whether a call may begin", "machine", draft.frozen()
        return
    yield from _begin(world, setting, me, worker)


def _refusal(draft: Draft, worker: Worker) -> str:
    action = draft.action(worker.case, worker.subject)
    assert action is not None
    task = draft.task(worker.task)
    return why_no_call(worker, task, draft.cases[worker.case], action, draft.paused, draft.protections)


def _begin(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    """One transaction: the checks, the call's row, REQUESTED (actions/beginning.py)."""
    draft = Draft(world, setting)
    reason = "" if worker.at == "checked" else _refusal(draft, worker)
    if reason == "lease_lost":
        draft.set_worker(me, IDLE)
        yield "may not begin: its lease is lost", "machine", draft.frozen()
        return
    if reason:
        draft.set_worker(me, worker._replace(at="refused", answer=reason))
        yield f"may not begin: {reason}", "machine", draft.frozen()
        return
    draft.wrong = draft.wrong or _wrong_to_send(draft, worker)
    action = draft.action(worker.case, worker.subject)
    assert action is not None
    case = draft.cases[worker.case]
    draft.set_case(worker.case, begun=True, open=case.open + (worker.status == "PLANNED"))
    key = 0 if setting.protections.key_for_life else action.calls
    draft.set_action(
        worker.case,
        worker.subject,
        status="REQUESTED",
        sent=True,
        unanswered=action.unanswered + 1,
        waited=_waits(action.waited, setting),
        calls=0 if setting.protections.key_for_life else action.calls + 1,
    )
    begun = Worker(
        "begun",
        worker.task,
        worker.case,
        worker.stage,
        worker.subject,
        holds=worker.holds,
        current=worker.current,
        spent=worker.spent,
        doubt=worker.doubt,
        key=key,
        first=not action.sent,
        own=True,
    )
    draft.set_worker(me, begun)
    yield f"begins the {'repeated' if worker.repeat else 'first'} call, commits", "machine", draft.frozen()


def _waits(waited: int, setting: Setting) -> int:
    return 0 if setting.protections.wait_for_newest_call else min(waited, 1)


def _wrong_to_send(draft: Draft, worker: Worker) -> str:
    """What the business would say of this call, whatever was checked."""
    case = draft.cases[worker.case]
    action = draft.action(worker.case, worker.subject)
    assert action is not None
    if case.number != worker.subject:
        return "a call began for a plan that was withdrawn"
    if case.state.value != "EXECUTING":
        return "a call began for a case that was closed or taken back"
    if not action.sent and case.approved != worker.subject:
        return "a call began without a decision on this plan"
    if draft.paused:
        return "a call began during a pause"
    if worker.stale:
        return "a call began on facts that had changed before the attempt"
    if action.unanswered and not draft.setting.outside.honours_keys:
        return "a second automatic call in doubt, to a system without keys"
    return ""


def _begun(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    draft = Draft(world, setting)
    task = draft.task(worker.task)
    if refuses_to_send(worker, task, setting.protections):
        draft.set_worker(me, worker._replace(at="answered", key=0, first=False, answer="not_applied"))
        yield "slept past its lease and does not send", "machine", draft.frozen()
        return
    draft.set_worker(me, worker._replace(at="flying"))
    yield "sends the request", "machine", draft.frozen()


def _flying(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    draft = Draft(world, setting)
    key = Key(worker.case, worker.subject, worker.key)
    heard = worker._replace(at="answered", key=0, first=False)
    apply(draft, key)
    draft.set_worker(me, worker._replace(at="landed", key=0, first=False))
    yield "the request arrives: applied", "machine", draft.frozen()
    if world.left.refusals and key not in world.known:
        for answer in ("refused", "not_applied"):
            draft = Draft(world, setting)
            draft.spend("refusals")
            draft.set_worker(me, heard._replace(answer=answer))
            yield f"the request arrives: {answer}", "fault", draft.frozen()
    early = setting.outside.answers_early
    if world.left.losses or early:
        draft = Draft(world, setting)
        draft.flying = (*draft.flying, (key, worker.first))
        if early:
            draft.set_worker(me, heard._replace(answer="confirmed"))
            yield "hears that it was accepted, not yet applied", "machine", draft.frozen()
        if world.left.losses:
            draft.spend("losses")
            draft.set_worker(me, heard._replace(answer="unknown"))
            yield "waits in vain; the request is still under way", "fault", draft.frozen()


def apply(draft: Draft, key: Key) -> None:
    """The outside system acts, unless it honours keys and remembers this one."""
    if key in draft.known:
        return
    draft.effects = (*draft.effects, key)
    if draft.setting.outside.honours_keys:
        draft.known = (*draft.known, key)


def _landed(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    draft = Draft(world, setting)
    draft.set_worker(me, worker._replace(at="answered", answer="confirmed"))
    yield "hears that it was done", "machine", draft.frozen()
    if world.left.losses:
        draft = Draft(world, setting)
        draft.spend("losses")
        draft.set_worker(me, worker._replace(at="answered", answer="unknown"))
        yield "the answer is lost", "fault", draft.frozen()


def _answered(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    yield f"settles {worker.answer}", "machine", settled(world, setting, me)
    if worker.answer == "confirmed":
        yield from _blindly(world, setting, me, worker)


def _blindly(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    if world.left.losses:
        spent = world._replace(left=world.left._replace(losses=world.left.losses - 1))
        words = f"settles {worker.answer}; the subject could not be read back"
        yield words, "fault", settled(spent, setting, me, blind=True)


def _misfortunes(world: World, setting: Setting, me: int, worker: Worker) -> Iterator[Move]:
    if world.left.crashes:
        draft = Draft(world, setting)
        draft.spend("crashes")
        if worker.at == "flying":
            draft.flying = (*draft.flying, (Key(worker.case, worker.subject, worker.key), worker.first))
        draft.set_worker(me, IDLE)
        if worker.holds and draft.task(worker.task) is not None:
            # When exactly its lease ends makes no difference: nobody may take over before.
            draft.set_task(worker.task, lapsed=True)
        yield f"dies ({worker.at})", "fault", draft.frozen()
    task = Draft(world, setting).task(worker.task)
    if world.left.stalls and worker.holds and task is not None and not task.lapsed:
        draft = Draft(world, setting)
        draft.spend("stalls")
        draft.set_task(worker.task, lapsed=True)
        yield f"sleeps past its lease ({worker.at})", "fault", draft.frozen()


_steps = {
    "claimed": _claimed,
    "looked": _looked,
    "read": _has_read,
    "checked": _begin,
    "refused": _answered,
    "begun": _begun,
    "flying": _flying,
    "landed": _landed,
    "answered": _answered,
}
