"""One round of one contestant: figures by name, per case."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

from stand.bench.contestants import Contestant
from stand.bench.costs import Counters, Stored, processor_seconds, spent
from stand.bench.profiling import Profiler
from stand.system import System

WARM_UP = 40  #: cases before the clock starts: caches, prepared statements, plans
SERVERS = ("postgres", "valkey", "simulator")


def run_round(
    system: System, contestant: Contestant, *, workers: int, cases: int, profiler: Profiler | None = None
) -> dict[str, float]:
    """Figures by name. Commits, statements and log volume are counted from before the start until all have ended."""
    counting = Counters(contestant.watch) if contestant.watch else nullcontext()
    with counting as counters:
        before = counters.look() if counters else None
        with contestant.working(workers) as roles, contestant.client() as client:
            client.ask(f"drive {WARM_UP}")
            pids = {role: pid for role, pid in system.pids.items() if role in (*roles, *SERVERS)}
            pids["client"] = client.pid
            if profiler and counters:
                counters.watch_statements()
                profiler.start(pids[roles[0]])
            begun = processor_seconds(pids)
            driven = client.ask(f"drive {cases}")
            took = spent(begun, processor_seconds(pids))
            if profiler and counters:
                profiler.stop(counters.dearest_statements(cases))
        stored = counters.look().since(before) if counters and before else None
    found = {"cases_per_s": cases / driven["seconds"], "intake_per_s": cases / driven["intake"]}
    return found | _processor(took, cases) | _stored(stored, cases + WARM_UP)


def _processor(took: Mapping[str, float], cases: int) -> dict[str, float]:
    """Own are workers, dispatchers and the client; the servers are told apart."""
    parts = {
        "worker": sum(seconds for role, seconds in took.items() if role not in ("dispatcher", "client", *SERVERS)),
        **{role: took[role] for role in ("dispatcher", "client", *SERVERS) if role in took},
    }
    own = sum(seconds for part, seconds in parts.items() if part not in SERVERS)
    per_case = {f"{part}_cpu_ms_per_case": seconds / cases * 1000 for part, seconds in parts.items()}
    return {"cpu_ms_per_case": own / cases * 1000, **per_case}


def _stored(stored: Stored | None, cases: int) -> dict[str, float]:
    if stored is None:
        return {}
    return {
        "commits_per_case": stored.commits / cases,
        "statements_per_case": stored.statements / cases,
        "wal_bytes_per_case": stored.wal / cases,
    }
