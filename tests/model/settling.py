"""Settle: the end of every stage in one transaction (cases/settling.py)."""

from __future__ import annotations

from typing import Any

from caseflow.domain.lifecycle import Event, State

from .claiming import begin_stage
from .draft import Draft
from .rules import gives_up
from .states import IDLE, Action, Worker


class LeaseLost(Exception):
    """Another worker holds the task."""


class Settling:
    """The product's `Settlement`, step by step; `finish` is its commit."""

    def __init__(self, draft: Draft, me: int, *, blind: bool = False) -> None:
        self.draft = draft
        self.blind = blind
        self.me = me
        self.lease: Worker = draft.workers[me]
        task = draft.task(self.lease.task)
        if draft.protections.fence_check and (task is None or not self.lease.holds):
            raise LeaseLost
        self.late = draft.protections.version_check and not self.lease.current
        self._move: tuple[Event, dict[str, Any]] | None = None
        self._follow: list[tuple[str, int, bool]] = []
        self._again: bool | None = None

    @property
    def action(self) -> Action:
        found = self.draft.action(self.lease.case, self.lease.subject)
        assert found is not None
        return found

    def move(self, event: Event, **sets: Any) -> None:
        self._move = (event, sets)

    def follow(self, stage: str, subject: int = 0, *, now: bool = False) -> None:
        self._follow.append((stage, subject, now))

    def again(self, *, give_back: bool = False) -> None:
        self._again = give_back

    def count(self, *, open: int = 0, done: int = 0) -> None:
        case = self.draft.cases[self.lease.case]
        self.draft.set_case(self.lease.case, open=case.open + open, done=case.done + done)

    def store(self, **changes: Any) -> None:
        self.draft.set_action(self.lease.case, self.lease.subject, **changes)

    def note_lost(self) -> None:
        """The call of a worker that was lost counts as unanswered."""
        if self.action.status == "REQUESTED" and not self.action.accepted:
            self.draft.end_lost_calls(self.lease.case, self.lease.subject, but=self.me)
            self.store(status="UNKNOWN")

    def exhaust(self) -> None:
        if self.late:
            return
        if self.lease.stage in ("execute", "reconcile") and self.draft.cases[self.lease.case].open:
            # actions/giving_up.py `settle_exhausted`: a doubt, no failure.
            self.note_lost()
            self.move(Event.EFFECT_UNKNOWN, reason="unknown_too_long")
            return
        if self.lease.stage in ("execute", "reconcile"):
            self.draft.cancel_planned(self.lease.case)
        if self.draft.cases[self.lease.case].state is not State.NEEDS_ATTENTION:
            self.move(Event.EXHAUSTED, reason="exhausted")

    def fail(self) -> None:
        if gives_up(self.lease.spent):
            self.exhaust()
        else:
            self.again()

    def finish(self) -> bool:
        """False where the table forbids the event: everything is rolled back."""
        draft, lease = self.draft, self.lease
        draft.set_worker(self.me, IDLE)
        if self._again is not None:
            task = draft.task(lease.task)
            if task is not None:
                draft.set_task(lease.task, leased=False, lapsed=False, bell="", claims=task.claims - bool(self._again))
            return True
        draft.end_task(lease.task)
        if self._move is not None and not self.late:
            event, sets = self._move
            before = {task.id for task in draft.tasks}
            if not draft.advance(lease.case, event, **sets):
                return False
            self._take_over([task.id for task in draft.tasks if task.id not in before])
        if not self.late:
            for stage, subject, now in self._follow:
                ident = draft.publish(lease.case, stage, subject)
                if ident and now:
                    self._take_over([ident])
        return True

    def _take_over(self, idents: list[int]) -> None:
        """The worker that settles claims what follows at once, in the same transaction."""
        if idents and not self.draft.paused and self.draft.workers[self.me] is IDLE:
            self.draft.set_task(idents[0], leased=True, claims=1)
            begin_stage(self.draft, self.me, idents[0])
