"""A dispatcher or a message is lost (C04–C09), and what Redis may do (C41)."""

from __future__ import annotations

import redis

from tests.faults.harness import DISPATCHERS, WORKERS, Harness
from tests.faults.proxy import Rule
from tests.faults.result import Result
from tests.faults.scenario import arriving, death_of, done_once, note_hit, note_recovery, scenario
from tests.faults.spots import redelivered
from tests.flows.running import Ticket

UNANSWERED = "SELECT count(*) FROM cases_task WHERE status = 'due' AND rung_at IS NOT NULL AND id = ANY(%s)"


def dispatcher_dies(harness: Harness, result: Result, place: str, *, count: int = 1, after: int = 0) -> list[Ticket]:
    """Both sleep while the tickets come; whoever wakes first and comes to the place dies there."""
    with harness.dispatchers_asleep():
        tickets = harness.several(count)
        tasks = [str(harness.tasks(ticket.external_id, "check")[0]["id"]) for ticket in tickets]
        armed = harness.armed.arm(place, *(tasks if count == 1 else []), action="exit", after=after)
    note_hit(harness, result, armed)
    death_of(harness, result)
    done_once(harness, *tickets)
    for ticket in tickets:
        lost = [one for one in harness.attempts(ticket.external_id) if one["outcome"] != "done" or one["number"] != 1]
        assert not lost, f"an attempt was spent on a lost bell: {lost}"
    note_recovery(harness, result, tickets[0])
    result.recovered_role = next(name for name in DISPATCHERS if name != result.role)
    return tickets


@scenario("C04", "a dispatcher dies with rows claimed, before it rings", "dispatch.before_commit")
def claimed(harness: Harness, result: Result) -> None:
    dispatcher_dies(harness, result, "dispatch.before_commit")


@scenario("C05", "a dispatcher dies after two of five bells", "dispatch.rung_one")
def some_rung(harness: Harness, result: Result) -> None:
    dispatcher_dies(harness, result, "dispatch.rung_one", count=5, after=1)


@scenario("C06", "a dispatcher dies between mark and bell; every message comes again", "dispatch.marked")
def marked(harness: Harness, result: Result) -> None:
    """Here the mark is committed first, so the row's own order cannot occur; its duplicate message is sent by hand."""
    for ticket in dispatcher_dies(harness, result, "dispatch.marked"):
        redelivered(harness, ticket)


@scenario("C07", "the reply to a bell never comes")
def unknown_bell(harness: Harness, result: Result) -> None:
    rule = harness.doors.bell_of_dispatchers.add(Rule(b"run_task", b"run_task", "swallow"))
    ticket = harness.several(1)[0]
    harness.wait_for(rule.fired.is_set, 20)
    result.exit_status = "reply swallowed"
    logs = harness.system.processes
    harness.wait_for(lambda: any("could not be rung" in logs.log_tail(name, 500) for name in DISPATCHERS), 20)
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)


@scenario("C08", "marked as rung, then Redis forgets everything")
def forgotten(harness: Harness, result: Result) -> None:
    harness.system.stop("worker-1")
    harness.system.stop("worker-2")
    tickets = harness.several(3)
    tasks = [harness.tasks(ticket.external_id, "check")[0]["id"] for ticket in tickets]
    harness.wait_for(lambda: harness.one(UNANSWERED, tasks) == len(tasks))
    with redis.Redis.from_url(harness.bell.url) as server:
        server.flushall()
    result.exit_status = "FLUSHALL"
    harness.start(*WORKERS)
    done_once(harness, *tickets)
    note_recovery(harness, result, tickets[0])


@scenario("C09", "a worker dies with the message, before the claim", "worker.before_claim")
def fetched(harness: Harness, result: Result) -> None:
    with harness.dispatchers_asleep():
        ticket = harness.several(1)[0]
        task = harness.tasks(ticket.external_id, "check")[0]["id"]
        armed = harness.armed.arm("worker.before_claim", str(task), action="exit")
    note_hit(harness, result, armed)
    death_of(harness, result)
    done_once(harness, ticket)
    spent = [one for one in harness.attempts(ticket.external_id) if one["number"] != 1 or one["outcome"] != "done"]
    assert not spent, f"an attempt was consumed: {spent}"
    note_recovery(harness, result, ticket)


# C41: the same flow of tickets, and each of the ways in which Redis may fail.


@scenario("C41", "kill -9 of Redis, later a new start")
def killed(harness: Harness, result: Result) -> None:
    with arriving(harness) as tickets:
        harness.wait_for(lambda: len(tickets) > 3)
        harness.bell.kill()
        result.exit_status = "SIGKILL of Redis"
        harness.wait_for(lambda: len(tickets) > 10)
        harness.bell.start()
    done_once(harness, *tickets)


@scenario("C41", "FLUSHALL again and again")
def flushed(harness: Harness, result: Result) -> None:
    result.exit_status = "FLUSHALL × 5"
    with arriving(harness) as tickets, redis.Redis.from_url(harness.bell.url) as server:
        for so_many in range(2, 12, 2):
            harness.wait_for(lambda so_many=so_many: len(tickets) > so_many)
            server.flushall()
    done_once(harness, *tickets)


@scenario("C41", "CLIENT PAUSE longer than the clients wait")
def paused(harness: Harness, result: Result) -> None:
    result.exit_status = "CLIENT PAUSE 7 s"
    with arriving(harness) as tickets, redis.Redis.from_url(harness.bell.url) as server:
        harness.wait_for(lambda: len(tickets) > 3)
        server.client_pause(7000)
        harness.wait_for(lambda: len(tickets) > 10)
    done_once(harness, *tickets)


@scenario("C41", "no memory left")
def full(harness: Harness, result: Result) -> None:
    result.exit_status = "OOM command not allowed"
    with arriving(harness) as tickets, redis.Redis.from_url(harness.bell.url) as server:
        harness.wait_for(lambda: len(tickets) > 3)
        before = server.config_get("maxmemory")["maxmemory"]
        server.config_set("maxmemory", 1)
        logs = harness.system.processes
        harness.wait_for(lambda: any("could not be rung" in logs.log_tail(name, 500) for name in DISPATCHERS), 20)
        server.config_set("maxmemory", before)
    done_once(harness, *tickets)


@scenario("C41", "a wrong password")
def locked_out(harness: Harness, result: Result) -> None:
    result.exit_status = "WRONGPASS"
    with arriving(harness) as tickets, redis.Redis.from_url(harness.bell.url) as server:
        harness.wait_for(lambda: len(tickets) > 3)
        before = server.config_get("requirepass")["requirepass"]
        server.config_set("requirepass", "another")
        server.client_kill_filter(_type="normal", skipme=True)
        harness.wait_for(lambda: len(tickets) > 12)
        server.config_set("requirepass", before)
    done_once(harness, *tickets)


@scenario("C41", "the connections are cut, then half-open, then refused")
def cut(harness: Harness, result: Result) -> None:
    result.exit_status = "cut, half-open, refused"
    doors = (harness.doors.bell_of_dispatchers, harness.doors.bell_of_workers)
    with arriving(harness) as tickets:
        harness.wait_for(lambda: len(tickets) > 2)
        for door in doors:
            door.cut()
        harness.wait_for(lambda: len(tickets) > 5)
        for door in doors:
            door.mode = "swallow"
        harness.wait_for(lambda: len(tickets) > 12)
        for door in doors:
            door.heal()
            door.refuse()
        harness.wait_for(lambda: len(tickets) > 16)
        for door in doors:
            door.accept()
    done_once(harness, *tickets)
