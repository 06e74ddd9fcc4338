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
        (FaultKind.NO_ROOM, "no_room"),
        (FaultKind.PERMANENT, "permanent_fault"),
    ],
)
def test_what_does_not_pass_by_itself_is_never_tried_again(kind: FaultKind, reason: str) -> None:
    assert after(1, kind) == GiveUp(reason)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32))
def test_a_later_pause_is_never_shorter_and_none_is_longer_than_the_cap(first: int, second: int, seed: int) -> None:
    early, late = sorted((first, second))
    assert POLICY.delay(early, Still(0.0)) <= POLICY.delay(late, Still(0.0)) <= POLICY.cap
    assert POLICY.delay(late, Random(seed)) <= POLICY.cap * (1 + POLICY.jitter)


POLICIES = st.builds(
    RetryPolicy,
    base=st.timedeltas(timedelta(seconds=1), timedelta(minutes=2)),
    cap=st.timedeltas(timedelta(seconds=1), timedelta(minutes=5)),
    limit=st.integers(1, 70),
    deadline=st.timedeltas(timedelta(seconds=1), timedelta(hours=2)),
    jitter=st.sampled_from([0.0, 0.1, 0.5]),
)
WORK = st.timedeltas(timedelta(0), timedelta(minutes=1))
ASKED = st.none() | st.timedeltas(timedelta(0), timedelta(hours=1))


@given(POLICIES, st.lists(st.tuples(WORK, ASKED), min_size=80, max_size=80), st.integers(0, 2**32))
def test_the_pauses_together_never_reach_the_deadline_and_tries_never_pass_the_limit(
    policy: RetryPolicy, tries: list[tuple[timedelta, timedelta | None]], seed: int
) -> None:
    rng, now, slept, deadline_at = Random(seed), NOW, timedelta(0), NOW + policy.deadline
    for attempt, (work, asked) in enumerate(tries, 1):
        assert now < deadline_at, "a try was begun at or after the deadline"
        assert attempt <= policy.limit
        now += work
        verdict = policy.next(
            attempt=attempt,
            kind=FaultKind.TRANSIENT,
            now=now,
            deadline_at=deadline_at,
            rng=rng,
            retry_after=asked,
        )
        if isinstance(verdict, GiveUp):
            assert verdict.reason in ("attempts_exhausted", "deadline_passed")
            return
        assert verdict.delay >= (asked or timedelta(0))
        now, slept = now + verdict.delay, slept + verdict.delay
        assert slept < policy.deadline
    raise AssertionError("it never gave up")
