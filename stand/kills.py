"""`python -m stand.kills`: kill -9 of a worker that holds leases, again and again; how soon its cases move again.

The same with a bare Dramatiq worker on the same Valkey, which is waited for a minute each time.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import redis
from psycopg.rows import dict_row

from stand.environment import CHECKOUT, temporary_folder, with_database
from stand.soak.faults import child_of, health
from stand.soak.figures import percentiles
from stand.soak.plan import chance
from stand.soak.run import commit, machine_words, put_world
from stand.story import machine
from stand.system import System
from tests.data.make_tickets import World, make_ticket

LIMIT = 15.0  #: seconds for the 95th percentile
BARE_LIMIT = 60.0  #: seconds for which a bare worker's message is waited for
PATIENCE = 60.0  #: seconds after which a case counts as not moved
RATE = 1.5  #: tickets a second: one worker alone must be able to keep up, or its backlog would be measured
SLOW = 0.4  #: seconds of each read outside, so that leases are held when the kill comes
BARE_DATABASE = "1"  #: of Valkey; the product has 0
BARE = "tests.kills.bare"


@dataclass(frozen=True, slots=True)
class Kill:
    """Seconds until each of the tasks that the killed worker held was begun again, by the database's clock."""

    whom: str
    each: tuple[float, ...]

    @property
    def seconds(self) -> float:
        return max(self.each, default=0.0)


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--bare", type=int, default=3, help="kills of a bare Dramatiq worker, a minute each")
    parser.add_argument("--report", type=Path, default=CHECKOUT / "docs" / "proof", help="folder for the JSON result")
    options = parser.parse_args()
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SIMULATOR_URL"):
        os.environ.pop(name, None)  # what is broken here is our own
    with temporary_folder() as folder:
        (folder / "scratch").mkdir()
        environment = {"CASEFLOW_DEMO": "1", "TMPDIR": str(folder / "scratch")}
        system = System(folder, workers=2, environment=environment, tell=tell)
        try:
            with system:
                began_at = datetime.now().astimezone()
                words = machine_words(system)
                kills = kill_workers(system, options.kills)
                bare = [kill_bare(system, f"m{number}") for number in range(1, options.bare + 1)]
        finally:
            system.discard()
    found = result(kills, bare) | {"began_at": began_at.isoformat(timespec="seconds")}
    found |= {"commit": commit(), "machine": words}
    options.report.mkdir(parents=True, exist_ok=True)
    path = options.report / f"kills-{found['began_at'][:10]}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines_of(found)))
    return 0 if found["passed"] else 1


# Ours.


def kill_workers(system: System, times: int) -> list[Kill]:
    """Kill whoever holds leases, by turns the worker process alone and its whole family."""
    token = system.manage_json("bootstrap", "--demo")["token"]
    with httpx2.Client(base_url=system.simulator_url, trust_env=False, timeout=30) as outside:
        slow = {"match": {"method": "GET"}, "fault": {"kind": "delay", "seconds": SLOW}, "times": None}
        outside.post("/faults", json=slow).raise_for_status()
    kills: list[Kill] = []
    roles = [role for role in system.roles if role.startswith("worker")]
    with (
        steady_tickets(system, token),
        psycopg.connect(system.administrator_url, autocommit=True, row_factory=dict_row) as database,
    ):
        time.sleep(5)
        while len(kills) < times:
            number = len(kills) + 1
            time.sleep(chance(number, "pause").uniform(0.5, 2.5))  # at no fixed phase of anything
            kill = _kill_one(system, database, roles[number // 2 % len(roles)], whole_family=number % 2 == 0)
            # What was settled between the look and the kill did not have to be taken over, and shows nothing.
            if kill.each:
                kills.append(kill)
            tell(f"kill {number}: {kill.whom} with {len(kill.each)} leases, {kill.seconds:.1f} s")
    return kills


def _kill_one(system: System, database: psycopg.Connection[dict[str, Any]], role: str, *, whole_family: bool) -> Kill:
    pid = child_of(system.health_url(role))
    assert pid is not None, f"{role} has no worker process"

    def leases() -> list[dict[str, Any]]:
        rows = database.execute(_LEASES).fetchall()
        return [row for row in rows if int(row["leased_by"].split(":")[-2]) == pid]

    held = system.wait_for(leases, every=0.02)
    if whole_family:
        system.kill(role)
    else:
        os.kill(pid, signal.SIGKILL)
    killed_at = database.execute("SELECT clock_timestamp() AS at").fetchall()[0]["at"]
    if whole_family:
        system.start(role)
    held = [row for row in held if _is_still_held(database, row)]
    each = tuple(_seconds_until_begun_again(database, row, killed_at) for row in held)
    if whole_family:
        system.wait_ready(role)
    url = system.health_url(role)
    system.wait_for(lambda: child_of(url) not in (None, pid) and health(url)["status"] == "green")
    return Kill(f"{role}, {'all of it' if whole_family else 'its process'}", each)


def _is_still_held(database: psycopg.Connection[dict[str, Any]], row: dict[str, Any]) -> bool:
    return bool(database.execute(_STILL, row).fetchall())


def _seconds_until_begun_again(
    database: psycopg.Connection[dict[str, Any]], row: dict[str, Any], killed_at: datetime
) -> float:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := database.execute(_AGAIN, row).fetchall():
            return max(0.0, (found[0]["at"] - killed_at).total_seconds())
        time.sleep(0.1)
    return PATIENCE


@contextmanager
def steady_tickets(system: System, token: str) -> Iterator[None]:
    """Tickets at a steady rate until the block ends; they go as far as the approval."""
    stopped = threading.Event()

    def work() -> None:
        rng = chance(1, "tickets")
        number = 1
        with machine(system.base_url, token) as client:
            while not stopped.wait(rng.expovariate(RATE)):
                world: World = {"customers": [], "payments": [], "subscriptions": []}
                body = make_ticket(200_000 + number, "restore_access", "acme", world, rng) | {"organisation": "acme"}
                put_world(system.simulator_url, world)
                client.post("/api/v1/cases/", json=body).raise_for_status()
                number += 1

    thread = threading.Thread(target=work, name="tickets", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


_LEASES = "SELECT id, fence, leased_by FROM cases_task WHERE status = 'leased' AND leased_until > clock_timestamp()"
_STILL = "SELECT 1 FROM cases_task WHERE id = %(id)s AND fence = %(fence)s AND status = 'leased'"
_AGAIN = "SELECT begun_at AS at FROM cases_attempt WHERE task_id = %(id)s AND fence > %(fence)s ORDER BY fence LIMIT 1"


# A bare worker.


def kill_bare(system: System, message: str) -> float | None:
    """Kill the one of two bare workers that has the message; seconds until it was begun again, or None."""
    url = with_database(system.environment["REDIS_URL"], BARE_DATABASE)
    environment = {**os.environ, "REDIS_URL": url}
    names = [f"bare-{message}-{number}" for number in (1, 2)]
    argv = [sys.executable, "-m", "dramatiq", BARE, "--processes", "1", "--threads", "4"]
    with redis.Redis.from_url(url, socket_timeout=5) as client:
        client.flushdb()
        pids = {system.processes.start(name, argv, environment, folder=CHECKOUT): name for name in names}
        for name in names:
            system.processes.wait_ready(name, lambda name=name: _is_ready(system, name))  # type: ignore[misc]
        _send_bare(message, environment)
        system.wait_for(lambda: _begun(client, message))
        victim = pids[os.getpgid(_begun(client, message)[0])]
        begun = time.monotonic()
        system.processes.kill(victim)
        again: float | None = None
        while again is None and time.monotonic() - begun < BARE_LIMIT:
            if len(_begun(client, message)) > 1:
                again = time.monotonic() - begun
            time.sleep(0.1)
        system.processes.stop(*[name for name in names if name != victim])
    tell(f"bare worker, {message}: " + (f"begun again after {again:.1f} s" if again else f"not in {BARE_LIMIT:.0f} s"))
    return again


def _is_ready(system: System, name: str) -> bool:
    return "is ready for action" in system.processes.roles[name].log.read_text(encoding="utf-8", errors="replace")


def _send_bare(message: str, environment: dict[str, str]) -> None:
    code = f"from {BARE} import work; work.send({message!r})"
    subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, env=environment, check=True)


def _begun(client: redis.Redis, message: str) -> list[int]:
    """The processes that began to work on the message, in order."""
    notes: Any = client.lrange("bare:notes", 0, -1)
    words = [note.decode().split() for note in notes]
    return [int(pid) for kind, about, pid in words if kind == "begun" and about == message]


# What came of it.


def result(kills: list[Kill], bare: list[float | None]) -> dict[str, Any]:
    slowest = percentiles([kill.seconds for kill in kills])
    every = percentiles([seconds for kill in kills for seconds in kill.each])
    return {
        "passed": slowest.get("p95", PATIENCE) <= LIMIT and all(again is None for again in bare),
        "limit_seconds": LIMIT,
        "kills": len(kills),
        "seconds_until_all_its_cases_moved": slowest,
        "seconds_until_a_case_moved": every,
        "each": [{"whom": kill.whom, "tasks": len(kill.each), "seconds": round(kill.seconds, 2)} for kill in kills],
        "bare": {
            "waited_seconds": BARE_LIMIT,
            "begun_again_after": [None if again is None else round(again, 1) for again in bare],
        },
    }


def lines_of(found: dict[str, Any]) -> list[str]:
    slowest = sorted(one["seconds"] for one in found["each"])
    lines = ["seconds until the cases of a killed worker moved again"]
    for second in range(int(slowest[0]), int(slowest[-1]) + 1) if slowest else ():
        count = sum(second <= seconds < second + 1 for seconds in slowest)
        lines.append(f"{second:>4}–{second + 1:<3} {count:>3} {'#' * count}")
    bare = found["bare"]["begun_again_after"]
    lines.append(f"bare Dramatiq worker: {sum(again is None for again in bare)} of {len(bare)} not resumed at 60 s")
    figures = ", ".join(f"{name} {value:.1f} s" for name, value in found["seconds_until_all_its_cases_moved"].items())
    verdict = "passed" if found["passed"] else "failed"
    return [*lines, f"kills {verdict}: {found['kills']} kills, {figures}, limit {LIMIT:.0f} s at p95"]


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
