"""Settings under which a test may stop a process at a named place; they alone arm `caseflow.domain.failpoints`.

CASEFLOW_FAILPOINTS names a folder. Each file of its `armed` folder is one hit: `ORDER~PLACE~WHO.json`, where WHO are
the words that must be among what the place is about, joined by `+`. Whoever renames the file away has the hit, so that
there are exactly as many hits as files, across all processes. Each is noted in `hits.jsonl` before anything happens.

CASEFLOW_CLOCK_SHIFT moves this process's clock by so many seconds; CASEFLOW_DATABASE_LIMITS replaces the time limits
that PostgreSQL is given.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from environs import Env

from caseflow.domain import failpoints
from caseflow.settings import *  # noqa: F403
from caseflow.settings import ADAPTERS, CASEFLOW_ROLE, DATABASES, PROCESSES

HOLD_POLL = 0.02  #: seconds
KILLED = 128 + signal.SIGKILL

_env = Env()
with _env.prefixed("CASEFLOW_"):
    _folder = _env.str("FAILPOINTS", default="")
    _shift = _env.float("CLOCK_SHIFT", default=0.0)
    _limits = _env.str("DATABASE_LIMITS", default="")
    _more_processes: list[str] = _env.list("MORE_PROCESSES", default=[])
    _more_adapters: dict[str, str] = _env.dict("MORE_ADAPTERS", default={})

PROCESSES = [*PROCESSES, *_more_processes]
ADAPTERS = {**ADAPTERS, **_more_adapters}


class ArmedPlace(Exception):
    """What an armed place raises when it was told to."""


class Armoury:
    """The folder of armed places, as one process sees it."""

    def __init__(self, folder: Path, role: str) -> None:
        self._armed, self._taken, self._hits = folder / "armed", folder / "taken", folder / "hits.jsonl"
        self._role = role

    def __call__(self, place: str, about: tuple[str, ...]) -> None:
        for name in sorted(os.listdir(self._armed)):
            _order, armed_place, who = name.removesuffix(".json").split("~")
            if armed_place != place or not set(filter(None, who.split("+"))) <= {*about, self._role}:
                continue
            try:
                os.rename(self._armed / name, self._taken / name)
            except FileNotFoundError:
                continue  # another process has this hit
            self._hit(name, place, about)
            return

    def _hit(self, name: str, place: str, about: tuple[str, ...]) -> None:
        order = json.loads((self._taken / name).read_text())
        self._note(name, place, about, order)
        match order["action"]:
            case "pass":
                return
            case "exit":
                os.kill(os.getpid(), signal.SIGKILL)
                os._exit(KILLED)  # never reached where signals are delivered
            case "raise":
                raise ArmedPlace(place)
            case "sleep":
                threading.Event().wait(order["seconds"])
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "hold":
                self._hold(name, order["seconds"])
            case unknown:
                raise ValueError(f"no place can {unknown}")

    def _hold(self, name: str, seconds: float) -> None:
        """Stay at the place until the harness lets go, the time is up, or somebody kills the process."""
        end, go = time.monotonic() + seconds, self._taken / f"{name}.go"
        while time.monotonic() < end and not go.exists():
            threading.Event().wait(HOLD_POLL)

    def _note(self, name: str, place: str, about: tuple[str, ...], order: dict[str, Any]) -> None:
        hit = {
            "file": name,
            "place": place,
            "about": list(about),
            "attempt": next((int(word[8:]) for word in about if word.startswith("attempt-")), None),
            "action": order["action"],
            "pid": os.getpid(),
            "thread": threading.get_native_id(),
            "role": self._role,
            "at": datetime.now(UTC).isoformat(),
        }
        line = json.dumps(hit).encode() + b"\n"
        # One write of one line in append mode: lines of several processes never mix.
        file = os.open(self._hits, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line)
        finally:
            os.close(file)


def _shift_clock(seconds: float) -> None:
    """Every clock of this process but the monotonic one; what counts for leases is the database's."""
    import time_machine

    time_machine.travel(datetime.now(UTC) + timedelta(seconds=seconds), tick=True).start()


if _limits:
    DATABASES["default"]["OPTIONS"]["options"] = _limits  # type: ignore[index]
if _shift:
    _shift_clock(_shift)
if _folder:
    failpoints.arm(Armoury(Path(_folder), CASEFLOW_ROLE))
