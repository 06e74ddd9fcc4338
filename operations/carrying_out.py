"""Carrying a recovery out: one function a kind, under the case's lock, in the order's own transaction.

Each moves the case by its one row of the table, or leaves it where it is, and publishes what that row starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.models import Person
from accounts.principal import actor_of_person
from actions import by_hand
from actions.resending import notices_to_send
from actions.standing import Doubtful, Seen
from actions.storing import cancel_planned
from caseflow.domain.errors import BadInput
from caseflow.domain.recovery import Kind, Result, event_of
from cases.advancing import Written, advance_case, record_event
from cases.bell import ring_after_commit
from cases.hastening import hasten
from cases.publishing import NewTask, publish
from cases.rows import CaseRow, database_now
from cases.settling import started_by
from cases.supplying import next_revision, store_revision

from .recovery_models import Recovery


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be carried out. `person` acts: who ordered it, or who signed as the second."""

    case: CaseRow
    person: Person
    recovery: Recovery
    seen: Seen
    data: Mapping[str, Any] | None = None
    bulk: str = ""  #: the order for many of which this is a part

    @property
    def kind(self) -> Kind:
        return Kind(self.recovery.kind)

    @property
    def doubtful(self) -> Doubtful:
        if self.seen.doubtful is None:
            raise ValueError("this recovery is about an effect in doubt")
        return self.seen.doubtful

    @property
    def facts(self) -> dict[str, Any]:
        """What every event of this order says; texts are referred to, never told."""
        row = self.recovery
        facts: dict[str, Any] = {
            "recovery": row.public_id,
            "order": row.kind,
            "was": self.case.reason,
            "reason_field": row.reason_field,
            "asked_by": row.asked_by_id,
        }
        told = {
            "evidence_field": row.evidence_field,
            "evidence_call": row.evidence_call,
            "result": row.result,
            "action": self.doubtful.doubt.action if row.action_id else "",
            "action_status": row.action_status,
            "bulk": self.bulk,
        }
        return facts | {name: value for name, value in told.items() if value}


@dataclass(frozen=True, slots=True)
class Done:
    """The case afterwards, when, and in which state or with which word it ended."""

    case: CaseRow
    at: datetime
    outcome: str


def carry_out(order: Order) -> Done:
    """The caller has checked right, version and guards; the table's own guards are tested once more by the statement.

    Raises BadInput, ForbiddenTransition and StaleCase.
    """
    done = _KINDS[order.kind](order)
    ring_after_commit()
    return done


def _observe_again(order: Order) -> Done:
    cancel_planned(order.case.id)
    return _moved(order)


def _ask_again(order: Order) -> Done:
    """The proposal that waits stays as it is and can no longer be decided; another one follows."""
    return _moved(order, adds={"returns": 1})


def _correct_input(order: Order) -> Done:
    revision = next_revision(order.case, order.data)
    if isinstance(revision, int):
        raise BadInput(code="unchanged", path="$.data", problem="these values are known already; check again instead")
    cancel_planned(order.case.id)
    done = _moved(order, facts=revision.facts, sets={"subject": revision.subject})
    store_revision(done.case, revision, actor=actor_of_person(order.person), at=done.at)
    return done


def _reconcile(order: Order) -> Done:
    """Ask now. Where machines still work on it nothing moves: what is planned for later is due at once."""
    action = order.doubtful.doubt.action
    if event_of(order.kind, order.seen.standing) is not None:
        return _moved(order, follow=[NewTask("reconcile", subject=action)])
    if not hasten(order.case, "reconcile", action):
        publish(order.case, [NewTask("reconcile", subject=action)])
    return _recorded(order, "recovery.reconcile_ordered", order.case.state)


def _repeat(order: Order) -> Done:
    """`execute` takes over an action whose call began: it looks up first, then sends under the same key."""
    return _moved(order, follow=[NewTask("execute", subject=order.doubtful.doubt.action)])


def _accept_not_applied(order: Order) -> Done:
    by_hand.accepted_not_applied(order.doubtful.row_id)
    sets, adds = {"reason": by_hand.ACCEPTED}, {"effects_open": -1}
    return _recorded(order, "recovery.not_applied_accepted", "REFUSED", sets=sets, adds=adds)


def _result_by_hand(order: Order) -> Done:
    doubtful = order.doubtful
    adds = {"effects_open": -1}
    if order.recovery.result == Result.DONE:
        by_hand.found_done(doubtful.row_id)
        adds["effects_done"] = 1
    else:
        by_hand.found_not_done(doubtful.row_id)
    return _moved(order, adds=adds, follow=[NewTask("execute", subject=doubtful.doubt.action)])


def _send_notice(order: Order) -> Done:
    plan = order.seen.plan
    if plan is None:
        raise ValueError("a notice belongs to a plan")
    ids = notices_to_send(order.case, plan, person=order.recovery.asked_by_id, at=database_now())
    follow = [NewTask("notify", subject=notice) for notice in ids]
    return _moved(order, facts={"notices": list(ids)}, follow=follow)


def _finish(order: Order) -> Done:
    """What was reserved and never sent is given up with the case."""
    cancel_planned(order.case.id)
    return _moved(order)


_KINDS: Mapping[Kind, Callable[[Order], Done]] = {
    Kind.OBSERVE_AGAIN: _observe_again,
    Kind.ASK_AGAIN: _ask_again,
    Kind.CORRECT_INPUT: _correct_input,
    Kind.RECONCILE: _reconcile,
    Kind.REPEAT: _repeat,
    Kind.ACCEPT_NOT_APPLIED: _accept_not_applied,
    Kind.RESULT_BY_HAND: _result_by_hand,
    Kind.SEND_NOTICE: _send_notice,
    Kind.FINISH_WITHOUT_NOTICE: _finish,
    Kind.FINISH_BY_HAND: _finish,
    Kind.CLOSE: _finish,
}


def _moved(
    order: Order,
    *,
    facts: Mapping[str, Any] | None = None,
    sets: Mapping[str, Any] | None = None,
    adds: Mapping[str, int] | None = None,
    follow: Sequence[NewTask] = (),
) -> Done:
    case, event = order.case, event_of(order.kind, order.seen.standing)
    if event is None:
        raise ValueError(f"{order.kind} moves no case")
    transition = case.definition.table.get(case.state, event)
    told = order.facts | dict(facts or {})
    written = advance_case(case, event, actor=actor_of_person(order.person), facts=told, sets=sets, adds=adds)
    publish(written.case, started_by(transition.starts, follow))
    return _done(written, written.case.state)


def _recorded(
    order: Order,
    event: str,
    outcome: str,
    *,
    sets: Mapping[str, Any] | None = None,
    adds: Mapping[str, int] | None = None,
) -> Done:
    actor = actor_of_person(order.person)
    return _done(record_event(order.case, event, actor=actor, facts=order.facts, sets=sets, adds=adds), outcome)


def _done(written: Written, outcome: str) -> Done:
    return Done(written.case, written.at, str(outcome))
