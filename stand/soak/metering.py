"""What each role takes from the machine: processor time, memory, threads, files, and sessions of the database."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from stand.system import System

EVERY = 5.0  #: seconds
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

#: What may be left over: a fresh process is smaller than a used one, and a pool is filled only as far as it was needed.
MEMORY_FACTOR, MEMORY_EXTRA = 1.25, 24.0  #: MiB
SESSIONS_EXTRA = 4
THREADS_EXTRA = 4
FILES_EXTRA = 16
#: Roles whose memory has to come back; a database and a simulator keep what they were told.
OWN = ("web", "worker", "dispatcher")


@dataclass(slots=True)
class Taken:
    """By one role with all its children, at one moment."""

    memory: float = 0.0  #: MiB resident
    threads: int = 0
    files: int = 0  #: open descriptors
    sessions: int = 0  #: of the database


@dataclass(slots=True)
class Meter:
    """Looks every few seconds, because processor time of a killed process is gone with it."""

    system: System
    processor: dict[str, float] = field(default_factory=lambda: defaultdict(float))  #: role → seconds
    peak: dict[str, float] = field(default_factory=lambda: defaultdict(float))  #: role → MiB
    seconds: float = 0.0
    _seen: dict[int, float] = field(default_factory=dict)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._work, name="meter", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def sample(self) -> dict[str, Taken]:
        """What every role takes now."""
        sessions = _sessions(self.system.administrator_url)
        found = {}
        for role, pids in families(self.system.pids).items():
            taken = Taken(sessions=sessions.get(f"caseflow-{role}", 0))
            for pid in pids:
                taken.memory += _memory(pid)
                taken.threads += _entries(pid, "task")
                taken.files += _entries(pid, "fd")
            found[role] = taken
        return found

    def _work(self) -> None:
        begun = time.monotonic()
        while not self._stopped.wait(EVERY):
            self.seconds = time.monotonic() - begun
            for role, pids in families(dict(self.system.processes.pids)).items():
                memory = 0.0
                for pid in pids:
                    used = _processor(pid)
                    self.processor[role] += max(0.0, used - self._seen.get(pid, 0.0))
                    self._seen[pid] = used
                    memory += _memory(pid)
                self.peak[role] = max(self.peak[role], memory)


def differences(before: dict[str, Taken], after: dict[str, Taken]) -> list[str]:
    """In words, what did not come back to where it was."""
    found = []
    for role, was in before.items():
        now = after.get(role)
        if now is None:
            found.append(f"{role} does not run")
            continue
        if not role.startswith(OWN):
            continue
        if now.memory > was.memory * MEMORY_FACTOR + MEMORY_EXTRA:
            found.append(f"{role}: {was.memory:.0f} MiB became {now.memory:.0f}")
        if now.sessions > was.sessions + SESSIONS_EXTRA:
            found.append(f"{role}: {was.sessions} database sessions became {now.sessions}")
        if now.threads > was.threads + THREADS_EXTRA:
            found.append(f"{role}: {was.threads} threads became {now.threads}")
        if now.files > was.files + FILES_EXTRA:
            found.append(f"{role}: {was.files} open files became {now.files}")
    return found


def families(roles: dict[str, int]) -> dict[str, list[int]]:
    """Each role's process and all that came of it."""
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue  # gone meanwhile
            children[int(parent)].append(int(folder.name))
    found = {}
    for role, pid in roles.items():
        family, new = [pid], [pid]
        while new:
            new = [child for parent in new for child in children[parent]]
            family += new
        found[role] = family
    return found


def _memory(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 2**20
    except OSError:
        return 0.0


def _processor(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def _entries(pid: int, name: str) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/{name}"))
    except OSError:
        return 0


def _sessions(administrator_url: str) -> dict[str, int]:
    with psycopg.connect(administrator_url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT application_name, count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' GROUP BY 1"
        ).fetchall()
    return dict(rows)
