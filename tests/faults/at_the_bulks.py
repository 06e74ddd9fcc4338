"""A worker dies in the middle of an order for many cases: what is done stays done, the rest follows, nothing twice."""

from __future__ import annotations

from typing import Any

from stand.people import SignedIn
from tests.faults.at_the_operators import WHY, case_of
from tests.faults.harness import Harness
from tests.faults.result import Result
from tests.faults.scenario import death_of, done_once, note_hit, note_recovery, scenario
from tests.flows.running import Ticket

CASES = 5
KILLED_AT = 3  #: the place in the list of the case at which the worker dies

RESULTS = (
    "SELECT i.position, i.status, c.public_id AS case FROM operations_bulkitem i"
    " JOIN operations_bulk b ON b.id = i.bulk_id JOIN cases_case c ON c.id = i.case_id"
    " WHERE b.public_id = %s ORDER BY i.position"
)


@scenario("C39", "the worker of a bulk dies between two cases", "bulk.item_committed")
def between_two_cases(harness: Harness, result: Result) -> None:
    killed(harness, result, "bulk.item_committed", done=KILLED_AT)


@scenario("C39", "the worker of a bulk dies before a case is committed", "bulk.before_commit")
def before_a_case_is_committed(harness: Harness, result: Result) -> None:
    killed(harness, result, "bulk.before_commit", done=KILLED_AT - 1)


def killed(harness: Harness, result: Result, place: str, *, done: int) -> None:
    """j are done and the others untouched, j + rest = all; whoever takes over does the rest, each once."""
    tickets = [stopped(harness) for _ in range(CASES)]
    cases = [case_of(harness, ticket) for ticket in tickets]
    for ticket in tickets:  # what is read the second time leads to the end
        harness.outside.patch(f"/payments/{ticket.payment}", json={"amount": "990.00"}).raise_for_status()
        harness.approver.kept.discard(ticket.external_id)
    operator = harness.sign_in("operator")
    bulk = previewed(operator, cases)
    armed = harness.armed.arm(place, bulk["id"], f"item-{KILLED_AT}", action="exit")
    started = operator.post(bulk["links"]["confirm"], {"count": CASES, "reason": WHY, "rate": 600})
    assert started.status_code == 200, started.text
    note_hit(harness, result, armed)
    death_of(harness, result)
    rows = harness.ask(RESULTS, bulk["id"])
    told = [row["status"] for row in rows]
    assert told == ["done"] * done + ["planned"] * (CASES - done), f"after the death: {told}"
    harness.wait_for(lambda: operator.get(bulk["links"]["self"]).json()["status"] == "ended", 60)
    counts = operator.get(bulk["links"]["self"]).json()["counts"]
    assert counts == {"planned": 0, "done": CASES, "failed": 0, "skipped": 0}, counts
    operator.close()
    done_once(harness, *tickets)
    for case in cases:
        times = harness.history(case).count("case.observe_again")
        assert times == 1, f"{case} was ordered {times} times"
    orders = harness.one("SELECT count(*) FROM operations_recovery r JOIN cases_case c ON c.id = r.case_id"
                         " WHERE c.public_id = ANY(%s)", cases)  # fmt: skip
    assert orders == CASES, f"{orders} orders for {CASES} cases"
    note_recovery(harness, result, tickets[-1])


def stopped(harness: Harness) -> Ticket:
    """Price and payment differ: a person is needed."""
    ticket = harness.ticket("restore_quickly", "NEEDS_ATTENTION", by_hand=True)
    harness.outside.patch(f"/payments/{ticket.payment}", json={"amount": "1.00"}).raise_for_status()
    harness.client.open(ticket.body)
    harness.settle(ticket)
    harness.expected[ticket.external_id] = ("COMPLETED",)
    return ticket


def previewed(operator: SignedIn, cases: list[str]) -> dict[str, Any]:
    answer = operator.post("/api/v1/bulk/", {"kind": "observe_again", "cases": cases})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    assert made["counts"]["planned"] == CASES, made
    return made
