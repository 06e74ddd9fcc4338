"""PostgreSQL restarts, cuts, refuses or waits (C42)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg

from stand.environment import with_database
from tests.faults.harness import Harness
from tests.faults.proxy import Rule
from tests.faults.result import Result
from tests.faults.scenario import arriving, done_once, note_hit, note_recovery, scenario
from tests.faults.spots import requests_about
from tests.flows.running import Ticket

SESSIONS = (
    "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND application_name LIKE 'caseflow-%%' AND application_name <> 'caseflow-command'"
)


def is_waiting(harness: Harness) -> bool:
    """Tell whether a worker waits for somebody's lock."""
    return bool(harness.as_admin(f"SELECT 1 {SESSIONS} AND wait_event_type = 'Lock'"))


@scenario("C42", "PostgreSQL ends at once, without a goodbye, and starts again", own_server=True)
def restarted(harness: Harness, result: Result) -> None:
    with arriving(harness) as tickets:
        harness.wait_for(lambda: len(tickets) > 4)
        result.exit_status = f"SIGQUIT, ended with {harness.server.restart_at_once()}"
        harness.wait_for(lambda: len(tickets) > 12)
    done_once(harness, *tickets)


@scenario("C42", "every session of the product is terminated, five times")
def terminated(harness: Harness, result: Result) -> None:
    result.exit_status = "pg_terminate_backend"
    ended = 0
    with arriving(harness) as tickets:
        for so_many in range(2, 12, 2):
            harness.wait_for(lambda so_many=so_many: len(tickets) > so_many)
            ended += len(harness.as_admin(f"SELECT pg_terminate_backend(pid) {SESSIONS}"))
    result.notes.append(f"{ended} sessions")
    done_once(harness, *tickets)


@scenario("C42", "the session is terminated just before COMMIT", "execute.before_commit")
def terminated_at_commit(harness: Harness, result: Result) -> None:
    ticket, armed = at_point(harness, result, "execute.before_commit", "execute")
    open_ones = f"{SESSIONS} AND state = 'idle in transaction' AND application_name LIKE 'caseflow-worker%%'"
    rows = harness.as_admin(f"SELECT pg_terminate_backend(pid) {open_ones}")
    assert rows, "no session was open at the point"
    result.exit_status = "pg_terminate_backend"
    harness.armed.release(armed)
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)


@scenario("C42", "the reply to the COMMIT that begins a call is lost: nothing is sent", "execute.before_begin")
def call_in_doubt(harness: Harness, result: Result) -> None:
    ticket, armed = at_point(harness, result, "execute.before_begin", "execute")
    rule = harness.doors.database_of_work.add(Rule(b"action.requested", b"COMMIT"))
    harness.armed.release(armed)
    harness.wait_for(rule.fired.is_set, 10)
    result.exit_status = "connection cut"
    done_once(harness, ticket)
    sent = posts(harness, ticket)
    assert len(sent) == 1, f"{len(sent)} requests: a call whose beginning was in doubt was made"
    note_recovery(harness, result, ticket)


def posts(harness: Harness, ticket: Ticket) -> list[dict[str, Any]]:
    return [one for one in requests_about(harness, ticket) if one["method"] == "POST"]


@scenario("C42", "a lock is held longer than lock_timeout", "execute.before_begin")
def lock_timeout(harness: Harness, result: Result) -> None:
    ticket, armed = at_point(harness, result, "execute.before_begin", "execute")
    with somebody_else(harness) as other:
        other.execute("SELECT id FROM cases_case WHERE external_id = %s FOR UPDATE", [ticket.external_id])
        harness.armed.release(armed)
        harness.wait_for(lambda: is_waiting(harness), 10)
        harness.wait_for(lambda: not is_waiting(harness), 10)
    result.exit_status = "lock_timeout"
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)


@scenario("C42", "a statement takes longer than statement_timeout", "execute.before_begin")
def statement_timeout(harness: Harness, result: Result) -> None:
    limits = "-c statement_timeout=2s -c lock_timeout=0 -c idle_in_transaction_session_timeout=60s"
    with only_worker_1(harness, CASEFLOW_DATABASE_LIMITS=limits):
        ticket, armed = at_point(harness, result, "execute.before_begin", "execute")
        with somebody_else(harness) as other:
            other.execute("SELECT id FROM cases_case WHERE external_id = %s FOR UPDATE", [ticket.external_id])
            harness.armed.release(armed)
            harness.wait_for(lambda: is_waiting(harness), 10)
            harness.wait_for(lambda: "statement timeout" in harness.system.processes.log_tail("worker-1", 500), 10)
        result.exit_status = "statement_timeout"
        done_once(harness, ticket)
        note_recovery(harness, result, ticket)


@scenario("C42", "a deadlock is broken", "execute.read_back")
def deadlock(harness: Harness, result: Result) -> None:
    """The product locks the case and then its task; an intruder does it the other way round."""
    ticket, armed = at_point(harness, result, "execute.read_back", "execute")
    task = harness.tasks(ticket.external_id, "execute")[0]["id"]
    broken: list[str] = []

    def take_case(other: psycopg.Connection[Any]) -> None:
        try:
            other.execute("SELECT id FROM cases_case WHERE external_id = %s FOR UPDATE", [ticket.external_id])
        except psycopg.errors.DeadlockDetected:
            broken.append("the intruder was ended")

    def settling() -> bool:
        return bool(harness.as_admin(f"SELECT 1 {SESSIONS} AND wait_event_type = 'Lock' AND query LIKE '%%OF c, t%%'"))

    with somebody_else(harness) as other:
        other.execute("SET deadlock_timeout = '10s'")  # so that it is the product's session that finds out
        other.execute("SELECT id FROM cases_task WHERE id = %s FOR UPDATE", [task])
        harness.armed.release(armed)
        harness.wait_for(settling, 15)
        thread = threading.Thread(target=take_case, args=(other,))
        thread.start()
        thread.join(20)
    result.exit_status = "deadlock_detected"
    logs = harness.system.processes
    harness.wait_for(lambda: broken or "deadlock detected" in logs.log_tail(result.role, 2000), 10)
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)


def at_point(harness: Harness, result: Result, place: str, stage: str) -> tuple[Ticket, str]:
    """A case of the real process that is held at a point."""
    ticket = harness.ticket("restore_access")
    armed = harness.armed.arm(place, ticket.external_id, stage)
    harness.client.open(ticket.body)
    note_hit(harness, result, armed)
    return ticket, armed


@contextmanager
def somebody_else(harness: Harness) -> Iterator[psycopg.Connection[Any]]:
    """A transaction of somebody else, rolled back at the end."""
    url = with_database(harness.server.admin_url, urlsplit(harness.server_url()).path.lstrip("/"))
    with psycopg.connect(url) as connection:
        yield connection
        connection.rollback()


@contextmanager
def only_worker_1(harness: Harness, **told: str) -> Iterator[None]:
    """One worker, told something else for a while."""
    before = dict(harness.system.told["worker-1"])
    harness.system.stop("worker-1")
    harness.system.stop("worker-2")
    harness.system.told["worker-1"].update(told)
    try:
        harness.start("worker-1")
        yield
    finally:
        harness.system.stop("worker-1")
        harness.system.told["worker-1"] = before
