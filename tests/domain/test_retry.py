"""When to try again, and when to stop."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caseflow.domain.outcomes import FaultKind
from caseflow.domain.retry import GiveUp, RetryPolicy, TryAgain

NOW = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
POLICY = RetryPolicy()


class Still(Random):
    """Chance that always says the same."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def random(self) -> float:
        return self.value


def after(attempt: int, kind: FaultKind = FaultKind.TRANSIENT, **more: object) -> TryAgain | GiveUp:
    arguments: dict[str, object] = {"now": NOW, "deadline_at": None, "rng": Still(0.0)} | more
    return POLICY.next(attempt=attempt, kind=kind, **arguments)  # type: ignore[arg-type]


def test_the_pauses_double_up_to_a_minute() -> None:
    pauses = [POLICY.delay(attempt, Still(0.0)).total_seconds() for attempt in range(1, 8)]
    assert pauses == [5, 10, 20, 40, 60, 60, 60]


@given(st.integers(1, 10_000), st.integers(0, 2**32))
def test_chance_only_lengthens_a_pause_and_by_a_tenth_at_most(attempt: int, seed: int) -> None:
    bare = POLICY.delay(attempt, Still(0.0))
    assert bare <= POLICY.delay(attempt, Random(seed)) <= bare * 1.1
    assert POLICY.delay(attempt, Still(0.5)) == bare * 1.05


def test_the_sixth_failure_is_the_last() -> None:
    assert isinstance(after(5), TryAgain)
    assert after(6) == GiveUp("attempts_exhausted")


def test_no_try_is_planned_at_or_after_the_deadline() -> None:
    assert after(1, deadline_at=NOW + timedelta(seconds=5.001)) == TryAgain(timedelta(seconds=5))
    assert after(1, deadline_at=NOW + timedelta(seconds=5)) == GiveUp("deadline_passed")


def test_a_wait_that_the_system_asks_for_is_kept_but_never_shortens_ours() -> None:
    assert after(1, retry_after=timedelta(seconds=90)) == TryAgain(timedelta(seconds=90))
    assert after(1, retry_after=timedelta(seconds=1)) == TryAgain(timedelta(seconds=5))
    assert after(1, retry_after=timedelta(hours=1), deadline_at=NOW + timedelta(minutes=30)) == GiveUp(
        "deadline_passed"
    )


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (FaultKind.INVALID_DATA, "invalid_data"),
        (FaultKind.NOT_PERMITTED, "not_permitted"),
        (FaultKind.PERMANENT, "permanent_fault"),
    ],
)
def test_what_does_not_pass_by_itself_is_never_tried_again(kind: FaultKind, reason: str) -> None:
    assert after(1, kind) == GiveUp(reason)
