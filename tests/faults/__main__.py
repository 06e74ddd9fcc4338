"""`python -m stand.faults`: every crash point that exists, on real processes. See `make faults`."""

from __future__ import annotations

import argparse
import logging
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from stand.environment import FOLDER, temporary_folder
from tests.faults.harness import running_harness
from tests.faults.running import Run
from tests.faults.schedule import load, make_schedule
from tests.faults.servers import own_server


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.faults")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", default="", metavar="C23,C24", help="these rows alone")
    parser.add_argument("--replay", type=Path, help="a failing schedule that an earlier run wrote down")
    parser.add_argument("--report", type=Path, default=FOLDER / "faults", help="folder of the report")
    options = parser.parse_args()
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    # Servers of one's own: these will be killed.
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    rows = [row for row in options.only.upper().split(",") if row]
    schedule = load(options.replay) if options.replay else make_schedule(options.seed, only=rows)
    _tell(f"seed {schedule.seed}")
    with (
        temporary_folder() as folder,
        own_server(folder / "server") as server,
        running_harness(folder / "system", server, tell=_tell) as harness,
    ):
        run = Run(harness, schedule, options.report, _tell).play()
        run.tell_problems()
        if not run.good:
            _tell(f"logs: {harness.keep_logs('faults')}")
    _tell(f"report: {run.write_report()}")
    _tell(f"{run.seconds:.0f} s, seed {schedule.seed}")
    _tell(run.last_line())
    return 0 if run.good else 1


def _tell(line: str) -> None:
    print(line, flush=True)


def _end(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
