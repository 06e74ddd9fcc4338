"""The end of every stage: one transaction that stores what was found, moves the case and publishes what follows (§3).

It locks the case, then the task, and checks the fence before any write. A settlement whose fence holds but whose case
moved on stores its rows, fires no event, and is audited as late.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.db import transaction

from accounts.principal import SYSTEM
from caseflow.domain.errors import LeaseLost
from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event, When
from caseflow.domain.outcomes import FaultKind
from caseflow.domain.retry import GiveUp
from caseflow.statements import Row, Values, rows_of_each, soon
from integrations.registry import owner_of

from .advancing import advance_case, advance_case_soon, record_event_soon
from .claiming import Lease, lease_of
from .publishing import Ending, Fresh, NewTask, publication, publish, published
from .rows import SELECTED, CaseRow
from .stages import policy_of

_LOCK_WITH_CASE = f"""
SELECT t.fence = %s AND t.status = 'leased', clock_timestamp(), {SELECTED}
FROM cases_case c JOIN cases_task t ON t.case_id = c.id WHERE t.id = %s FOR NO KEY UPDATE OF c, t
"""
_LOCK_TASK = (
    "SELECT fence = %s AND status = 'leased', clock_timestamp() FROM cases_task WHERE id = %s FOR NO KEY UPDATE"
)

_TRY_AGAIN = """
WITH t AS MATERIALIZED (SELECT clock_timestamp() AS at),
ended AS (
  UPDATE cases_attempt SET ended_at = t.at, outcome = %(outcome)s, error = %(error)s, error_text = %(error_text)s
  FROM t WHERE task_id = %(task_id)s AND number = %(number)s AND ended_at IS NULL)
UPDATE cases_task
SET status = 'due', leased_until = NULL, leased_by = '', rung_at = NULL, returned = returned + %(returned)s,
       deadline_at = CASE WHEN %(returned)s = 0 THEN deadline_at END,
       available_at = t.at + %(delay)s * interval '1 second', last_error = %(error)s, last_error_text = %(error_text)s
FROM t WHERE id = %(task_id)s
"""
_END_ALONE = """
WITH t AS MATERIALIZED (SELECT clock_timestamp() AS at),
ended AS (
  UPDATE cases_attempt SET ended_at = t.at, outcome = %(outcome)s, error = %(error)s, error_text = %(error_text)s
  FROM t WHERE task_id = %(task_id)s AND number = %(number)s AND ended_at IS NULL)
UPDATE cases_task SET status = %(status)s, ended_at = t.at, leased_until = NULL, rung_at = NULL,
       last_error = %(error)s, last_error_text = %(error_text)s
FROM t WHERE id = %(task_id)s
"""

ERROR_TEXT = 500  #: characters kept of an error


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an attempt did not reach its result."""

    kind: FaultKind
    code: str
    text: str = ""
    retry_after: timedelta | None = None
    system: str = ""  #: whose fault it is, so that its owner can be asked


@dataclass
class Settlement:
    """What a stage says of its result; carried out when the block ends."""

    lease: Lease
    now: datetime = field(init=False)
    row: CaseRow | None = field(init=False, default=None)
    asked: list[list[Row]] = field(init=False, default_factory=list)  #: what was asked behind the lock
    next_lease: Lease | None = field(init=False, default=None)
    _follow: list[NewTask] = field(default_factory=list)
    _move: dict[str, Any] | None = None
    _again: dict[str, Any] | None = None
    _end: tuple[str, str, str, str] = ("done", "done", "", "")

    @property
    def case(self) -> CaseRow:
        if self.row is None:
            raise ValueError(f"the task {self.lease.stage} has no case")
        return self.row

    @property
    def late(self) -> bool:
        """The case moved on while this task was worked on."""
        return self.row is not None and self.row.version != self.lease.generation

    def move(
        self,
        event: Event,
        *,
        facts: Mapping[str, Any] | None = None,
        sets: Mapping[str, Any] | None = None,
        adds: Mapping[str, int] | None = None,
        follow: Sequence[NewTask] = (),
        actor: Any = SYSTEM,
    ) -> None:
        """Fire `event` once, when the block ends. `follow` are tasks for stages that the table's row names."""
        if self._move is not None:
            raise ValueError("a settlement fires one event")
        self._move = {
            "event": event,
            "facts": facts,
            "sets": sets,
            "adds": adds,
            "actor": actor,
            "follow": list(follow),
        }

    def record(
        self,
        kind: str,
        *,
        facts: Mapping[str, Any] | None = None,
        sets: Mapping[str, Any] | None = None,
        adds: Mapping[str, int] | None = None,
    ) -> None:
        """Write an event that moves no state, before what follows, in this transaction."""
        self.row = record_event_soon(self.case, kind, actor=SYSTEM, facts=facts, sets=sets, adds=adds)

    def follow(self, task: NewTask) -> None:
        """Publish a task within the present state; dropped where the case has moved on."""
        self._follow.append(task)

    def again(self, delay: timedelta, *, fault: Fault | None = None, give_back: bool = False) -> None:
        """Leave the same task due after `delay`. `give_back`: nothing was tried, so neither try nor time is counted."""
        self._again = {"delay": delay, "fault": fault, "give_back": give_back}

    def fail(self, fault: Fault, *, rng: Random) -> None:
        """Try again by the policy, or let the case need attention (requirement C3)."""
        verdict = policy_of(self.lease.definition, self.row).next(
            attempt=self.lease.spent,
            kind=fault.kind,
            now=self.now,
            deadline_at=self.lease.deadline_at,
            rng=rng,
            retry_after=fault.retry_after,
        )
        if isinstance(verdict, GiveUp):
            self.exhaust(verdict.reason, fault)
        else:
            self.again(verdict.delay, fault=fault)

    def exhaust(self, reason: str, fault: Fault | None = None) -> None:
        """No further try: the case needs attention, where this task carries it."""
        code, text = (fault.code, fault.text) if fault else (reason, "")
        self.end_as("failed", "fault" if fault else reason, code, text)
        definition = self.lease.definition
        if definition.exhausted is not None and self.row is not None and definition.exhausted(self, reason):
            return
        if self.row is None or self.late or not definition.carries:
            return
        if definition.give_up:
            definition.give_up(self)
        facts = {"stage": self.lease.stage, "task": self.lease.task_id, "error": code, "attempts": self.lease.number}
        if fault is not None:
            facts |= {"fault": fault.kind, **owner_of(fault.system)}
        if self.case.definition.table.find(self.case.state, Event.EXHAUSTED):
            self.move(Event.EXHAUSTED, facts=facts, sets={"reason": reason})

    def end_as(self, status: str, outcome: str, error: str = "", text: str = "") -> None:
        self._end = (status, outcome, error[:64], text[:ERROR_TEXT])

    # The order below is the promise: state and audit first, then the task's end together with what follows it.

    def lock(self, *asking: tuple[str, Values]) -> None:
        """Also what is asked behind the lock, in the same trip."""
        locking = _LOCK_WITH_CASE if self.lease.case else _LOCK_TASK, [self.lease.fence, self.lease.task_id]
        found, *self.asked = rows_of_each(locking, *asking)
        if not found or not found[0][0]:
            raise LeaseLost(task=self.lease.task_id)
        self.now = found[0][1]
        if self.lease.case:
            self.row = CaseRow.of(found[0][2:])

    def finish(self) -> None:
        if self._again is not None:
            self._leave_due(**self._again)
            return
        status, outcome, error, text = self._end
        ending = Ending(self.lease.task_id, self.lease.fence, self.lease.number, status, outcome, error, text)
        taken = time.monotonic()
        if self._move is not None and self.row is not None and not self.late:
            self._fire(ending, taken, **self._move)
            return
        if self._move is not None and self.row is not None:
            self.record("settlement.late", facts={"event": self._move["event"], "stage": self.lease.stage})
        if self.row is None or self.late or not self._follow:
            self._end_alone(ending)
        else:
            self._go_on(publish(self.row, self._follow, ending=ending, **self._claiming), taken)

    def _fire(self, ending: Ending, taken: float, event: Event, follow: list[NewTask], **details: Any) -> None:
        """The event, the task's end and what follows are one statement, which leaves with COMMIT where this worker
        takes nothing of it with it."""
        transition = self.case.definition.table.get(self.case.state, event)
        follow = self._follow + started_by(transition.starts, follow)
        moved = replace(self.case, version=self.case.version + 1)
        beside = publication(moved, follow, ending=ending, **self._claiming)
        if not beside.rows:
            self.row = advance_case_soon(self.case, event, beside=beside, **details)
            return
        written = advance_case(self.case, event, beside=beside, **details)
        self.row = written.case
        self._go_on(published(written.beside), taken)

    @property
    def _claiming(self) -> dict[str, str]:
        return {"claim_for": self.lease.worker, "claim_queue": self.lease.queue}

    def _go_on(self, tasks: Sequence[Fresh], taken: float) -> None:
        """Take over the task that was claimed with its publishing, if any."""
        for fresh in tasks:
            if fresh.claimed:
                self.next_lease = lease_of(
                    fresh, case=self.case, queue=self.lease.queue, worker=self.lease.worker, taken=taken
                )

    def _leave_due(self, delay: timedelta, fault: Fault | None, give_back: bool) -> None:
        parameters = {
            "task_id": self.lease.task_id,
            "number": self.lease.number,
            "delay": delay.total_seconds(),
            "returned": int(give_back),
            "outcome": "given_back" if give_back else "fault",
            "error": fault.code[:64] if fault else "",
            "error_text": fault.text[:ERROR_TEXT] if fault else "",
        }
        soon(_TRY_AGAIN, parameters)

    def _end_alone(self, ending: Ending) -> None:
        soon(_END_ALONE, {name: getattr(ending, name) for name in Ending.__slots__})


def started_by(starts: Sequence[Any], given: Sequence[NewTask]) -> list[NewTask]:
    """The tasks a transition publishes: those it starts by itself and, of the given ones, those it names."""
    named = {start.stage for start in starts if start.when is When.GIVEN}
    unknown = {task.stage for task in given} - named
    if unknown:
        raise ValueError(f"the transition does not start {sorted(unknown)}")
    return [NewTask(start.stage) for start in starts if start.when is When.NOW] + list(given)


@contextmanager
def settlement(lease: Lease, *asking: tuple[str, Values]) -> Iterator[Settlement]:
    """What is `asking` is read behind the lock. Raises LeaseLost before any write when another holds the task."""
    with transaction.atomic(savepoint=False):
        settling = Settlement(lease)
        settling.lock(*asking)
        yield settling
        settling.finish()
        failpoint(f"{lease.stage}.before_commit", *lease.about)
    failpoint(f"{lease.stage}.committed", *lease.about)
