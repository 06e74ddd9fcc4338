"""What people order while processes work: a requeue beside the original, a result by hand beside the reconciler."""

from __future__ import annotations

import json
import signal
import threading
from typing import Any

import httpx2

from stand.people import SignedIn
from tests.faults.at_the_base import at_point, posts
from tests.faults.at_the_face import waiting_plan
from tests.faults.harness import Harness
from tests.faults.result import Result
from tests.faults.scenario import done_once, note_hit, note_recovery, scenario
from tests.flows.running import Ticket

WHY = "Проверка по звонку клиента"


@scenario("C37", "an operator requeues a task while the original still runs", "execute.answered")
def requeued(harness: Harness, result: Result) -> None:
    """It is fenced: the original, let go afterwards, settles nothing; one of the two commits."""
    ticket, armed = at_point(harness, result, "execute.answered", "execute")
    (held,) = harness.tasks(ticket.external_id, "execute")
    with harness.dispatchers_asleep():
        harness.system.processes.signal(result.role, signal.SIGSTOP)  # nor does it renew its lease
        harness.ask(
            "UPDATE cases_task SET leased_until = clock_timestamp() - interval '2 minutes' WHERE id = %s RETURNING id",
            held["id"],
        )
        told = harness.system.manage_json(
            "requeue_tasks", "--apply", "--as", "operator", "--reason", WHY, "--json"
        )  # fmt: skip
        assert [one["result"] for one in told["found"] if one["task"] == held["id"]] == ["repaired"], told
        harness.armed.release(armed)
        harness.system.processes.signal(result.role, signal.SIGCONT)
    result.exit_status = "requeued"
    done_once(harness, ticket)
    sent = posts(harness, ticket)
    assert len(sent) == 1, f"{len(sent)} requests were sent"
    outcomes = [one["outcome"] for one in harness.attempts(ticket.external_id) if one["stage"] == "execute"]
    assert outcomes.count("worker_lost") == 1, f"the attempts ended as {outcomes}"
    history = harness.history(case_of(harness, ticket))
    assert history.count("repair.task_freed") == 1
    assert history.count("case.effects_confirmed") == 1, "two commits"
    note_recovery(harness, result, ticket)


@scenario("C38", "the reconciler finds out while the second person signs", "reconcile.before_store")
def reconciler_first(harness: Harness, result: Result) -> None:
    """The signature carries the version and the status it saw; what the service said stands."""
    ticket, case = stopped_in_doubt(harness)
    operator, approver = signed_in(harness, "operator"), signed_in(harness, "approver2")
    recovery, seen = ordered_by_hand(harness, operator, case)
    armed = harness.armed.arm("reconcile.before_store", case, "reconcile")
    asked = operator.post(f"/api/v1/actions/{seen['action']}/reconcile/", {"version": seen["version"], "reason": WHY})
    assert asked.status_code == 201, asked.text
    note_hit(harness, result, armed)
    late = sign(approver, recovery, seen)
    assert (late.status_code, late.json()["code"]) == (409, "version_moved"), late.text
    harness.armed.release(armed)
    result.exit_status = "released"
    done_once(harness, ticket)
    assert how_confirmed(harness, case) == "lookup"
    assert how_ended(harness, recovery) == "refused"
    both_audited(harness, case, "case.reconcile_ordered")
    note_recovery(harness, result, ticket)
    close(operator, approver)


@scenario("C38", "the second person signs while somebody orders the reconciler, at the same instant")
def both_at_once(harness: Harness, result: Result) -> None:
    """Whoever comes first moves the case; the other is told what happened. One effect, either way."""
    ticket, case = stopped_in_doubt(harness)
    people = [signed_in(harness, name) for name in ("operator", "approver2", "recoverer")]
    operator, approver, recoverer = people
    recovery, seen = ordered_by_hand(harness, operator, case)
    reconcile = f"/api/v1/actions/{seen['action']}/reconcile/"
    answers = at_once(
        lambda: sign(approver, recovery, seen),
        lambda: recoverer.post(reconcile, {"version": seen["version"], "reason": WHY}),
    )
    codes = sorted(answer.status_code for answer in answers)
    assert codes == [201, 409], [answer.text for answer in answers]
    by_hand = answers[0].status_code == 201
    result.exit_status = "by hand" if by_hand else "reconciled"
    done_once(harness, ticket)
    assert how_confirmed(harness, case) == ("hand" if by_hand else "lookup")
    both_audited(harness, case, "case.result_by_hand" if by_hand else "case.reconcile_ordered")
    note_recovery(harness, result, ticket)
    close(*people)


def stopped_in_doubt(harness: Harness) -> tuple[Ticket, str]:
    """Applied, the answer lost, and every look-up failed: the case needs a person."""
    ticket = harness.ticket("restore_quickly", "NEEDS_ATTENTION", by_hand=True)
    plan = waiting_plan(harness, ticket)
    snapshot = harness.one(
        "SELECT convert_from(snapshot, 'UTF8') FROM approvals_proposal WHERE public_id = %s", plan["id"]
    )
    key = next(action["key"] for action in json.loads(snapshot)["actions"] if action["kind"] == "effect")
    harness.script("error_after", method="POST", path=f"/subscriptions/{ticket.subscription}/*")
    harness.script("error_before", method="GET", path=f"/operations/{key}", times=None)
    harness.approver.decide(plan)
    harness.settle(ticket)
    harness.outside.delete("/faults").raise_for_status()
    harness.expected[ticket.external_id] = ("COMPLETED",)
    return ticket, case_of(harness, ticket)


def case_of(harness: Harness, ticket: Ticket) -> str:
    return str(harness.one("SELECT public_id FROM cases_case WHERE external_id = %s", ticket.external_id))


def signed_in(harness: Harness, username: str) -> SignedIn:
    return harness.sign_in(username)


def ordered_by_hand(harness: Harness, person: SignedIn, case: str) -> tuple[str, dict[str, Any]]:
    """The order that waits, and what both persons saw before anything else happened."""
    listed = person.get(f"/api/v1/cases/{case}/recoveries/").json()
    seen = {
        "version": listed["case"]["version"],
        "action": listed["in_doubt"],
        "action_status": listed["in_doubt_status"],
    }
    words = {"kind": "result_by_hand", "result": "done", "evidence": "№ 20931", "reason": WHY}
    answer = person.post(f"/api/v1/cases/{case}/recoveries/", seen | words)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["recovery"]["id"]), seen


def sign(person: SignedIn, recovery: str, seen: dict[str, Any]) -> httpx2.Response:
    words = {name: seen[name] for name in ("version", "action_status")}
    return person.post(f"/api/v1/recoveries/{recovery}/authorisation/", words)


def at_once(*acts: Any) -> list[httpx2.Response]:
    barrier, answers = threading.Barrier(len(acts)), [None] * len(acts)

    def run(place: int) -> None:
        barrier.wait(30)
        answers[place] = acts[place]()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(answer is not None for answer in answers), "somebody got no answer"
    return [answer for answer in answers if answer is not None]


def how_confirmed(harness: Harness, case: str) -> str:
    return str(
        harness.one(
            "SELECT a.confirmed_by FROM actions_action a JOIN cases_case c ON c.id = a.case_id"
            " WHERE c.public_id = %s AND a.kind = 'effect'",
            case,
        )
    )


def how_ended(harness: Harness, recovery: str) -> str:
    return str(harness.one("SELECT status FROM operations_recovery WHERE public_id = %s", recovery))


def both_audited(harness: Harness, case: str, winner: str) -> None:
    history = harness.history(case)
    told = [history.count(kind) for kind in ("recovery.waiting", winner, "recovery.refused")]
    assert told == [1, 1, 1], f"the history says {history}"


def close(*people: SignedIn) -> None:
    for person in people:
        person.close()
