"""Which silence is a fault of the process, and which is none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from dramatiq import Worker

from caseflow.watching import FETCH_FAILURE, FETCH_SILENCE, WatchedBroker, judge
from stand.ports import free_port
from tests.flows.running import Bell

QUEUES = ("quick", "slow")


@contextmanager
def a_worker(url: str) -> Iterator[tuple[WatchedBroker, Worker]]:
    broker = WatchedBroker(url=url, middleware=[], namespace="judging")
    for queue in QUEUES:
        broker.declare_queue(queue)
    worker = Worker(broker, worker_threads=2, worker_timeout=100)
    worker.start()
    consumers = list(worker.consumers.values())
    try:
        yield broker, worker
    finally:
        for thread in consumers:
            thread.stop()
            thread.join()
        worker.stop()
        broker.client.close()


@pytest.fixture
def bell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bell]:
    bell = Bell(tmp_path_factory.mktemp("bell"))
    yield bell
    bell.close()


def all_turned(broker: WatchedBroker) -> None:
    deadline = time.monotonic() + 10
    while len(broker.loops) < 2 * len(QUEUES):
        assert time.monotonic() < deadline, broker.loops
        time.sleep(0.01)


def test_loops_that_turn_without_finding_anything_are_live_and_silent_ones_are_not(bell: Bell) -> None:
    begun = time.monotonic()
    with a_worker(bell.url) as (broker, worker):
        all_turned(broker)
        now = time.monotonic()
        assert judge(broker, worker, now=now, since=begun, booted_at=begun).is_live

        later = now + FETCH_SILENCE + 1
        silent = judge(broker, worker, now=later, since=begun, booted_at=begun)
        assert not silent.is_live
        assert "is silent" in silent.reason
        # The process stood still until just now: its loops get the time to turn.
        assert judge(broker, worker, now=later, since=later - 1, booted_at=begun).is_live
    assert "is dead" in judge(broker, worker, now=time.monotonic(), since=begun, booted_at=begun).reason


def test_a_worker_without_redis_is_kept_for_a_while_and_says_what_it_waits_for() -> None:
    begun = time.monotonic()
    with a_worker(f"redis://127.0.0.1:{free_port()}/0") as (broker, worker):
        all_turned(broker)
        now = time.monotonic()
        waiting = judge(broker, worker, now=now, since=begun, booted_at=begun)
        assert waiting.is_live
        assert "ConnectionClosed" in waiting.reason

        for loop in broker.loops.values():
            loop.fetched_at -= FETCH_FAILURE
        assert not judge(broker, worker, now=now, since=begun - FETCH_FAILURE, booted_at=begun).is_live


def test_a_queue_that_nobody_consumes_is_a_fault(bell: Bell) -> None:
    begun = time.monotonic()
    with a_worker(bell.url) as (broker, worker):
        worker.consumers.pop("slow")
        verdict = judge(broker, worker, now=time.monotonic(), since=begun, booted_at=begun)
    assert verdict.reason == "the consumer thread of slow is dead"
