"""The product's rules as the model uses them.

The table, the retry policy, the comparison of facts and the check of a plan are the product's own functions. What the
product decides in SQL or beside Django is mirrored here, each rule in one function that names its place.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from random import Random

from approvals.rules import check_plan
from caseflow.domain.errors import BrokenProposal
from caseflow.domain.lifecycle import STANDARD, Event, Guard, State, Transition
from caseflow.domain.outcomes import FaultKind
from caseflow.domain.process import Effect, EffectSpec, EndingKind, Plan, differences
from caseflow.domain.retry import GiveUp

from .states import POLICY, Action, Case, Outside, Protections, Task, Worker

MAX_RETURNS = 3  #: approvals/deciding.py
NOW = datetime(2026, 1, 1, tzinfo=UTC)
IN_DOUBT = frozenset({"REQUESTED", "UNKNOWN"})  #: actions/models.py IN_DOUBT
HOLDING = frozenset({"PLANNED", "REQUESTED", "UNKNOWN"})  #: actions/models.py HOLDING, condition of the subject lock
SPEC = EffectSpec("subscriptions", "activate", "S-77", {}, {}, {})


def row_for(state: State, event: Event) -> Transition | None:
    return STANDARD.find(state, event)


def guards_hold(row: Transition, after: Case, protections: Protections) -> bool:
    """cases/advancing.py `_GUARDS`: they look at the row as it will be."""
    holds = {
        Guard.PLAN_NOT_BEGUN: not after.begun,
        Guard.PLAN_BEGUN: after.begun,
        Guard.NO_EFFECTS_OPEN: after.open == 0 or not protections.doubt_guard,
        Guard.NO_EFFECTS_DONE: after.done == 0,
    }
    return all(holds[guard] for guard in row.guards)


@cache
def gives_up(spent: int) -> bool:
    """The product's policy after a fault that may pass by itself."""
    verdict = POLICY.next(attempt=spent, kind=FaultKind.TRANSIENT, now=NOW, deadline_at=None, rng=Random(0))
    return isinstance(verdict, GiveUp)


@cache
def facts_hold(good: bool, applied: bool, shows: bool) -> bool:
    """Whether a reading shows what the plan rests on, by the product's comparison."""
    expected = {"payment.status": "confirmed"} | ({"subscription.status": "inactive"} if shows else {})
    found = {
        "payment": {"status": "confirmed" if good else "refunded"},
        "subscription": {"status": "active" if applied else "inactive"},
    }
    return not differences(expected, found)


@cache
def plan_allowed(statuses: tuple[str, ...]) -> bool:
    """approvals.rules: no confirmed effect of this case again."""
    effects = [Effect("A", SPEC.system, SPEC.operation, SPEC.subject, status) for status in statuses]
    try:
        check_plan(Plan(effects=[SPEC]), EndingKind.ACT, effects)
    except BrokenProposal:
        return False
    return True


def claim_verdict(task: Task, paused: bool, protections: Protections) -> str:
    """cases/claiming.py `_CLAIM`: what becomes of a due or abandoned task."""
    if not task.current and protections.version_check:
        return "obsolete"
    if paused:
        return "paused"
    if protections.count_before_work and task.lost + task.leased >= POLICY.infrastructure_limit:
        return "worker_lost"
    return "claimed"


def why_no_call(
    worker: Worker, task: Task | None, case: Case, action: Action, paused: bool, protections: Protections
) -> str:
    """actions/beginning.py `_check` and `_check_facts`, in their order; "" where the call may begin."""
    if protections.fence_check and (not worker.holds or task is None or task.lapsed):
        return "lease_lost"
    if protections.version_check and (not worker.current or case.state is not State.EXECUTING):
        return "moved_on"
    if action.status != "PLANNED" and not (worker.repeat and action.status in IN_DOUBT):
        return "began_already"
    if paused and protections.pause_check:
        return "paused"
    approved = case.approved == worker.subject if protections.match_at_begin else case.approved > 0
    if not worker.repeat and not approved:
        return "approval_lapsed"
    if not worker.facts:
        return "facts_changed"
    return ""


def may_repeat(action: Action, outside: Outside) -> bool:
    """actions/reconciling.py `_may_repeat`."""
    return outside.honours_keys and action.sent and not action.aged


def cannot_land(action: Action, protections: Protections) -> bool:
    """actions/reconciling.py `_settled_by`: no request may land any more."""
    return action.waited == 2 if protections.wait_for_newest_call else action.waited >= 1


def may_still_land(worker: Worker, action: Action) -> bool:
    """actions/giving_up.py `may_still_land`."""
    return worker.doubt > 0 and action.waited < 2


def refuses_to_send(worker: Worker, task: Task | None, protections: Protections) -> bool:
    """actions/sending.py: nothing leaves from the end of the lease on, by the worker's own monotonic clock."""
    return protections.send_within_lease and (not worker.holds or task is None or task.lapsed)
