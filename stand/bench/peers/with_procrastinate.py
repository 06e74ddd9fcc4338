"""Procrastinate: a chain of jobs; a case's state in rows of its own, each change in one transaction with the next job.

`python -m stand.bench.peers.with_procrastinate work` is one worker process, `drive` the client. What a job changes is
guarded by the state it expects, so that a job that runs twice moves nothing twice.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import procrastinate
import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from stand.bench.driving import JOBS, THREADS, drive
from stand.bench.peers import outside

URL = os.environ.get("BENCH_DATABASE", "")

SCHEMA = """
CREATE TABLE IF NOT EXISTS bench_case (
  number text PRIMARY KEY, state text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE INDEX IF NOT EXISTS bench_case_state ON bench_case (state);
CREATE TABLE IF NOT EXISTS bench_observation (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, number text NOT NULL REFERENCES bench_case, name text NOT NULL,
  value jsonb NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE IF NOT EXISTS bench_proposal (
  number text PRIMARY KEY REFERENCES bench_case, plan jsonb NOT NULL, approved_at timestamptz);
CREATE TABLE IF NOT EXISTS bench_action (
  key text PRIMARY KEY, number text NOT NULL REFERENCES bench_case, status text NOT NULL, external_id text);
"""

app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=URL, min_size=1, max_size=JOBS + 2))
pool: AsyncConnectionPool[Any] = AsyncConnectionPool(URL, min_size=JOBS, max_size=JOBS, open=False)


class Moved(Exception):
    """The case does not stand where this job expects it."""


@asynccontextmanager
async def moving(number: str, old: str, new: str) -> AsyncIterator[Any]:
    """A transaction that moves the case. Raises Moved."""
    async with pool.connection() as connection, connection.transaction():
        moved = await connection.execute(
            "UPDATE bench_case SET state = %s, at = clock_timestamp() WHERE number = %s AND state = %s",
            [new, number, old],
        )
        if moved.rowcount != 1:
            raise Moved(f"{number} is not {old}")
        yield connection


async def follow(job: Any, connection: Any, number: str) -> None:
    await job.configure(connection=connection).defer_async(number=number)


@app.task(queue="cases")
async def observe(number: str) -> None:
    payment, subscription = outside.read_payment(number), outside.read_subscription(number)
    async with moving(number, "RECEIVED", "PROPOSING") as connection:
        await connection.execute(
            "INSERT INTO bench_observation (number, name, value) VALUES (%s, 'payment', %s), (%s, 'subscription', %s)",
            [number, Jsonb(payment), number, Jsonb(subscription)],
        )
        await follow(propose, connection, number)


@app.task(queue="cases")
async def propose(number: str) -> None:
    async with pool.connection() as connection:
        rows = await connection.execute("SELECT name, value FROM bench_observation WHERE number = %s", [number])
        facts = dict(await rows.fetchall())
    plan = outside.plan_for(facts["payment"], facts["subscription"])
    async with moving(number, "PROPOSING", "WAITING") as connection:
        await connection.execute("INSERT INTO bench_proposal (number, plan) VALUES (%s, %s)", [number, Jsonb(plan)])


@app.task(queue="cases")
async def execute(number: str) -> None:
    plan = outside.plan_for(outside.read_payment(number), outside.read_subscription(number))
    key = f"restore:{number}"
    async with pool.connection() as connection:
        found = await connection.execute(
            "INSERT INTO bench_action (key, number, status)"
            " SELECT %s, number, 'REQUESTED' FROM bench_proposal WHERE number = %s AND plan = %s",
            [key, number, Jsonb(plan)],
        )
        if found.rowcount != 1:
            raise Moved(f"the facts of {number} changed")
    receipt = outside.activate(number, key)
    if outside.read_subscription(number)["status"] != "active":
        raise RuntimeError("not confirmed")
    async with moving(number, "EXECUTING", "NOTIFYING") as connection:
        await _confirm(connection, key, receipt)
        await follow(notify, connection, number)


@app.task(queue="cases")
async def notify(number: str) -> None:
    key = f"tell:{number}"
    async with pool.connection() as connection:
        await connection.execute(
            "INSERT INTO bench_action (key, number, status) VALUES (%s, %s, 'REQUESTED')", [key, number]
        )
    receipt = outside.tell_customer(number, key)
    async with moving(number, "NOTIFYING", "COMPLETED") as connection:
        await _confirm(connection, key, receipt)


async def _confirm(connection: Any, key: str, receipt: str) -> None:
    await connection.execute(
        "UPDATE bench_action SET status = 'CONFIRMED', external_id = %s WHERE key = %s", [receipt, key]
    )


async def work() -> None:
    async with app.open_async(), pool:
        print("ready", flush=True)
        await app.run_worker_async(queues=["cases"], concurrency=JOBS, fetch_job_polling_interval=1.0)


class Procrastinate:
    def __init__(self, connections: ConnectionPool[Any], watch: psycopg.Connection[Any]) -> None:
        self._connections, self._watch = connections, watch

    def open_one(self, number: str) -> None:
        with self._connections.connection() as connection, connection.transaction():
            connection.execute("INSERT INTO bench_case (number, state) VALUES (%s, 'RECEIVED')", [number])
            observe.configure(connection=connection).defer(number=number)

    def waiting(self) -> list[str]:
        return [name for (name,) in self._watch.execute("SELECT number FROM bench_case WHERE state = 'WAITING'")]

    def name_of(self, plan: str) -> str:
        return plan

    def approve(self, plan: str) -> None:
        with self._connections.connection() as connection, connection.transaction():
            moved = connection.execute(
                "UPDATE bench_case SET state = 'EXECUTING', at = clock_timestamp()"
                " WHERE number = %s AND state = 'WAITING'",
                [plan],
            )
            if moved.rowcount != 1:
                raise Moved(plan)
            connection.execute("UPDATE bench_proposal SET approved_at = clock_timestamp() WHERE number = %s", [plan])
            execute.configure(connection=connection).defer(number=plan)

    def done(self) -> int:
        row = self._watch.execute("SELECT count(*) FROM bench_case WHERE state = 'COMPLETED'").fetchone()
        assert row is not None
        return int(row[0])


def prepare() -> int:
    with psycopg.connect(URL, autocommit=True) as connection:
        known = connection.execute("SELECT to_regclass('procrastinate_jobs')").fetchone()
        connection.execute(SCHEMA)
    if known == (None,):
        with app.open():
            app.schema_manager.apply_schema()
    print(json.dumps({"ready": True}), flush=True)
    return 0


def main(role: str) -> int:
    match role:
        case "work":
            asyncio.run(work())
            return 0
        case "prepare":
            return prepare()
        case _:
            with (
                ConnectionPool(URL, min_size=THREADS, max_size=THREADS) as connections,
                app.open(),
                psycopg.connect(os.environ["BENCH_WATCH"], autocommit=True) as watch,
            ):
                return drive(Procrastinate(connections, watch))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
