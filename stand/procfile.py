"""`python -m stand.procfile`: run what the process file names, on servers that the environment names, until Ctrl-C.

The one source of what runs where: `compose.yaml` is compared with it, `make two-machines` starts it twice.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from stand.environment import CHECKOUT, FOLDER
from stand.ports import free_port
from stand.processes import ProcessGroup

PROCFILE = CHECKOUT / "Procfile"
#: How many of each one machine runs.
FORMATION = {"web": 1, "worker": 2, "slow": 1, "dispatcher": 2}
REVIVAL_PAUSE = 2.0  #: seconds before a process that died is started again


def read_procfile(path: Path = PROCFILE) -> dict[str, list[str]]:
    """Command by kind, as arguments. Raises ValueError for a line that is not `kind: command`."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        kind, colon, command = line.partition(":")
        if not colon or not kind.isidentifier() or not command.strip() or kind in found:
            raise ValueError(f"not a line of a process file: {line}")
        found[kind] = shlex.split(command)
    return found


def argv_of(kind: str) -> list[str]:
    """The command of a kind, with this interpreter as its `python`."""
    program, *rest = read_procfile()[kind]
    return [sys.executable if program == "python" else program, *rest]


def names_of(formation: Mapping[str, int]) -> list[tuple[str, str]]:
    """(name, kind) of each process: web, worker-1, worker-2 ..."""
    return [
        (kind if number == 1 and count == 1 else f"{kind}-{number}", kind)
        for kind, count in formation.items()
        for number in range(1, count + 1)
    ]


def environment_of(name: str, kind: str, environment: Mapping[str, str], *, web_port: int = 0) -> dict[str, str]:
    """What one process is told beside what all are: its role, and a port of its own."""
    told = dict(environment) | {"CASEFLOW_ROLE": name}
    if kind == "web" and web_port:
        told["GUNICORN_CMD_ARGS"] = f"--bind 127.0.0.1:{web_port}"
    if kind in ("worker", "slow"):
        told["CASEFLOW_HEALTH_PORT"] = str(free_port())
    return told


def _end(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main() -> int:
    for name in ("DATABASE_URL", "REDIS_URL", "CASEFLOW_SECRET_KEY"):
        if name not in os.environ:
            print(f"{name} is not named: these processes run on servers of their own.", file=sys.stderr)
            return 2
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    group = ProcessGroup(FOLDER / "processes")
    try:
        for name, kind in names_of(FORMATION):
            environment = environment_of(name, kind, {"DJANGO_SETTINGS_MODULE": "caseflow.settings", **os.environ})
            group.start(name, argv_of(kind), environment, folder=CHECKOUT)
            print(f"{name}: {group.logs / name}.log", flush=True)
        while True:
            time.sleep(REVIVAL_PAUSE)
            for name in group.dead():
                print(f"{name} ended; it is started again", flush=True)
                group.restart(name)
    except KeyboardInterrupt:
        return 0
    finally:
        group.close()


if __name__ == "__main__":
    sys.exit(main())
