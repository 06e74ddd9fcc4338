"""Processes that stop, sleep, live in another hour or are too old (C31, C40, C43, C44, C46)."""

from __future__ import annotations

import os
import signal
from typing import Any

import redis

from tests.faults.at_the_base import at_point, only_worker_1
from tests.faults.harness import DISPATCHERS, WORKERS, Harness
from tests.faults.proxy import Rule
from tests.faults.result import Result
from tests.faults.scenario import arriving, death_of, done_once, note_recovery, scenario
from tests.flows.test_messages_are_only_bells import BROKEN, FORGED_IDS, NAMESPACE, a_broker, ring

HOUR = 3600
LEASE = 10.0  #: seconds


@scenario("C31", "done by somebody else between re-check and call", "execute.before_begin")
def fact_changes(harness: Harness, result: Result) -> None:
    """The outside system refuses what is done already; what it does not check itself our read-back cannot see."""
    ticket, armed = at_point(harness, result, "execute.before_begin", "execute")
    harness.expected[ticket.external_id] = ("NEEDS_ATTENTION",)
    changed = harness.outside.patch(f"/subscriptions/{ticket.subscription}", json={"status": "active"})
    changed.raise_for_status()
    harness.armed.release(armed)
    harness.settle(ticket)
    assert harness.done_outside(ticket.subscription) == 0
    (action,) = harness.ask(
        "SELECT a.status FROM actions_action a JOIN cases_case c ON c.id = a.case_id WHERE c.external_id = %s"
        " AND a.kind = 'effect'",
        ticket.external_id,
    )
    assert action["status"] == "REFUSED", f"the action is {action['status']}"
    result.exit_status = "released"
    note_recovery(harness, result, ticket)


@scenario("C40", "SIGTERM for every role in turn, with cases in flight")
def rolling(harness: Harness, result: Result) -> None:
    codes = []
    with arriving(harness) as tickets:
        for name in ("worker-1", "worker-2", "dispatcher", "dispatcher-2", "web"):
            process = harness.system.processes.roles[name].process
            harness.system.stop(name)
            codes.append(f"{name} {process.returncode}")
            harness.start(name)
    result.exit_status = "SIGTERM"
    result.notes.append("ended with " + ", ".join(codes))
    done_once(harness, *tickets)


@scenario("C40", "SIGKILL of a worker's child")
def child_killed(harness: Harness, result: Result) -> None:
    ticket, _armed = at_point(harness, result, "observe.after_read", "observe")
    assert result.pid is not None and result.pid != harness.system.pids[result.role], "that is no child"
    os.kill(result.pid, signal.SIGKILL)
    death_of(harness, result)
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)


@scenario("C43", "a dispatcher sleeps between mark and bell, and wakes after two leases", "dispatch.marked")
def dispatcher_sleeps(harness: Harness, result: Result) -> None:
    with harness.dispatchers_asleep():
        ticket = harness.several(1)[0]
        task = str(harness.tasks(ticket.external_id, "check")[0]["id"])
        armed = harness.armed.arm("dispatch.marked", task, action="stop")
    hit: dict[str, Any] = harness.wait_for(lambda: harness.armed.hit(armed), 30)
    result.pid, result.role, result.exit_status = hit["pid"], hit["role"], "SIGSTOP"
    since = harness.one("SELECT clock_timestamp()")
    done_once(harness, ticket)
    harness.wait_for(
        lambda: harness.one("SELECT extract(epoch FROM clock_timestamp() - %s::timestamptz)", since) > 2 * LEASE
    )
    before = harness.attempts(ticket.external_id)
    harness.system.processes.signal(result.role, signal.SIGCONT)
    done_once(harness, *harness.several(2))
    assert harness.attempts(ticket.external_id) == before, "the bell of the sleeper was believed"
    note_recovery(harness, result, ticket)
    result.recovered_role = next(name for name in DISPATCHERS if name != result.role)


@scenario("C43", "a worker sleeps inside its transaction: its locks keep everybody off", "observe.before_commit")
def sleeps_with_locks(harness: Harness, result: Result) -> None:
    ticket, armed = at_point(harness, result, "observe.before_commit", "observe")
    harness.system.processes.signal(result.role, signal.SIGSTOP)
    result.exit_status = "SIGSTOP"
    since = harness.one("SELECT clock_timestamp()")
    harness.wait_for(
        lambda: harness.one("SELECT extract(epoch FROM clock_timestamp() - %s::timestamptz)", since) > 2 * LEASE
    )
    assert len(harness.tasks(ticket.external_id, "observe")) == 1
    harness.armed.release(armed)
    harness.system.processes.signal(result.role, signal.SIGCONT)
    done_once(harness, ticket)
    outcomes = [one["outcome"] for one in harness.attempts(ticket.external_id) if one["stage"] == "observe"]
    assert outcomes.count("done") == 1, f"the facts were read and stored {outcomes}"
    note_recovery(harness, result, ticket)


def reply_spoilt(harness: Harness, result: Result, rule: Rule) -> None:
    ticket, armed = at_point(harness, result, "execute.begun", "execute")
    rule.marker = rule.trigger = f"/subscriptions/{ticket.subscription}/activate".encode()
    harness.doors.outside.add(rule)
    harness.armed.release(armed)
    harness.wait_for(rule.fired.is_set, 10)
    result.exit_status = f"reply: {rule.kind}"
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)


@scenario("C29", "applied, and the reply is cut off midway", "execute.begun")
def reply_truncated(harness: Harness, result: Result) -> None:
    reply_spoilt(harness, result, Rule(b"", b"", "truncate", keep=40))


@scenario("C29", "applied, and the connection is left half-open", "execute.begun")
def reply_swallowed(harness: Harness, result: Result) -> None:
    reply_spoilt(harness, result, Rule(b"", b"", "swallow"))


@scenario("C44", "one worker an hour ahead, one an hour behind; the first one dies", "execute.begun")
def clocks(harness: Harness, result: Result) -> None:
    told = {name: dict(harness.system.told[name]) for name in WORKERS}
    try:
        for name, shift in zip(WORKERS, (HOUR, -HOUR), strict=True):
            harness.system.stop(name)
            harness.system.told[name]["CASEFLOW_CLOCK_SHIFT"] = str(shift)
            harness.start(name)
        tickets = harness.several(6)
        ticket, _armed = at_point(harness, result, "execute.begun", "execute")
        (held,) = harness.tasks(ticket.external_id, "execute")
        result.exit_status = harness.kill(result.role)
        harness.start(result.role)
        done_once(harness, ticket, *tickets)
        note_recovery(harness, result, ticket)
        taken = [one for one in harness.attempts(ticket.external_id) if one["stage"] == "execute"]
        assert taken[1]["begun_at"] >= held["leased_until"], "the lease was taken over before it ended"
    finally:
        for name in WORKERS:
            if name in harness.system.pids:
                harness.system.stop(name)
            harness.system.told[name] = told[name]


@scenario("C46", "messages of another schema and of actors that do not exist")
def strange_messages(harness: Harness, result: Result) -> None:
    with a_broker(harness) as broker:
        for forged in FORGED_IDS:
            ring(broker, forged)
        ring(broker, 1, actor="run_anything")
        ring(broker, {"task": 1, "schema": 0})
        ring(broker, 1, 2, 3)
    with redis.Redis.from_url(harness.bell.url) as server:
        for number, raw in enumerate(BROKEN):
            server.hset(f"{NAMESPACE}:quick.msgs", f"broken-{number}", raw)
            server.rpush(f"{NAMESPACE}:quick", f"broken-{number}")
        result.exit_status = "dropped"
        done_once(harness, *harness.several(3))
        # What was fetched together with a broken message stays unacknowledged until its worker is replaced.
        server.flushall()


@scenario("C46", "a worker that does not know the task's process hands it back, unattempted")
def old_worker(harness: Harness, result: Result) -> None:
    with only_worker_1(harness, CASEFLOW_MORE_PROCESSES=""):
        ticket = harness.ticket("restore_quickly")
        harness.client.open(ticket.body)
        (task,) = harness.wait_for(
            lambda: [one for one in harness.tasks(ticket.external_id, "check") if one["fence"] > 0]
        )
        assert (task["status"], task["attempt"]) == ("due", 0), (
            f"the task is {task['status']}, attempt {task['attempt']}"
        )
        result.role, result.exit_status = "worker-1", "handed back"
    harness.start(*WORKERS)
    harness.settle(ticket, patience=90)
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)
