"""A message in Redis carries one id and is believed nothing; Redis may say it often, wrongly or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker

from tests.flows.running import Running

NAMESPACE = "caseflow"
TIMES = 5  #: copies of each message
NO_TASK = 10**12  #: far beyond every id given so far
FORGED_IDS: list[Any] = [
    *(0, -1, -(2**63), 2**63, 2**200, NO_TASK, 1.5),
    *("1", "'; DROP TABLE cases_task; --", "", "\x00", "١"),
    *(True, False, None, {"id": 1}, {}, [1], [[1]]),
]
BROKEN = [b"", b"\x00", b"not json", b"[]", b'{"args": [1]}', b'{"actor_name": "run_task"}']


@contextmanager
def a_broker(running: Running) -> Iterator[RedisBroker]:
    broker = RedisBroker(url=running.bell.url, namespace=NAMESPACE, middleware=[])
    try:
        yield broker
    finally:
        broker.close()


def ring(broker: RedisBroker, *arguments: Any, actor: str = "run_task", queue: str = "quick") -> None:
    broker.declare_queue(queue)
    broker.enqueue(dramatiq.Message(queue_name=queue, actor_name=actor, args=arguments, kwargs={}, options={}))


def live_tasks(running: Running, public_ids: Iterable[str]) -> list[int]:
    """Tasks that may be worked on now, of these cases."""
    rows = running.ask(
        "SELECT t.id FROM cases_task t JOIN cases_case c ON c.id = t.case_id WHERE c.public_id = ANY(%s)"
        " AND t.status IN ('due', 'leased') AND t.available_at <= clock_timestamp() ORDER BY t.id",
        list(public_ids),
    )
    return [row["id"] for row in rows]


def everything_known(running: Running) -> dict[str, str]:
    """One digest for each table that a worker may write. What the clock orders by itself is no case's."""
    of_cases = {
        "cases_task": "case_id IS NOT NULL",
        "cases_attempt": "task_id IN (SELECT id FROM cases_task WHERE case_id IS NOT NULL)",
    }
    tables = ("cases_case", "cases_task", "cases_attempt", "audit_auditevent", "actions_action", "actions_externalcall")
    return {
        table: running.one(
            f"SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY id), '')) FROM {table} t"
            f" WHERE {of_cases.get(table, 'true')}"
        )
        for table in tables
    }


def nobody_works(running: Running) -> bool:
    """No task is due, rung or leased, and no message waits or is being worked on."""
    busy = running.one(
        "SELECT count(*) FROM cases_task"
        " WHERE status = 'leased' OR status = 'due' AND available_at <= clock_timestamp()"
    )
    with redis.Redis.from_url(running.bell.url) as server:
        queued = server.llen(f"{NAMESPACE}:quick") + server.llen(f"{NAMESPACE}:slow")
        working = [server.scard(key) for key in server.scan_iter(f"{NAMESPACE}:__acks__.*")]
    return not (busy or queued or any(working))


def test_five_copies_of_every_message_do_the_work_once(running: Running) -> None:
    tickets = [running.a_ticket() for _ in range(6)]
    # Without the dispatcher only the copies ring.
    running.system.stop("dispatcher")
    cases = [running.open(ticket) for ticket in tickets]

    def ring_until(state: str) -> None:
        with a_broker(running) as broker:
            for task in live_tasks(running, cases) * TIMES:
                ring(broker, task)
        running.wait_for_state(state, *cases)

    ring_until("WAITING_APPROVAL")
    for case in cases:
        running.approve(case)
    ring_until("COMPLETED")
    running.start("dispatcher")

    assert len(running.effects(*(ticket.subscription for ticket in tickets))) == len(cases)
    attempts = running.ask(
        "SELECT t.stage, a.number, a.outcome, a.error, a.error_text FROM cases_attempt a"
        " JOIN cases_task t ON t.id = a.task_id JOIN cases_case c ON c.id = t.case_id"
        " WHERE c.public_id = ANY(%s) AND (a.number > 1 OR a.outcome <> 'done')",
        cases,
    )
    assert attempts == []
    running.check_invariants()


def test_forged_ids_move_nothing_and_no_worker_falls(running: Running) -> None:
    running.wait_for(lambda: nobody_works(running))
    before, workers = everything_known(running), running.system.pids

    with a_broker(running) as broker:
        for forged in FORGED_IDS:
            ring(broker, forged)
            ring(broker, forged, queue="slow")
        ring(broker)
        ring(broker, 1, 2)
        ring(broker, 1, actor="run_anything")
    running.wait_for(lambda: nobody_works(running))

    assert everything_known(running) == before
    assert running.system.pids == workers
    running.complete(running.open(running.a_ticket()))


def test_a_message_of_a_task_that_is_not_due_moves_nothing(running: Running) -> None:
    case = running.open(running.a_ticket())
    running.wait_for_state("WAITING_APPROVAL", case)
    expiry = running.one(
        "SELECT t.id FROM cases_task t JOIN cases_case c ON c.id = t.case_id"
        " WHERE c.public_id = %s AND stage = 'expire' AND status = 'due'",
        case,
    )
    running.wait_for(lambda: nobody_works(running))
    before = everything_known(running)

    with a_broker(running) as broker:
        for _ in range(TIMES):
            ring(broker, expiry)
    running.wait_for(lambda: nobody_works(running))

    assert everything_known(running) == before


def test_broken_messages_do_not_stop_the_queue(running: Running) -> None:
    with redis.Redis.from_url(running.bell.url) as server:
        for number, raw in enumerate(BROKEN):
            server.hset(f"{NAMESPACE}:quick.msgs", f"broken-{number}", raw)
            server.rpush(f"{NAMESPACE}:quick", f"broken-{number}")

        case = running.open(running.a_ticket())

        running.wait_for_state("WAITING_APPROVAL", case)
        # What was fetched together with a broken message stays unacknowledged until its worker is replaced.
        server.flushall()
