"""What Redis holds may be lost at any time: work is late then, never lost and never done twice."""

from __future__ import annotations

import redis

from tests.flows.running import Running


def forget_everything(running: Running) -> None:
    with redis.Redis.from_url(running.bell.url) as server:
        server.flushall()


def test_cases_go_on_after_redis_was_away(running: Running) -> None:
    tickets = [running.a_ticket() for _ in range(3)]
    early = running.open(tickets[0])
    running.wait_for_state("WAITING_APPROVAL", early)

    running.bell.kill()
    running.approve(early)
    late = [running.open(ticket) for ticket in tickets[1:]]
    # The dispatcher met the dead server and goes on.
    running.wait_for(lambda: "could not be rung" in running.system.processes.log_tail("dispatcher"))
    assert all(running.case(case)["state"] == "RECEIVED" for case in late)
    running.bell.start()

    running.complete(*late)
    running.wait_for_state("COMPLETED", early)
    assert len(running.effects(*(ticket.subscription for ticket in tickets))) == len(tickets)
    running.check_invariants()


def test_flushall_between_the_bell_and_the_worker_costs_only_time(running: Running) -> None:
    ticket = running.a_ticket()
    running.system.processes.stop("worker-1", "worker-2")
    case = running.open(ticket)
    running.wait_for(lambda: rung_and_unclaimed(running, case))

    forget_everything(running)
    running.start("worker-1", "worker-2")

    running.complete(case)
    assert len(running.effects(ticket.subscription)) == 1


def rung_and_unclaimed(running: Running, case: str) -> bool:
    return bool(
        running.one(
            "SELECT count(*) FROM cases_task t JOIN cases_case c ON c.id = t.case_id"
            " WHERE c.public_id = %s AND t.status = 'due' AND t.rung_at IS NOT NULL",
            case,
        )
    )
