"""The stages by name. A row of the transition table names a stage; its room registers it here when it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from caseflow.domain.retry import RetryPolicy

from .models.task import QUICK
from .telling import told

if TYPE_CHECKING:
    from .claiming import Lease
    from .rows import CaseRow
    from .settling import Settlement

LEASE = timedelta(seconds=10)  #: how long a worker may be silent before another takes over
RENEW_EVERY = timedelta(seconds=3)  #: how often a living worker renews
STAGE_LIMIT = timedelta(seconds=60)  #: no renewal goes past this, so a hung thread loses its lease


@dataclass(frozen=True, slots=True)
class Stage:
    """`run(lease)` works and settles, and returns the next lease it took, if any.

    `load` reads what the work needs, in the transaction of the claim, or says by a Question how it is read. A stage
    that meets nobody else at its case may `begin` in that transaction, too: the task then goes on as the stage that it
    `becomes`, whose budgets it is claimed with (ADR 17). When a stage that `carries` the case is exhausted the case
    needs attention; `give_up` then cancels what its room had reserved. `exhausted` may take another way on: it is told
    the reason, and returns whether it said itself what follows.
    """

    name: str
    run: Callable[[Lease], Lease | None]
    load: Callable[[Lease], Any] | None = None
    give_up: Callable[[Settlement], None] | None = None
    exhausted: Callable[[Settlement, str], bool] | None = None
    begin: Callable[[Lease], Lease] | None = None
    becomes: str = ""
    carries: bool = True
    queue: str = QUICK
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    lease: timedelta = LEASE
    limit: timedelta = STAGE_LIMIT


_stages: dict[str, Stage] = {}


def register(stage: Stage) -> Stage:
    """The stage as it is known from here on: it tells of each run. Raises ValueError for a name that is taken."""
    if stage.name in _stages:
        raise ValueError(f"the stage {stage.name} is registered twice")
    _stages[stage.name] = replace(stage, run=told(stage.run))
    return _stages[stage.name]


def stage_named(name: str) -> Stage:
    """Raises KeyError for a stage that this worker does not have."""
    return _stages[name]


def all_stages() -> dict[str, Stage]:
    return dict(_stages)


def policy_of(stage: Stage, case: CaseRow | None) -> RetryPolicy:
    """The process's own policy for the stage, or the stage's."""
    return case.definition.retry.get(stage.name, stage.policy) if case else stage.policy


def deadline_of(stage: Stage, case: CaseRow | None) -> timedelta:
    return policy_of(stage, case).deadline
