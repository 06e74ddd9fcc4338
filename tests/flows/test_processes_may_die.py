"""kill -9 of any process at the worst moment: the case goes on from what PostgreSQL knows."""

from __future__ import annotations

from typing import Any

from tests.flows.running import Running

HANGS = 30.0  #: seconds that an outside system keeps silent; longer than any lease


def holder(running: Running, case: str, stage: str) -> str:
    """The role of the worker that holds this stage's task now, or nothing."""
    rows = running.ask(
        "SELECT t.leased_by FROM cases_task t JOIN cases_case c ON c.id = t.case_id"
        " WHERE c.public_id = %s AND t.stage = %s AND t.status = 'leased'",
        case,
        stage,
    )
    return running.role_of(rows[0]["leased_by"]) if rows else ""


def outcomes(running: Running, case: str, stage: str) -> list[str]:
    rows = running.ask(
        "SELECT a.outcome FROM cases_attempt a JOIN cases_task t ON t.id = a.task_id"
        " JOIN cases_case c ON c.id = t.case_id"
        " WHERE c.public_id = %s AND t.stage = %s ORDER BY a.id",
        case,
        stage,
    )
    return [row["outcome"] for row in rows]


def kill_and_start(running: Running, *roles: str) -> None:
    for role in set(roles):
        running.system.kill(role)
    running.start(*set(roles))


def requests_about(running: Running, ticket: Any, method: str) -> list[dict[str, Any]]:
    requests = running.outside.get("/ledger").json()["requests"]
    path = f"/subscriptions/{ticket.subscription}"
    return [one for one in requests if one["method"] == method and one["path"].startswith(path)]


def test_a_worker_killed_between_reading_and_saving_is_replaced(running: Running) -> None:
    reading, acting = running.a_ticket(), running.a_ticket()
    second = running.open(acting)
    running.wait_for_state("WAITING_APPROVAL", second)
    # The one has read nothing yet; for the other the subscription system did its work and keeps silent.
    running.script("delay", method="GET", path=f"/payments/{reading.payment}", seconds=HANGS)
    running.script("delay_after", method="POST", path=f"/subscriptions/{acting.subscription}/*", seconds=HANGS)
    first = running.open(reading)
    running.approve(second)
    reader = running.wait_for(lambda: holder(running, first, "observe"))
    actor = running.wait_for(lambda: len(running.effects(acting.subscription)) and holder(running, second, "execute"))

    kill_and_start(running, reader, actor)

    running.wait_for_state("COMPLETED", second)
    running.complete(first)
    assert outcomes(running, first, "observe") == ["worker_lost", "done"]
    assert outcomes(running, second, "execute") == ["worker_lost", "done"]
    # Whoever takes over an action whose call began asks first: one request with the effect, no second one.
    assert len(requests_about(running, acting, "POST")) == 1
    assert len(running.effects(reading.subscription, acting.subscription)) == 2
    running.check_invariants()


def test_what_comes_while_no_dispatcher_lives_is_rung_by_the_next_one(running: Running) -> None:
    ticket = running.a_ticket()
    running.system.kill("dispatcher")
    case = running.open(ticket)
    assert running.case(case)["state"] == "RECEIVED"

    running.start("dispatcher")

    running.complete(case)
    assert len(running.effects(ticket.subscription)) == 1


def test_two_dispatchers_side_by_side_ring_each_task_for_one_of_them(running: Running) -> None:
    known = running.system.processes.roles["dispatcher"]
    running.system.processes.start("dispatcher-2", known.argv, known.environment, folder=known.folder)
    try:
        running.system.processes.wait_ready(
            "dispatcher-2", lambda: "ready" in running.system.processes.log_tail("dispatcher-2")
        )
        tickets = [running.a_ticket() for _ in range(20)]
        cases = [running.open(ticket) for ticket in tickets]
        running.complete(*cases)
        # One of the two may go at any time.
        last = running.a_ticket()
        running.system.kill("dispatcher")
        running.complete(running.open(last))
    finally:
        running.system.processes.stop("dispatcher-2")

    running.start("dispatcher")
    subjects = [ticket.subscription for ticket in [*tickets, last]]
    assert sorted(one["subject"] for one in running.effects(*subjects)) == sorted(subjects)
    repeated = running.ask(
        "SELECT t.stage FROM cases_task t JOIN cases_case c ON c.id = t.case_id"
        " WHERE c.public_id = ANY(%s) AND t.attempt > 1",
        cases,
    )
    assert repeated == []
    running.check_invariants()
