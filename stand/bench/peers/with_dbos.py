"""DBOS Transact: a case is one durable workflow, each outside call and the plan a step of it, the person a message.

`python -m stand.bench.peers.with_dbos work` is one worker process, `drive` the client. As it comes, the queue is polled
every second; BENCH_POLL names other seconds, for the queue and for what listens for messages. Its own LISTEN is on.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

import psycopg
from dbos import DBOS, DBOSClient, DBOSConfig

from stand.bench.driving import drive
from stand.bench.peers import outside

QUEUE, TOPIC = "cases", "decision"
URL = os.environ.get("BENCH_DATABASE", "")
POLL = float(os.environ.get("BENCH_POLL", "1"))  #: seconds
WAIT = 3600.0  #: seconds that a person has


@DBOS.step()
def read_payment(number: str) -> dict[str, Any]:
    return outside.read_payment(number)


@DBOS.step()
def read_subscription(number: str) -> dict[str, Any]:
    return outside.read_subscription(number)


@DBOS.step()
def propose(payment: dict[str, Any], subscription: dict[str, Any]) -> dict[str, Any]:
    return outside.plan_for(payment, subscription)


@DBOS.step()
def read_again(number: str) -> dict[str, Any]:
    return outside.plan_for(outside.read_payment(number), outside.read_subscription(number))


@DBOS.step()
def activate(number: str) -> str:
    return outside.activate(number, f"restore:{number}")


@DBOS.step()
def read_back(number: str) -> dict[str, Any]:
    return outside.read_subscription(number)


@DBOS.step()
def tell_customer(number: str) -> str:
    return outside.tell_customer(number, f"tell:{number}")


@DBOS.workflow()
def restore_access(number: str) -> str:
    plan = propose(read_payment(number), read_subscription(number))
    if DBOS.recv(TOPIC, timeout_seconds=WAIT) != "approve":
        return "expired"
    if read_again(number) != plan:
        return "stale"
    activate(number)
    if read_back(number)["status"] != "active":
        return "unconfirmed"
    tell_customer(number)
    return "completed"


def launch(executor: str) -> None:
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": URL,
        "application_version": "1",
        "executor_id": executor,
        "log_level": "WARNING",
        "run_admin_server": False,
        "notification_listener_polling_interval_sec": POLL,
    }
    DBOS(config=config)
    DBOS.launch()
    DBOS.register_queue(QUEUE, polling_interval_sec=POLL)


def work() -> int:
    launch(os.environ["BENCH_EXECUTOR"])
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    print("ready", flush=True)
    stopped.wait()
    return 0  # what runs is recovered by whoever starts next


class Dbos:
    def __init__(self, client: DBOSClient, watch: psycopg.Connection[Any]) -> None:
        self._client, self._watch = client, watch
        self._approved: set[str] = set()

    def open_one(self, number: str) -> None:
        options: Any = {"queue_name": QUEUE, "workflow_name": "restore_access", "workflow_id": number}
        self._client.enqueue({**options, "app_version": "1"}, number)

    def waiting(self) -> list[str]:
        rows = self._watch.execute(
            "SELECT s.workflow_uuid FROM dbos.workflow_status s JOIN dbos.operation_outputs o USING (workflow_uuid)"
            " WHERE s.status = 'PENDING' AND o.function_name = 'propose'"
        ).fetchall()
        plans = [name for (name,) in rows if name not in self._approved]
        return plans

    def name_of(self, plan: str) -> str:
        return plan

    def approve(self, plan: str) -> None:
        self._client.send(plan, "approve", TOPIC)
        self._approved.add(plan)

    def done(self) -> int:
        row = self._watch.execute("SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS'").fetchone()
        assert row is not None
        return int(row[0])


def main(role: str) -> int:
    if role == "work":
        return work()
    if role == "prepare":
        launch("prepare")
        DBOS.destroy()
        print("{}", flush=True)
        return 0
    with psycopg.connect(os.environ["BENCH_WATCH"], autocommit=True) as watch:
        client = DBOSClient(system_database_url=URL, application_name="bench")
        try:
            return drive(Dbos(client, watch))
        finally:
            client.destroy()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
