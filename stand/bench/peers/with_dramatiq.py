"""Bare Dramatiq: the same steps as messages, nothing kept anywhere. No contestant, but the floor under all of them.

A worker that dies loses its cases' state, a message that comes twice does everything twice, nobody can ask where a case
is. `python -m stand.bench.peers.with_dramatiq work` is one worker process, `drive` the client.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import ShutdownNotifications

from stand.bench.driving import JOBS, drive
from stand.bench.peers import outside

URL = os.environ.get("BENCH_REDIS", "redis://127.0.0.1:1")
WAITING, DONE, STARTED = "bench:waiting", "bench:done", "bench:started"

broker = RedisBroker(url=URL, middleware=[ShutdownNotifications()])
dramatiq.set_broker(broker)
store: Any = redis.Redis.from_url(URL)


@dramatiq.actor
def observe(number: str) -> None:
    propose.send(number, outside.read_payment(number), outside.read_subscription(number))


@dramatiq.actor
def propose(number: str, payment: dict[str, Any], subscription: dict[str, Any]) -> None:
    outside.plan_for(payment, subscription)
    store.sadd(WAITING, number)


@dramatiq.actor
def execute(number: str) -> None:
    outside.plan_for(outside.read_payment(number), outside.read_subscription(number))
    outside.activate(number, f"restore:{number}")
    if outside.read_subscription(number)["status"] != "active":
        raise RuntimeError("not confirmed")
    notify.send(number)


@dramatiq.actor
def notify(number: str) -> None:
    outside.tell_customer(number, f"tell:{number}")
    store.incr(DONE)


@dramatiq.actor
def start(number: str) -> None:
    """What `decide_to_request_ratio` is measured against: how soon after `send` a message is begun."""
    store.hset(STARTED, number, repr(time.monotonic()))
    store.incr(DONE)


class Bare:
    def open_one(self, number: str) -> None:
        observe.send(number)

    def waiting(self) -> list[str]:
        return [name.decode() for name in store.smembers(WAITING)]

    def name_of(self, plan: str) -> str:
        return plan

    def approve(self, plan: str) -> None:
        store.srem(WAITING, plan)
        execute.send(plan)

    def done(self) -> int:
        return int(store.get(DONE) or 0)


class Started(Bare):
    """Nothing but messages: those that wait are only remembered, and approving is sending."""

    def __init__(self) -> None:
        self._numbers: list[str] = []

    def open_one(self, number: str) -> None:
        self._numbers.append(number)

    def waiting(self) -> list[str]:
        return list(self._numbers)

    def approve(self, plan: str) -> None:
        self._numbers.remove(plan)
        start.send(plan)


def work() -> int:
    worker = dramatiq.Worker(broker, worker_threads=JOBS)
    worker.start()
    print("ready", flush=True)
    threading.Event().wait()
    return 0


def main(role: str) -> int:
    match role:
        case "work":
            return work()
        case "prepare":
            store.flushdb()
            print("{}", flush=True)
            return 0
        case "send":
            return drive(Started())
        case _:
            return drive(Bare())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
