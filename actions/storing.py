"""Writing down what became of a call: the call's end and the action's move, in the settlement's transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from django.db import transaction
from django.db.models import DateTimeField, Func, QuerySet, Value

from caseflow.domain.outcomes import Confirmed, LookupOutcome, NotApplied, Outcome, Refused, Unknown
from caseflow.statements import soon
from cases.claiming import Lease
from cases.settling import Settlement

from .models import Action, ActionStatus, ExternalCall

_STORE = """
WITH t AS MATERIALIZED (SELECT clock_timestamp() AS at),
ended AS (
  UPDATE actions_externalcall SET ended_at = t.at, outcome = %(outcome)s, code = %(code)s, message = %(message)s,
         external_id = %(external_id)s
  FROM t WHERE call_id = %(call_id)s AND ended_at IS NULL)
UPDATE actions_action SET status = %(status)s, code = %(code)s, confirmed_by = %(confirmed_by)s,
       external_id = CASE WHEN %(external_id)s = '' THEN external_id ELSE %(external_id)s END,
       settled_at = CASE WHEN %(settled)s THEN t.at END
FROM t WHERE id = %(action)s
"""

_END_LOST = """
UPDATE actions_externalcall SET ended_at = clock_timestamp(), outcome = 'unknown', code = 'worker_lost'
WHERE action_id = %s AND ended_at IS NULL
"""


class ClockTimestamp(Func):
    """The database's moment, which does not stand still while a transaction waits."""

    function = "clock_timestamp"
    output_field = DateTimeField()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to an outside system: its call id, and when it left by this process's own steady clock."""

    call_id: str
    left: float

    @classmethod
    def now(cls) -> Asked:
        return cls(str(uuid4()), time.monotonic())

    @property
    def ago(self) -> timedelta:
        """How long ago; only this is ours, the moment itself is the database's."""
        return timedelta(seconds=time.monotonic() - self.left)


NAMES: dict[type, str] = {Confirmed: "confirmed", Refused: "refused", NotApplied: "not_applied", Unknown: "unknown"}


def store_outcome(
    action_id: int,
    call_id: str,
    outcome: Outcome,
    *,
    status: ActionStatus,
    confirmed_by: str = "",
    settled: bool = False,
    code: str = "",
) -> None:
    """End the call and move the action to `status`. An empty `call_id` moves the action alone."""
    values = {
        "action": action_id,
        "call_id": call_id,
        "outcome": NAMES[type(outcome)],
        "code": (code or getattr(outcome, "code", ""))[:64],
        "message": getattr(outcome, "message", "")[:500],
        "external_id": outcome.external_id[:200] if isinstance(outcome, Confirmed) else "",
        "status": status.value,
        "confirmed_by": confirmed_by,
        "settled": settled,
    }
    soon(_STORE, values)


def end_own_call(call_id: str, outcome: Outcome) -> None:
    """A late holder without the fence ends only its own call; the action is somebody else's now."""
    with transaction.atomic():
        ExternalCall.objects.filter(call_id=call_id, ended_at=None).update(
            ended_at=ClockTimestamp(),
            outcome=NAMES[type(outcome)],
            code=getattr(outcome, "code", "")[:64],
            message=getattr(outcome, "message", "")[:500],
        )


def end_lost_calls(action_id: int) -> None:
    """The calls of a worker that was lost: nobody heard their answers."""
    soon(_END_LOST, [action_id])


def add_lookup(lease: Lease, action_id: int, asked: Asked, answer: LookupOutcome) -> None:
    """A look-up has no effect, so it is written whole, with its answer."""
    ExternalCall.objects.create(
        action_id=action_id,
        task_id=lease.task_id,
        kind=ExternalCall.Kind.LOOKUP,
        call_id=asked.call_id,
        worker=lease.worker,
        begun_at=ClockTimestamp() - Value(asked.ago),
        ended_at=ClockTimestamp(),
        outcome=NAMES[type(answer)],
        code=getattr(answer, "code", "")[:64],
        message=getattr(answer, "message", "")[:500],
        external_id=answer.external_id[:200] if isinstance(answer, Confirmed) else "",
    )


def store_evidence(lease: Lease, action_id: int, asked: Asked, answer: LookupOutcome) -> None:
    """Keep the look-up on which a repeat will rest, before it is sent.

    Raises LeaseLost: a replaced worker must not end its successor's call.
    """
    with transaction.atomic():
        Settlement(lease).lock()
        end_lost_calls(action_id)
        add_lookup(lease, action_id, asked, answer)


def cancel_planned(case_id: int) -> int:
    """Whatever gives a plan up cancels what it had reserved, in the same transaction; how many."""
    return Action.objects.filter(case_id=case_id, status=ActionStatus.PLANNED).update(
        status=ActionStatus.CANCELLED, settled_at=ClockTimestamp()
    )


def reopen_held_back(ids: Sequence[str]) -> None:
    """Messages are sent again: the first that is done must not take those that were held back for settled."""
    _held_back(ids).update(settled_at=None, code="")


def cancel_held_back(ids: Sequence[str]) -> None:
    """They are planned anew, under other ids."""
    _held_back(ids).update(status=ActionStatus.CANCELLED, settled_at=ClockTimestamp())


def _held_back(ids: Sequence[str]) -> QuerySet[Action]:
    return Action.objects.filter(public_id__in=ids, status=ActionStatus.PLANNED)
