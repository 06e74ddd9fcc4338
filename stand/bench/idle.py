"""What a system costs that has nothing to do: web, two workers, two dispatchers."""

from __future__ import annotations

import time
from typing import Any

from stand.bench.costs import Counters, processor_seconds, spent
from stand.bench.figures import figure
from stand.system import System

ROLES = ("web", "worker-1", "worker-2", "dispatcher", "dispatcher-2")
SETTLE = 8.0  #: seconds after the start
STRETCH = 10.0  #: seconds; the shortest and the dearest of several are told, too


def measure_idle(system: System, *, stretches: int) -> dict[str, Any]:
    """{"idle_queries_per_s", "idle_core_share", …}; no transaction's BEGIN and COMMIT are counted as queries."""
    for role in ROLES:
        system.told[role] = {}
        system.start(role)
    try:
        for role in ROLES:
            system.wait_ready(role)
        time.sleep(SETTLE)
        queries, shares, servers = [], [], []
        with Counters(system.administrator_url) as counters:
            for _ in range(stretches):
                pids = {role: system.pids[role] for role in (*ROLES, "postgres", "valkey")}
                before, stored, begun = processor_seconds(pids), counters.statements(), time.monotonic()
                time.sleep(STRETCH)
                took, seconds = spent(before, processor_seconds(pids)), time.monotonic() - begun
                queries.append((counters.statements() - stored) / seconds)
                shares.append(sum(took[role] for role in ROLES) / seconds)
                servers.append((took["postgres"] + took["valkey"]) / seconds)
    finally:
        system.processes.stop(*[role for role in ROLES if role in system.processes.roles])
    return {
        "idle_queries_per_s": figure(queries),
        "idle_core_share": figure(shares),
        "idle_servers_core_share": figure(servers),
    }
