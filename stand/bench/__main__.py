"""`python -m stand.bench`: rounds of every contestant in turn, then the table and bench.json."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stand.bench.contestants import SETTINGS, Contestant, Ours, Peer, forget_foreign_servers
from stand.bench.figures import figures, medians
from stand.bench.profiling import Profiler
from stand.bench.rounds import run_round
from stand.environment import temporary_folder
from stand.system import System

NAMES = ("ours", "dbos", "procrastinate", "dramatiq")


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.bench", description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--workers", default="1,2", help="worker processes, such as 1,2,4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", type=int, default=400, help="of each round")
    parser.add_argument("--profile", type=Path, metavar="FILE", help="where a worker's time goes, into this file")
    parser.add_argument("--calls", type=Path, metavar="FILE", help="counts of a worker's calls, into this file")
    options = parser.parse_args()
    forget_foreign_servers()
    told = {"CASEFLOW_BENCH_CALLS": str(options.calls.resolve())} if options.calls else {}
    with temporary_folder() as folder:
        system = System(folder, workers=0, environment=SETTINGS, tell=tell)
        try:
            system.start_servers()
            system.migrate()
            contestants: list[Contestant] = []
            for name in options.only:
                if name == "ours":
                    contestants.append(Ours(system, told))
                else:
                    peer = Peer(system, name, keeps=name != "dramatiq")
                    peer.prepare()
                    contestants.append(peer)
            for workers in map(int, options.workers.split(",")):
                found: dict[str, list[dict[str, float]]] = {one.name: [] for one in contestants}
                for number in range(options.rounds):
                    for one in contestants if number % 2 == 0 else contestants[::-1]:
                        profiler = Profiler(options.profile) if options.profile and one.name == "ours" else None
                        done = run_round(system, one, workers=workers, cases=options.cases, profiler=profiler)
                        found[one.name].append(done)
                        tell(
                            f"{one.name}, {workers}: " + "  ".join(f"{key} {value:.4g}" for key, value in done.items())
                        )
                for name, rounds in found.items():
                    print(f"{name}, {workers} worker processes:")
                    for key, value in medians(figures(rounds)).items():
                        print(f"  {key:<28}{value:>12g}")
        finally:
            system.close()
            system.discard()
    return 0


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
