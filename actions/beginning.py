"""The point of no return (design §3): what is checked and written before a request leaves the house.

Its own transaction takes the gate, locks the case, checks, and then records the call and moves the action to REQUESTED.
When its COMMIT is in doubt the error reaches the caller and nothing is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, cast
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from accounts import access
from accounts.principal import SYSTEM
from approvals.models import Decision
from approvals.snapshots import quorum_of
from caseflow.domain.errors import CallRefused, LeaseLost
from caseflow.domain.lifecycle import State
from caseflow.domain.process import differences
from caseflow.domain.roles import Right
from caseflow.statements import Kept, Row, rows_of_each
from cases.advancing import Beside, record_event_soon
from cases.claiming import Lease
from cases.observing import Readings
from cases.rows import CaseRow, locking
from integrations.registry import get_adapter

from .capping import REACHED, Caps, caps_of, gate_of, pause_reached
from .models import ActionKind, ActionStatus
from .planned import Planned

FRESH = timedelta(seconds=10)  #: how old a re-read fact may be when the call begins


class Purpose(StrEnum):
    """Which checks a call has to pass."""

    FIRST = "first"  #: an effect, never sent before
    REPEAT = "repeat"  #: the same key again, after evidence that the earlier call was not applied
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Begun:
    """A call that may now be made, under its own id."""

    call_id: str


_CHECK = """
SELECT t.fence = %(fence)s AND t.status = 'leased' AND t.leased_until > clock_timestamp(),
       a.status,
       encode(sha256(p.snapshot), 'hex') = p.digest AND p.digest = %(digest)s,
       coalesce((SELECT d.execute_by > clock_timestamp() AND d.digest = p.digest FROM approvals_decision d
                 WHERE d.proposal_id = p.id AND d.decisive AND d.kind = 'approve'), NOT p.needs_approval),
       (SELECT pause.id FROM cases_pause pause WHERE pause.ended_at IS NULL
          AND (pause.until IS NULL OR pause.until > clock_timestamp())
          AND (pause.organisation_id IS NULL OR pause.organisation_id = a.organisation_id)
          AND (pause.kind IN ('organisation', 'all') OR pause.kind = 'process' AND pause.key = %(process)s
            OR pause.kind = 'system' AND pause.key = a.system) ORDER BY pause.until DESC NULLS FIRST LIMIT 1),
       a.status = 'PLANNED' OR coalesce(clock_timestamp() - a.first_sent_at < %(key_life)s * interval '1 second', true),
       coalesce((SELECT i.installation_id = %(installation)s::uuid AND NOT i.restored
                 FROM cases_installation i), false),
       {reached}
FROM actions_action a JOIN approvals_proposal p ON p.id = a.proposal_id JOIN cases_task t ON t.id = %(task)s
WHERE a.id = %(action)s
"""
#: By whether anything is counted: what is not is not planned for either.
_CHECKS = {False: _CHECK.format(reached="NULL"), True: _CHECK.format(reached=REACHED)}

_BEGIN = """
requested AS (
  UPDATE actions_action SET status = 'REQUESTED', first_sent_at = coalesce(first_sent_at, t.at), settled_at = NULL
  FROM t WHERE id = %(action)s),
began AS (
  INSERT INTO actions_externalcall (action_id, task_id, kind, call_id, worker, begun_at, outcome, code, message,
                                    external_id)
  SELECT %(action)s, %(task)s, 'perform', %(call_id)s, %(worker)s, t.at, '', '', '', '' FROM t)"""

_BEFORE: Mapping[Purpose, tuple[ActionStatus, ...]] = {
    Purpose.FIRST: (ActionStatus.PLANNED,),
    Purpose.REPEAT: (ActionStatus.PLANNED, ActionStatus.UNKNOWN, ActionStatus.REQUESTED),
    Purpose.NOTICE: (ActionStatus.PLANNED, ActionStatus.UNKNOWN, ActionStatus.REQUESTED),
}


def begin_call(lease: Lease, planned: Planned, purpose: Purpose, readings: Readings | None = None) -> Begun:
    """Record that a call begins. Raises LeaseLost, or CallRefused(reason, …) and then nothing may be sent.

    Reasons: moved_on, began_already, snapshot_broken, approval_lapsed, decider_lost_right, paused (with `pause`),
    installation, key_expired, facts_stale and facts_changed (with `differences`).
    """
    if lease.case is None or planned.row_id is None:
        raise ValueError("a call needs a case and a reserved action")
    call_id = str(uuid4())
    caps = caps_of(planned.spec.system) if purpose is Purpose.FIRST else Caps()
    stopped_by = 0
    with transaction.atomic():
        case, found, approvals = _behind_the_gate(lease, lease.case, planned, purpose, caps)
        reached = _check(lease, planned, purpose, case, found, approvals)
        if purpose is not Purpose.NOTICE or planned.spec.preconditions:
            _check_facts(planned, readings)
        if reached:
            stopped_by = pause_reached(reached, system=planned.spec.system, organisation_id=case.organisation_id)
        else:
            _begin(lease, planned, purpose, case, call_id)
    if stopped_by:
        # Raised only now: the pause is stored, and everybody after this one is told by it.
        raise CallRefused(reason="paused", pause=stopped_by)
    return Begun(call_id)


def _begin(lease: Lease, planned: Planned, purpose: Purpose, case: CaseRow, call_id: str) -> None:
    values = {"action": planned.row_id, "task": lease.task_id, "call_id": call_id, "worker": lease.worker}
    _record(case, planned, purpose, call_id, Beside(_BEGIN, values))


def _behind_the_gate(
    lease: Lease, case: CaseRow, planned: Planned, purpose: Purpose, caps: Caps
) -> tuple[CaseRow, Row, int]:
    """The case, locked; what `_check` looks at; and how many approvals still count.

    One trip, and each statement of it sees what the one before it waited for.
    """
    values = {
        "fence": lease.fence,
        "digest": planned.digest,
        "process": case.process,
        "installation": str(settings.CASEFLOW_INSTALLATION_ID),
        "task": lease.task_id,
        "action": planned.row_id,
        "key_life": get_adapter(planned.spec.system).key_life.total_seconds(),
        "cap": caps.system,
        "cap_each": caps.organisation,
    }
    policy = case.definition.approval if purpose is Purpose.FIRST and planned.needs_approval else None
    counting = [_COUNTED.of(case.organisation_id, planned.proposal_id, policy.right)] if policy else []
    checking = _CHECKS[bool(caps)], values
    _gate, (locked,), (found,), *approvals = rows_of_each(
        gate_of(caps, planned.spec.system), locking(case.id), checking, *counting
    )
    return CaseRow.of(locked), found, sum(map(len, approvals))


def _check(lease: Lease, planned: Planned, purpose: Purpose, case: CaseRow, found: Row, approvals: int) -> str | None:
    """Whose cap is reached, if any. Raises LeaseLost and CallRefused."""
    holds, status, digest_holds, approved, paused, key_lives, at_home, reached = found
    states = (State.NOTIFYING, State.WAITING_DATA) if purpose is Purpose.NOTICE else (State.EXECUTING,)
    if not holds:
        raise LeaseLost(task=lease.task_id)
    if case.version != lease.generation or case.state not in states:
        raise CallRefused(reason="moved_on")
    if status not in _BEFORE[purpose]:
        raise CallRefused(reason="began_already")
    if not digest_holds:
        raise CallRefused(reason="snapshot_broken")
    if paused:
        raise CallRefused(reason="paused", pause=paused)
    if not at_home:
        raise CallRefused(reason="installation")
    if not key_lives:
        raise CallRefused(reason="key_expired")
    if purpose is Purpose.FIRST and not approved:
        raise CallRefused(reason="approval_lapsed")
    if purpose is Purpose.FIRST and planned.needs_approval and approvals < quorum_of(planned.snapshot):
        raise CallRefused(reason="decider_lost_right")
    return cast(str | None, reached)


def _counted(organisation_id: int, proposal_id: int, right: Right) -> QuerySet[Decision, tuple[Any, ...]]:
    """The approvals of exactly this plan by people who may still decide."""
    permitted = access.persons_with_right(organisation_id, right)
    of_the_plan = Decision.objects.filter(proposal_id=proposal_id, digest=F("proposal__digest"))
    return of_the_plan.filter(kind=Decision.Kind.APPROVE.value, person__in=permitted).values_list("pk")


_COUNTED = Kept(_counted, keys=2)


def _check_facts(planned: Planned, readings: Readings | None) -> None:
    """The re-read narrows the window before the effect; it does not close it."""
    if readings is None or not readings.readings:
        raise CallRefused(reason="facts_stale")
    if datetime.now(UTC) - min(fact.observed_at for fact in readings.readings) > FRESH:
        raise CallRefused(reason="facts_stale")
    changed = differences(planned.spec.preconditions, readings.facts)
    if changed:
        found: dict[str, Any] = {path: {"then": then, "now": now} for path, (then, now) in changed.items()}
        raise CallRefused(reason="facts_changed", differences=found)


def _record(case: CaseRow, planned: Planned, purpose: Purpose, call_id: str, begin: Beside) -> None:
    facts = {
        "action": planned.spec.id,
        "operation": planned.spec.operation,
        "system": planned.spec.system,
        "call": call_id,
        "purpose": purpose.value,
    }
    effect = planned.spec.kind == ActionKind.EFFECT
    opens = effect and planned.status == ActionStatus.PLANNED
    record_event_soon(
        case,
        "action.requested",
        actor=SYSTEM,
        facts=facts,
        sets={"plan_begun": True} if effect else {},
        adds={"effects_open": 1} if opens else {},
        beside=begin,
    )
