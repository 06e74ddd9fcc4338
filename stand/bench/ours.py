"""Ours: real workers on Valkey, a real dispatcher, PostgreSQL by the runtime role; tickets and approvals by services."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from stand.bench.costs import Counters, processor_seconds, spent
from stand.bench.profiling import Profiler
from stand.bench.talking import Talker
from stand.system import System

WARM_UP = 40  #: cases before the clock starts: caches, prepared statements, plans
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.bench.settings", "CASEFLOW_UNDO_SECONDS": "0"}
#: Told by the environment of a run of its own; what the machine's says about the product has no business here.
FOREIGN = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SIMULATOR_URL")


@contextmanager
def client_of(system: System, **more: str) -> Iterator[Talker]:
    environment = system.environment | {
        "CASEFLOW_ROLE": "bench-client",
        "CASEFLOW_BENCH_WATCH": system.administrator_url,
        **more,
    }
    log = system.processes.logs / "client.log"
    with Talker([sys.executable, "-m", "tests.bench.client"], environment, log) as client:
        yield client


@contextmanager
def working(system: System, workers: int, *, told: dict[str, str] | None = None) -> Iterator[list[str]]:
    """So many worker processes and one dispatcher; their roles."""
    roles = [*(f"worker-{number}" for number in range(1, workers + 1)), "dispatcher"]
    for role in roles:
        system.told[role] = dict(told or {})
        system.start(role)
    for role in roles:
        system.wait_ready(role)
    try:
        yield roles
    finally:
        system.processes.stop(*roles)


def run_ours(
    system: System, *, workers: int, cases: int, profiler: Profiler | None = None, told: dict[str, str] | None = None
) -> dict[str, float]:
    """One round: figures by name, per case."""
    with Counters(system.administrator_url) as counters:
        before = counters.look()
        with working(system, workers, told=told) as roles, client_of(system) as client:
            client.ask(f"drive {WARM_UP}")
            pids = {role: pid for role, pid in system.pids.items() if role in (*roles, "postgres", "valkey")}
            pids["client"] = client.pid
            if profiler is not None:
                counters.watch_statements()
                profiler.start(system.pids["worker-1"])
            begun = processor_seconds(pids)
            driven = client.ask(f"drive {cases}")
            took = spent(begun, processor_seconds(pids))
            if profiler is not None:
                profiler.stop(counters.dearest_statements(cases))
        stored = counters.look().since(before)
    every = cases + WARM_UP
    parts = {
        "worker": sum(took[role] for role in roles if role != "dispatcher"),
        "dispatcher": took["dispatcher"],
        "client": took["client"],
        "postgres": took["postgres"],
        "valkey": took["valkey"],
    }
    own = parts["worker"] + parts["dispatcher"] + parts["client"]
    return {
        "cases_per_s": cases / driven["seconds"],
        "intake_per_s": cases / driven["intake"],
        "cpu_ms_per_case": own / cases * 1000,
        **{f"{name}_cpu_ms_per_case": seconds / cases * 1000 for name, seconds in parts.items()},
        "commits_per_case": stored.commits / every,
        "statements_per_case": stored.statements / every,
        "wal_bytes_per_case": stored.wal / every,
    }


def forget_foreign_servers() -> None:
    for name in FOREIGN:
        os.environ.pop(name, None)
