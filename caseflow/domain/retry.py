"""When to try again: min(cap, base × 2^(n−1)) plus jitter, a limit of attempts and a deadline (requirement C2, C3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from .outcomes import FaultKind


@dataclass(frozen=True, slots=True)
class TryAgain:
    """Wait this long, then try again."""

    delay: timedelta


@dataclass(frozen=True, slots=True)
class GiveUp:
    """No further automatic try; `reason` is the attention reason code."""

    reason: str


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long a stage may try.

    `limit` counts attempts that ended with a fault of business or of an outside system; `infrastructure_limit` counts
    attempts whose worker was lost, so that a task that kills its process stops too.
    """

    base: timedelta = timedelta(seconds=5)
    cap: timedelta = timedelta(seconds=60)
    limit: int = 6  #: attempts
    infrastructure_limit: int = 5  #: attempts that ended without a word
    deadline: timedelta = timedelta(minutes=30)  #: from the task's first due moment
    jitter: float = 0.1  #: share of the delay, added at random

    def delay(self, attempt: int, rng: Random) -> timedelta:
        """Delay after attempt number `attempt` (1, 2, …): 5, 10, 20, 40, 60, 60 s plus up to `jitter` of it."""
        bare: timedelta = min(self.cap, self.base * (1 << min(attempt - 1, 30)))
        return bare + bare * (self.jitter * rng.random())

    def next(
        self,
        *,
        attempt: int,
        kind: FaultKind,
        now: datetime,
        deadline_at: datetime | None,
        rng: Random,
        retry_after: timedelta | None = None,
    ) -> TryAgain | GiveUp:
        """What follows a fault of `kind` in attempt `attempt`. Only transient faults are retried (requirement C1)."""
        if kind is FaultKind.INVALID_DATA:
            return GiveUp("invalid_data")
        if kind is FaultKind.NOT_PERMITTED:
            return GiveUp("not_permitted")
        if kind is FaultKind.NO_ROOM:
            return GiveUp("no_room")
        if kind is FaultKind.PERMANENT:
            return GiveUp("permanent_fault")
        if attempt >= self.limit:
            return GiveUp("attempts_exhausted")
        delay = max(self.delay(attempt, rng), retry_after or timedelta(0))
        if deadline_at is not None and now + delay >= deadline_at:
            return GiveUp("deadline_passed")
        return TryAgain(delay)
