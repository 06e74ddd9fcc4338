"""`python -m stand.soak --minutes 30`: exit 0 when nothing was lost, doubled or called done early, and all is clean."""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import signal
import sys
from pathlib import Path
from random import SystemRandom
from typing import Any, NoReturn

from stand.environment import CHECKOUT, FOLDER, temporary_folder
from stand.soak.journal import Journal
from stand.soak.plan import GAP
from stand.soak.report import write_report
from stand.soak.run import Order, run
from stand.system import System

#: A soak breaks its servers, so it takes none that the environment names.
NAMED = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SIMULATOR_URL")


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=None, help="what is planned follows from it; drawn when left out")
    parser.add_argument("--rate", type=float, default=3.0, help="tickets a second")
    parser.add_argument(
        "--gap", type=float, nargs=2, default=GAP, metavar=("FROM", "TO"), help="seconds from one fault to the next"
    )
    parser.add_argument("--report", type=Path, default=CHECKOUT / "docs" / "proof", help="folder for the report")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    for name in NAMED:
        os.environ.pop(name, None)
    seed = SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    found = soak(Order(options.minutes, seed, options.rate, tuple(options.gap)))
    page = write_report(found, options.report)
    for name, one in found["problems"].items():
        tell(f"{name}: {one['count']}")
        for line in one["first"][:5]:
            tell(f"  {line}")
    print(
        f"soak {'passed' if found['passed'] else 'failed'}: accepted {found['accepted']}, lost {found['lost']},"
        f" doubled {found['doubled']}, called done early {found['called_done_early']},"
        f" faults {found['faults']['injected']}, seed {seed}; {page.name}"
    )
    return 0 if found["passed"] else 1


def soak(order: Order) -> dict[str, Any]:
    with temporary_folder() as folder:
        scratch = folder / "scratch"  # what killed workers leave behind goes with the folder
        scratch.mkdir()
        environment = {"CASEFLOW_DEMO": "1", "CASEFLOW_UNDO_SECONDS": "0", "TMPDIR": str(scratch)}
        system = System(folder, dispatchers=2, workers=2, environment=environment, tell=tell)
        passed = False
        try:
            with system:
                found = run(system, order, Journal(folder / "journal.jsonl"), tell)
                passed = bool(found["passed"])
                if not passed:
                    system.postgres.dump(folder / "database.dump")
                return found
        finally:
            if not passed:
                _keep(folder, order.seed)
            system.discard()


def _keep(folder: Path, seed: int) -> None:
    """Logs, journal, database and ledger of a run that has something to explain."""
    kept = FOLDER / "failed" / f"soak-{seed}"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    shutil.copytree(folder / "logs", kept / "logs", dirs_exist_ok=True)
    for file in (*folder.glob("journal.jsonl"), *folder.glob("database.dump"), *folder.glob("simulator-ledger*")):
        shutil.copy(file, kept)
    tell(f"kept for study: {kept.relative_to(CHECKOUT)}")


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _end(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
