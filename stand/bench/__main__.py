"""`python -m stand.bench`: every contestant in turn, then what else is promised; a table, and bench.json."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from stand.bench.ceiling import measure_ceiling
from stand.bench.contestants import SETTINGS, Contestant, Ours, Peer, forget_foreign_servers
from stand.bench.driving import JOBS
from stand.bench.figures import figures, medians
from stand.bench.idle import measure_idle
from stand.bench.latency import measure_latency
from stand.bench.profiling import Profiler
from stand.bench.result import kept, promised, summed_up
from stand.bench.ringing import measure_ringing
from stand.bench.rounds import run_round
from stand.bench.tables import as_text, ceiling_table, contestants_table, promises_table
from stand.environment import temporary_folder
from stand.soak.run import commit, machine_words
from stand.system import System

CONTESTANTS = ("ours", "dbos", "dbos_tuned", "procrastinate", "dramatiq")
PARTS = ("http", "latency", "idle", "ringing", "verify", "ceiling")
#: Cases of one round, so that each takes some seconds; `--cases` replaces them.
CASES = {"ours": 500, "dbos": 140, "dbos_tuned": 160, "procrastinate": 200, "dramatiq": 600}
HTTP_CONTESTANTS, HTTP_WORKERS, HTTP_CASES = ("ours", "dbos_tuned"), 2, 150
TUNED = {"BENCH_POLL": "0.02"}  #: for throughput: its queue is polled every 20 ms, not every second


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.bench", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[*CONTESTANTS, *PARTS], choices=[*CONTESTANTS, *PARTS])
    parser.add_argument("--workers", default="", help="worker processes, such as 1,2; without, ours also with 4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", type=int, default=0, help="of each round, for every contestant")
    parser.add_argument("--report", type=Path, help="folder for bench-DATE.json; without, nothing is kept")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the same result, into this file")
    parser.add_argument("--profile", type=Path, metavar="FILE", help="where a worker's time goes, into this file")
    parser.add_argument("--calls", type=Path, metavar="FILE", help="counts of a worker's calls, into this file")
    options = parser.parse_args()
    forget_foreign_servers()
    with temporary_folder() as folder:
        system = System(folder, workers=2, dispatchers=2, environment=SETTINGS, tell=tell, worker_threads=JOBS)
        try:
            system.start_servers()
            system.migrate()
            found = Bench(system, options).run()
        finally:
            system.close()
            system.discard()
    show(found)
    for path in (options.json, options.report and options.report / f"bench-{found['began_at'][:10]}.json"):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            tell(str(path))
    return 0 if found.get("verified", {}).get("clean", True) else 1


class Bench:
    """One run on one pair of servers, in one order that alternates."""

    def __init__(self, system: System, options: argparse.Namespace) -> None:
        self._system, self._options = system, options
        told = {"CASEFLOW_BENCH_CALLS": str(options.calls.resolve())} if options.calls else {}
        self._contestants = [self._make(name, told) for name in CONTESTANTS if name in options.only]

    def run(self) -> dict[str, Any]:
        began, begun = datetime.now().astimezone(), time.monotonic()
        rounds = {one.name: {} for one in self._contestants}  # type: dict[str, dict[int, list[dict[str, float]]]]
        for workers in self._worker_counts():
            for name, own in self._turns(self._contestants, workers, CASES).items():
                rounds[name][workers] = own
        if not self._options.workers and "ours" in rounds:
            rounds["ours"][4] = self._turns(self._contestants[:1], 4, CASES)["ours"]
        parts = self._parts()
        ceiling = parts.get("ceiling", {})
        return {
            **promised(rounds, parts, ceiling.get("cases_per_s")),
            "began_at": began.isoformat(timespec="seconds"),
            "commit": commit(),
            "machine": machine_words(self._system),
            "rounds": self._options.rounds,
            "seconds": round(time.monotonic() - begun),
            "contestants": summed_up(rounds),
            **parts,
        }

    def _parts(self) -> dict[str, Any]:
        wanted, system, rounds = self._options.only, self._system, self._options.rounds
        found: dict[str, Any] = {}
        if "http" in wanted:
            found["http"] = summed_up({n: {HTTP_WORKERS: own} for n, own in self._http().items()})
        if "latency" in wanted:
            found["latency"] = measure_latency(system, system.folder / "notes", rounds=min(3, rounds))
        if "idle" in wanted:
            found["idle"] = measure_idle(system, stretches=3)
        if "ringing" in wanted:
            found["ringing"] = measure_ringing(system, rounds=min(3, rounds))
        if "verify" in wanted:
            found["verified"] = verified(system)
        if "ceiling" in wanted:
            # After the check: pgbench makes copies of one case, whose plans name the actions of that one.
            found["ceiling"] = measure_ceiling(system)
        for name, part in found.items():
            tell(f"{name}: {json.dumps(part)[:600]}")
        return found

    def _worker_counts(self) -> list[int]:
        return [int(count) for count in (self._options.workers or "1,2").split(",")]

    def _turns(
        self, contestants: Sequence[Contestant], workers: int, cases: dict[str, int]
    ) -> dict[str, list[dict[str, float]]]:
        """Rounds in turn, every other time the other way round."""
        found: dict[str, list[dict[str, float]]] = {one.name: [] for one in contestants}
        for number in range(self._options.rounds):
            for one in contestants if number % 2 == 0 else contestants[::-1]:
                count = self._options.cases or cases[one.name]
                profiler = Profiler(self._options.profile) if self._options.profile and one.name == "ours" else None
                done = run_round(self._system, one, workers=workers, cases=count, profiler=profiler)
                found[one.name].append(done)
                tell(f"{one.name}, {workers}: {done['cases_per_s']:.1f} cases/s, {done['cpu_ms_per_case']:.1f} ms")
        for name, own in found.items():
            tell(f"{name}, {workers}: {medians(figures(own))}")
        return found

    def _http(self) -> dict[str, list[dict[str, float]]]:
        self._system.start("simulator")
        self._system.wait_ready("simulator")
        told = {"CASEFLOW_BENCH_OUTSIDE": "http", "BENCH_SIMULATOR": self._system.simulator_url}
        contestants = [self._make(name, told) for name in HTTP_CONTESTANTS]
        try:
            return self._turns(contestants, HTTP_WORKERS, dict.fromkeys(HTTP_CONTESTANTS, HTTP_CASES))
        finally:
            self._system.stop("simulator")

    def _make(self, name: str, told: dict[str, str]) -> Contestant:
        if name == "ours":
            return Ours(self._system, told)
        if name == "dbos_tuned":
            peer = Peer(self._system, name, told=told | TUNED, program="dbos")
        else:
            peer = Peer(self._system, name, keeps=name != "dramatiq", told=told)
        peer.prepare()
        return peer


def verified(system: System) -> dict[str, Any]:
    """What the product's own proofs say of the cases that were driven."""
    invariants = json.loads(system.manage("verify_invariants", "--json", check=False).stdout)
    audit = system.manage("verify_audit", check=False)
    return {
        "clean": bool(invariants["clean"]) and audit.returncode == 0,
        "violations": [one for one in invariants["invariants"] if one["violations"]],
        "checked": {one["name"]: one["checked"] for one in invariants["invariants"]},
        "audit": audit.stdout.strip().splitlines()[-1],
    }


def show(found: dict[str, Any]) -> None:
    for title, name in (("In-process systems", "contestants"), ("The simulator over HTTP", "http")):
        if found.get(name):
            print(f"\n{title}: median (least–most)\n{as_text(contestants_table(found[name]))}")
    if found.get("ceiling"):
        print(f"\npgbench with one case's own SQL\n{as_text(ceiling_table(found['ceiling']))}")
    print(f"\n{as_text(promises_table(found))}")
    if "latency" in found and not found["latency"]["kept_up"]:
        reached = found["latency"]["requests_per_s"]["median"]
        print(f"\nThis machine does not keep up with {found['latency']['rate']:g} cases/s: {reached:g} requests/s.")
    if "verified" in found:
        print(f"\ninvariants and audit of the cases driven: {'clean' if found['verified']['clean'] else 'NOT CLEAN'}")
    missed = [name for name, good in kept(found).items() if not good]
    print(f"\nbench: {found['seconds']} s; missed: {', '.join(missed) or 'nothing'}")


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
