"""One step under construction: the world with its rows open for writing, then frozen in a canonical order."""

from __future__ import annotations

from typing import Any

from caseflow.domain.lifecycle import Event, State, When

from .rules import HOLDING, guards_hold, row_for
from .states import IDLE, Action, Case, Setting, Task, Worker, World


class Draft:
    """Workers and dispatchers are interchangeable, so their order is not part of a state."""

    def __init__(self, world: World, setting: Setting) -> None:
        self.setting = setting
        self.protections = setting.protections
        (self.cases, self.tasks, self.actions, self.workers, self.flying, self.effects, self.known, self.good) = world[
            :8
        ]
        self.paused, self.left, self.wrong = world[8:]

    def frozen(self) -> World:
        return World(
            self.cases,
            self.tasks,
            self.actions,
            tuple(sorted(self.workers)),
            tuple(sorted(self.flying)),
            tuple(sorted(self.effects)),
            tuple(sorted(self.known)),
            self.good,
            self.paused,
            self.left,
            self.wrong,
        )

    # Rows

    def task(self, ident: int) -> Task | None:
        for task in self.tasks:
            if task.id == ident:
                return task
        return None

    def action(self, case: int, number: int) -> Action | None:
        for action in self.actions:
            if action.case == case and action.number == number:
                return action
        return None

    def set_case(self, index: int, **changes: Any) -> None:
        self.cases = _put(self.cases, index, self.cases[index]._replace(**changes))

    def set_task(self, ident: int, **changes: Any) -> None:
        self.tasks = tuple(task._replace(**changes) if task.id == ident else task for task in self.tasks)

    def set_action(self, case: int, number: int, **changes: Any) -> None:
        self.actions = tuple(
            action._replace(**changes) if action.case == case and action.number == number else action
            for action in self.actions
        )

    def set_worker(self, index: int, worker: Worker) -> None:
        self.workers = _put(self.workers, index, worker)

    def spend(self, name: str) -> None:
        self.left = self.left._replace(**{name: getattr(self.left, name) - 1})

    # What several rooms of the product do

    def publish(self, case: int, stage: str, subject: int = 0) -> int:
        """A due task; one live task for each case, stage, subject and generation (cases/publishing.py)."""
        for task in self.tasks:
            if task.current and (task.case, task.stage, task.subject) == (case, stage, subject):
                return 0
        taken = {task.id for task in self.tasks} | {worker.task for worker in self.workers}
        ident = next(number for number in range(1, 99) if number not in taken)
        self.tasks = tuple(sorted((*self.tasks, Task(ident, case, stage, subject))))
        return ident

    def end_task(self, ident: int) -> None:
        self.tasks = tuple(task for task in self.tasks if task.id != ident)

    def take_from_others(self, ident: int, *, but: int = -1) -> None:
        """The fence grows: whoever held the task holds it no more."""
        self.workers = tuple(
            worker._replace(holds=False) if worker.task == ident and index != but else worker
            for index, worker in enumerate(self.workers)
        )

    def cancel_planned(self, case: int) -> None:
        """actions/storing.py `cancel_planned`."""
        self.actions = tuple(
            action._replace(status="CANCELLED") if action.case == case and action.status == "PLANNED" else action
            for action in self.actions
        )

    def end_lost_calls(self, case: int, number: int, *, but: int) -> None:
        """actions/storing.py `end_lost_calls`: nobody heard their answers."""
        self.workers = tuple(
            worker._replace(own=False)
            if worker.own and (worker.case, worker.subject) == (case, number) and index != but
            else worker
            for index, worker in enumerate(self.workers)
        )

    def busy(self, case: int) -> bool:
        """Another case holds the subject (the unique index of actions/models.py)."""
        return self.protections.subject_lock and any(
            action.case != case and action.status in HOLDING for action in self.actions
        )

    def advance(self, index: int, event: Event, *, open: int = 0, done: int = 0, reason: str = "", **sets: Any) -> bool:
        """cases/advancing.py `advance_case` along the product's table; False where it is forbidden."""
        case: Case = self.cases[index]
        row = row_for(case.state, event)
        if row is None:
            return False
        after = case._replace(open=case.open + open, done=case.done + done, reason=reason, state=row.target, **sets)
        if not guards_hold(row, after, self.protections):
            return False
        if event in (Event.QUORUM_REACHED, Event.PLAN_READY):
            after = after._replace(begun=False)
        self.cases = _put(self.cases, index, after)
        self._move_on(index)
        for started in row.starts:
            if started.when is When.NOW:
                self.publish(index, started.stage)
        return True

    def _move_on(self, index: int) -> None:
        tasks = []
        for task in self.tasks:
            if task.case != index:
                tasks.append(task)
            elif (task.leased and not task.lapsed) or not self.protections.version_check:
                tasks.append(task._replace(current=False))
            # A claim would close every other one as obsolete and do nothing else: done here, to have fewer states.
        self.tasks = tuple(tasks)
        self.workers = tuple(
            worker._replace(current=False) if worker is not IDLE and worker.task and worker.case == index else worker
            for worker in self.workers
        )

    def is_open(self, index: int) -> bool:
        return self.cases[index].state not in (State.COMPLETED, State.CLOSED_NO_CHANGE)


def _put(rows: tuple[Any, ...], index: int, row: Any) -> tuple[Any, ...]:
    return (*rows[:index], row, *rows[index + 1 :])
