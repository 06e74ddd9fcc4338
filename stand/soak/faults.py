"""Breaking one part after another and seeing to it that it runs again, as an operator's supervisor would."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.error
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
import psycopg
import redis

from stand.soak.plan import MISFORTUNES, PlannedFault
from stand.system import System, direct

LEASE = 10.0  #: seconds, as the product's own
DOWN = (2.0, 6.0)  #: seconds that outside systems are away
AWAY = (0.5, 3.0)  #: seconds until a killed process is started again
REPLACED_WITHIN = 60.0  #: seconds for a supervisor to replace a killed worker
WITH_WORK_WITHIN = 5.0  #: seconds that a fault waits for its worker to have work
_LEASES = "SELECT leased_by FROM cases_task WHERE status = 'leased' AND leased_until > clock_timestamp()"
#: What a worker writes when it found that somebody else holds its task by now.
ZOMBIES = ("its writes were refused", "was lost before its fault could be stored")


@dataclass(frozen=True, slots=True)
class Injected:
    """One fault that happened, in seconds from the start of arrivals, and when the part it broke was ready again."""

    at: float
    kind: str
    whom: str
    ready_after: float


@dataclass(slots=True)
class Breaker:
    """Runs in the main thread: the kernel ends a process with the thread that started it."""

    system: System
    begun: float  #: of the monotonic clock
    injected: list[Injected] = field(default_factory=list)
    unready: list[str] = field(default_factory=list)  #: what did not come back
    zombies: int = 0  #: late writers that found they had lost their lease

    def run(self, faults: Sequence[PlannedFault], tell: Callable[[str], None]) -> None:
        for fault in faults:
            time.sleep(max(0.0, self.begun + fault.at - time.monotonic()))
            started = time.monotonic()
            try:
                whom = self._break(fault.kind, fault.chance)
            except (RuntimeError, TimeoutError, OSError, redis.RedisError, psycopg.Error, httpx2.HTTPError) as error:
                whom = str(error).splitlines()[0]
                self.unready.append(f"{fault.kind}: {whom}")
            done = Injected(started - self.begun, fault.kind, whom, time.monotonic() - started)
            self.injected.append(done)
            tell(f"{done.at:7.1f} s  {done.kind}: {whom}, ready after {done.ready_after:.1f} s")
            self._restart_dead(tell)

    @property
    def by_kind(self) -> Counter[str]:
        return Counter(one.kind for one in self.injected)

    def count_zombies(self) -> int:
        """Of all workers, those of earlier starts included."""
        return self.zombies + sum(self._zombies_in(role) for role in self._workers)

    def _break(self, kind: str, chance: float) -> str:
        pick = int(chance * 1000)
        worker = self._workers[pick % len(self._workers)]
        dispatcher = self._dispatchers[pick % len(self._dispatchers)]
        match kind:
            case "worker family killed":
                leases = self._wait_for_leases(worker)
                self._kill_and_start(worker, chance)
                return f"{worker} with {leases} leases"
            case "worker process killed":
                return self._kill_child(worker)
            case "worker stopped past two leases":
                leases = self._wait_for_leases(worker)
                self.system.processes.signal(worker, signal.SIGSTOP)
                time.sleep(2 * LEASE + 2)
                self.system.processes.signal(worker, signal.SIGCONT)
                return f"{worker} with {leases} leases"
            case "dispatcher killed":
                self._kill_and_start(dispatcher, chance)
                return dispatcher
            case "web restarted":
                self.system.stop("web")
                self.system.start("web")
                self.system.wait_ready("web")
                return "web"
            case "Valkey killed":
                self.system.valkey.crash()
                time.sleep(_between(AWAY, chance))
                self.system.valkey.recover()
                return "valkey"
            case "Valkey emptied":
                with redis.Redis.from_url(self.system.environment["REDIS_URL"], socket_timeout=5) as client:
                    client.flushall()
                return "valkey"
            case "PostgreSQL crashed":
                self.system.postgres.crash()
                self.system.postgres.recover()
                return "postgres"
            case "database sessions ended":
                return f"{end_sessions(self.system.administrator_url)} sessions"
            case "outside systems down":
                return self._go_down(_between(DOWN, chance))
        raise ValueError(f"nobody knows how to do this: {kind}")

    @property
    def _workers(self) -> list[str]:
        return [role for role in self.system.roles if role.startswith("worker")]

    @property
    def _dispatchers(self) -> list[str]:
        return [role for role in self.system.roles if role.startswith("dispatcher")]

    def _kill_and_start(self, role: str, chance: float) -> None:
        self.system.kill(role)
        time.sleep(_between(AWAY, chance))
        self._start(role)

    def _start(self, role: str) -> None:
        self.zombies += self._zombies_in(role)  # a start begins a new log
        self.system.start(role)
        self.system.wait_ready(role)

    def _kill_child(self, worker: str) -> str:
        """kill -9 of the process that works; its supervisor alone puts another in its place."""
        url = self.system.health_url(worker)
        pid = child_of(url)
        if pid is None:
            return f"{worker}, which had none"
        leases = self._wait_for_leases(worker)
        os.kill(pid, signal.SIGKILL)
        self.system.wait_for(
            lambda: child_of(url) not in (None, pid) and health(url)["status"] == "green", patience=REPLACED_WITHIN
        )
        return f"{worker}, its process alone, with {leases} leases"

    def _wait_for_leases(self, worker: str) -> int:
        """A worker without work would have nothing to lose: wait a moment until it has; how many leases."""
        pid, deadline = child_of(self.system.health_url(worker)), time.monotonic() + WITH_WORK_WITHIN
        with psycopg.connect(self.system.administrator_url, autocommit=True) as connection:
            while True:
                rows = connection.execute(_LEASES).fetchall()
                held = sum(int(leased_by.split(":")[-2]) == pid for (leased_by,) in rows)
                if held or time.monotonic() > deadline:
                    return held
                time.sleep(0.02)

    def _go_down(self, seconds: float) -> str:
        with httpx2.Client(base_url=self.system.simulator_url, trust_env=False, timeout=10) as outside:
            outside.post("/down", json={"seconds": seconds}).raise_for_status()
        self.system.wait_ready("simulator")
        return f"for {seconds:.1f} s"

    def _restart_dead(self, tell: Callable[[str], None]) -> None:
        """Whatever a fault took along: a real installation starts it again, too."""
        for role in self.system.processes.dead():
            tell(f"           {role} ended by itself and is started again\n{self.system.processes.log_tail(role, 5)}")
            if role == "postgres":
                self.system.postgres.recover()
            elif role == "valkey":
                self.system.valkey.recover()
            else:
                self._start(role)

    def _zombies_in(self, role: str) -> int:
        log = self.system.processes.roles[role].log
        if not log.exists():
            return 0
        text = log.read_text(encoding="utf-8", errors="replace")
        return sum(text.count(words) for words in ZOMBIES)


def script_misfortunes(simulator_url: str) -> None:
    """A share of all requests to outside systems goes wrong from now on."""
    with httpx2.Client(base_url=simulator_url, trust_env=False, timeout=30) as outside:
        for order in MISFORTUNES:
            outside.post("/faults", json={"times": None, **order}).raise_for_status()


def end_misfortunes(simulator_url: str) -> dict[str, int]:
    """No more of it; how often each kind happened."""
    with httpx2.Client(base_url=simulator_url, trust_env=False, timeout=30) as outside:
        rules = outside.get("/faults").raise_for_status().json()["faults"]
        outside.delete("/faults").raise_for_status()
    return {rule["kind"]: rule["hits"] for rule in rules}


def end_sessions(administrator_url: str) -> int:
    """Terminate every session of the product; how many there were."""
    with psycopg.connect(administrator_url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name LIKE 'caseflow-%'"
        ).fetchall()
    return len(rows)


def health(url: str) -> dict[str, Any]:
    """What a supervisor answers, green or red; nothing of it where nobody answers."""
    try:
        with direct.open(url, timeout=2) as response:
            found: dict[str, Any] = json.loads(response.read())
    except urllib.error.HTTPError as error:
        found = json.loads(error.read())
    except (urllib.error.URLError, OSError):
        return {"status": "silent", "parts": []}
    return found


def child_of(url: str) -> int | None:
    """The process id of a supervisor's first worker process."""
    return next((part["pid"] for part in health(url)["parts"] if part["pid"]), None)


def _between(limits: tuple[float, float], chance: float) -> float:
    low, high = limits
    return low + (high - low) * chance
