"""`python -m stand.bench`: rounds of every contestant in turn, then the table and bench.json."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stand.bench.figures import figures, medians
from stand.bench.ours import SETTINGS, forget_foreign_servers, run_ours
from stand.bench.profiling import Profiler
from stand.environment import temporary_folder
from stand.system import System


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.bench", description=__doc__)
    parser.add_argument("--only", nargs="+", default=["ours"], choices=["ours"])
    parser.add_argument("--workers", default="1,2", help="worker processes, such as 1,2,4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", type=int, default=400, help="of each round")
    parser.add_argument("--profile", type=Path, metavar="FILE", help="where a worker's time goes, into this file")
    parser.add_argument("--calls", type=Path, metavar="FILE", help="counts of a worker's calls, into this file")
    options = parser.parse_args()
    forget_foreign_servers()
    told = {"CASEFLOW_BENCH_CALLS": str(options.calls.resolve())} if options.calls else None
    with temporary_folder() as folder:
        system = System(folder, workers=0, environment=SETTINGS, tell=tell)
        try:
            system.start_servers()
            system.migrate()
            for workers in map(int, options.workers.split(",")):
                rounds = []
                for _ in range(options.rounds):
                    profiler = Profiler(options.profile) if options.profile else None
                    rounds.append(run_ours(system, workers=workers, cases=options.cases, profiler=profiler, told=told))
                    tell("  ".join(f"{name} {value:.4g}" for name, value in rounds[-1].items()))
                print(f"ours, {workers} worker processes:")
                for name, value in medians(figures(rounds)).items():
                    print(f"  {name:<28}{value:>12g}")
        finally:
            system.close()
            system.discard()
    return 0


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
