"""What a run will do, drawn from its seed before it starts: arrivals, faults, what a person says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from tests.data.make_tickets import ENDINGS, World, make_ticket

#: Everything that is broken, in turns: each round has each kind once, in an order of its own.
FAULTS = (
    "worker family killed",
    "worker process killed",
    "worker stopped past two leases",
    "dispatcher killed",
    "web restarted",
    "Valkey killed",
    "Valkey emptied",
    "PostgreSQL crashed",
    "database sessions ended",
    "outside systems down",
)
GAP = (20.0, 40.0)  #: seconds from one fault to the next
CALM = 15.0  #: seconds without a new fault before arrivals end

#: ending → its weight among the tickets
ENDING_MIX = {
    "restore_access": 70,
    "already_active": 6,
    "payment_refunded": 5,
    "payment_failed": 3,
    "payment_pending": 4,
    "payment_not_found": 4,
    "customer_unknown": 2,
    "subscription_not_found": 2,
    "amount_differs": 2,
    "another_account": 2,
}

#: what the scripted approver does → its share; it approves the rest at once
VERDICTS = {
    "reject_close": 0.013,
    "reject_by_hand": 0.007,
    "late": 0.01,  #: approves long after it saw the plan
    "late_changed": 0.01,  #: approves long after it saw the plan, and the facts changed meanwhile
    "stale": 0.01,  #: names a digest nobody showed it, must be refused, then approves
}
SENT_TWICE = 0.02  #: share of tickets that the helpdesk sends again after it was told
FIRST_NUMBER = 100_001

LATENCY = 0.1  #: seconds that an outside system takes for an answer

#: What goes wrong outside, as orders of the simulator: a share of the requests that reach it.
MISFORTUNES: tuple[dict[str, Any], ...] = (
    {"fault": {"kind": "drop_after"}, "share": 0.01, "match": {"method": "POST"}},
    {"fault": {"kind": "error_after"}, "share": 0.005, "match": {"method": "POST"}},
    {"fault": {"kind": "error_before", "status": 503}, "share": 0.02},
    {"fault": {"kind": "too_many", "retry_after": 1}, "share": 0.01},
    {"fault": {"kind": "drop_before"}, "share": 0.01},
    {"fault": {"kind": "reset"}, "share": 0.01},
    # Last, so that it is for all the others: an outside system takes a moment, and a kill meets work under way.
    {"fault": {"kind": "delay", "seconds": LATENCY}},
)


class PlannedFault(NamedTuple):
    """`at` in seconds from the start of arrivals; `chance` in [0, 1) picks whom it meets and how long it lasts."""

    at: float
    kind: str
    chance: float


class Expected(NamedTuple):
    """How a case ends when no fault leaves it to a person."""

    state: str
    ending: str
    outcome: str
    activations: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """One ticket, and when the helpdesk sends it, in seconds from the start."""

    at: float
    body: dict[str, Any]
    verdict: str
    again: bool
    expected: Expected

    @property
    def external_id(self) -> str:
        return str(self.body["external_id"])

    @property
    def payment(self) -> str:
        return str(self.body["intake"]["payment_id"])

    @property
    def subscription(self) -> str:
        return str(self.body["intake"]["subscription_id"])


def chance(seed: int, what: str) -> Random:
    """Each part draws from a source of its own, so that a change in one leaves the others as they were."""
    return Random(f"{seed} {what}")  # noqa: S311  # it must be repeatable


def plan_faults(seconds: float, warm_up: float, rng: Random, gap: tuple[float, float] = GAP) -> list[PlannedFault]:
    """A fault after each `gap` (from, to; in seconds) from the end of the warm-up on; the kinds take turns."""
    faults: list[PlannedFault] = []
    at, turn = warm_up, list[str]()
    while at < seconds - CALM:
        if not turn:
            turn = rng.sample(FAULTS, len(FAULTS))
        faults.append(PlannedFault(at, turn.pop(), rng.random()))
        at += rng.uniform(*gap)
    return faults


def is_full(faults: Sequence[PlannedFault]) -> bool:
    """At least 40 faults and three of each kind: what a published run must have."""
    counts = Counter(fault.kind for fault in faults)
    return len(faults) >= 40 and all(counts[kind] >= 3 for kind in FAULTS)


def plan_arrivals(seconds: float, rate: float, rng: Random) -> tuple[World, list[Arrival]]:
    """A Poisson stream of `rate` tickets a second, and the outside world they are about."""
    world: World = {"customers": [], "payments": [], "subscriptions": []}
    arrivals: list[Arrival] = []
    endings, weights = list(ENDING_MIX), list(ENDING_MIX.values())
    at = rng.expovariate(rate)
    while at < seconds:
        (ending,) = rng.choices(endings, weights)
        number = FIRST_NUMBER + len(arrivals)
        body = make_ticket(number, ending, "acme", world, rng) | {"organisation": "acme"}
        verdict = _verdict(rng) if ending == "restore_access" else ""
        again = rng.random() < SENT_TWICE
        arrivals.append(Arrival(at, body, verdict, again, _expected(ending, verdict)))
        at += rng.expovariate(rate)
    return world, arrivals


def _verdict(rng: Random) -> str:
    draw = rng.random()
    for verdict, share in VERDICTS.items():
        draw -= share
        if draw < 0:
            return verdict
    return "approve"


def _expected(ending: str, verdict: str) -> Expected:
    match verdict:
        case "reject_close":
            return Expected("CLOSED_NO_CHANGE", ending, "no_change", 0)
        case "reject_by_hand":
            return Expected("NEEDS_ATTENTION", ending, "", 0)
        case "late_changed":
            return Expected("CLOSED_NO_CHANGE", "payment_refunded", "no_change", 0)
    end = ENDINGS[ending][1]
    return Expected(end.state, end.ending, end.outcome, end.activations)
