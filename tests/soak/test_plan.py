"""A soak plans everything before it starts: the same seed gives the same tickets and the same faults."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from stand.soak.figures import percentiles
from stand.soak.plan import FAULTS, chance, is_full, plan_arrivals, plan_faults

HALF_AN_HOUR = 1800.0  #: seconds


@pytest.mark.parametrize("seed", range(20))
def test_half_an_hour_has_forty_faults_three_of_each_kind_and_five_thousand_tickets(seed: int) -> None:
    faults = plan_faults(HALF_AN_HOUR, 60, chance(seed, "faults"))
    assert is_full(faults)
    assert all(20 <= later.at - earlier.at <= 40 for earlier, later in pairwise(faults))
    assert len(plan_arrivals(HALF_AN_HOUR, 3.0, chance(seed, "arrivals"))[1]) >= 5000


def test_a_short_run_does_not_pass_for_a_full_one() -> None:
    assert not is_full(plan_faults(180, 30, chance(1, "faults")))


def test_the_kinds_take_turns() -> None:
    counts = Counter(fault.kind for fault in plan_faults(HALF_AN_HOUR, 60, chance(2, "faults")))
    assert set(counts) == set(FAULTS)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_the_same_seed_plans_the_same_tickets() -> None:
    once, again = (plan_arrivals(60, 3.0, chance(3, "arrivals")) for _ in range(2))
    assert once == again
    assert once != plan_arrivals(60, 3.0, chance(4, "arrivals"))


def test_every_ticket_is_about_a_subscription_of_its_own() -> None:
    _, arrivals = plan_arrivals(600, 3.0, chance(5, "arrivals"))
    assert len({arrival.subscription for arrival in arrivals}) == len(arrivals)


def test_a_person_refuses_comes_late_and_is_shown_nothing_about_as_often_as_agreed() -> None:
    _, arrivals = plan_arrivals(20_000, 3.0, chance(6, "arrivals"))
    verdicts = Counter(arrival.verdict for arrival in arrivals if arrival.verdict)
    share = {name: count / verdicts.total() for name, count in verdicts.items()}
    assert share["reject_close"] + share["reject_by_hand"] == pytest.approx(0.02, abs=0.004)
    assert share["late"] + share["late_changed"] == pytest.approx(0.02, abs=0.004)
    assert share["stale"] == pytest.approx(0.01, abs=0.004)


def test_percentiles_are_values_that_occurred() -> None:
    assert percentiles([]) == {}
    assert percentiles([3.0]) == {"p50": 3.0, "p95": 3.0, "p99": 3.0, "max": 3.0}
    assert percentiles([float(n) for n in range(1, 101)]) == {"p50": 50.0, "p95": 95.0, "p99": 99.0, "max": 100.0}
