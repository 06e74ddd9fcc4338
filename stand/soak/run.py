"""One run from a fresh folder to a verdict."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx2
import psycopg
import redis

from stand.environment import CHECKOUT
from stand.people import SignedIn
from stand.soak import figures
from stand.soak.approver import Approver
from stand.soak.clients import Helpdesk, Reader
from stand.soak.faults import Breaker, end_misfortunes, script_misfortunes
from stand.soak.journal import Journal
from stand.soak.judging import SHOWN, Outside, judge
from stand.soak.metering import Meter, Taken, differences
from stand.soak.plan import GAP, Arrival, chance, is_full, plan_arrivals, plan_faults
from stand.system import System

WARM_UP = 60.0  #: seconds of arrivals before the first fault, at most a sixth of the run
LATE = (60.0, 180.0)  #: seconds that a late approval waits, at most a sixth of the run
DRAIN = 300.0  #: seconds for everything to come to rest after the last arrival
PUT_AT_ONCE = 2000  #: objects of the outside world
STEADY = 10.0  #: seconds of rest before the last measurement

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Order:
    """What was asked for."""

    minutes: float
    seed: int
    rate: float
    gap: tuple[float, float] = GAP


def run(system: System, order: Order, journal: Journal, tell: Tell) -> dict[str, Any]:
    """Drive a started system through one soak. The result is what the report says; `passed` is its verdict."""
    seconds = order.minutes * 60
    warm_up = min(WARM_UP, seconds / 6)
    late = (min(LATE[0], seconds / 12), min(LATE[1], seconds / 6))
    world, arrivals = plan_arrivals(seconds, order.rate, chance(order.seed, "arrivals"))
    faults = plan_faults(seconds, warm_up, chance(order.seed, "faults"), order.gap)
    told = system.manage_json("bootstrap", "--demo")
    put_world(system.simulator_url, world)
    size_before = figures.database_size(system.administrator_url)
    approver = Approver(
        lambda: _sign_in(system, told, "approver"),
        {arrival.external_id: arrival for arrival in arrivals},
        lambda arrival: _refund(system.simulator_url, arrival),
        late,
        journal,
        chance(order.seed, "approver"),
    )
    reader = Reader(_sign_in(system, told, "viewer"), journal)
    meter = Meter(system)
    script_misfortunes(system.simulator_url)
    began_at, begun = datetime.now(UTC), time.monotonic()
    helpdesk = Helpdesk(system.base_url, told["token"], arrivals, begun, journal)
    breaker = Breaker(system, begun)
    tell(f"{len(arrivals)} tickets in {seconds:.0f} s, {len(faults)} faults, seed {order.seed}")
    for part in (meter, approver, reader, helpdesk):
        part.start()
    time.sleep(max(0.0, warm_up - 5))
    before = meter.sample()
    breaker.run(faults, tell)
    time.sleep(max(0.0, begun + seconds - time.monotonic()))
    misfortunes = end_misfortunes(system.simulator_url)
    tell("arrivals and faults end; waiting for rest")
    resting = time.monotonic()
    all_told = helpdesk.finish(DRAIN / 2)
    approver.hurry()
    restless = drain(system, DRAIN)
    drained = time.monotonic() - resting
    approver.stop()
    reader.stop()
    time.sleep(STEADY)
    after = meter.sample()
    meter.stop()
    tell("judging")
    verdict = judge(system.administrator_url, Outside.read(system.folder / "simulator-ledger"), arrivals, journal)
    invariants = ask_invariants(system)
    leaks = differences(before, after)
    cases = max(1, verdict.accepted)
    measured = figures.read_figures(system.administrator_url)
    size = figures.database_size(system.administrator_url) - size_before
    counts = journal.counts
    problems = {
        "unanswered tickets": verdict.unanswered,
        "lost": verdict.lost,
        "doubled": verdict.doubled,
        "called done early": verdict.early,
        "unexpected ends": verdict.unexpected,
        "answers that may never be given": journal.wrong,
        "not at rest after the drain": restless,
        "invariants": [] if invariants.get("clean") else [_first_violation(invariants)],
        "not back at baseline": leaks,
        "did not come back": breaker.unready,
        "helpdesk": [] if all_told else ["some tickets were still being sent"],
    }
    return {
        "passed": not any(problems.values()),
        "is_full_run": is_full(faults) and verdict.accepted >= 5000,
        "order": {"minutes": order.minutes, "seed": order.seed, "rate": order.rate},
        "began_at": began_at.isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine_words(system),
        "accepted": verdict.accepted,
        "lost": len(verdict.lost),
        "doubled": len(verdict.doubled),
        "called_done_early": len(verdict.early),
        "problems": {name: {"count": len(found), "first": found[:SHOWN]} for name, found in problems.items() if found},
        "faults": {
            "injected": len(breaker.injected),
            "by_kind": dict(sorted(breaker.by_kind.items())),
            "outside": misfortunes,
            "schedule": [
                {"at": round(one.at, 1), "kind": one.kind, "whom": one.whom, "ready_after": round(one.ready_after, 1)}
                for one in breaker.injected
            ],
        },
        "throughput": {
            "arrivals_per_second": round(len(arrivals) / seconds, 2),
            "effects": dict(verdict.effects),
            "intake_seconds": figures.percentiles(journal.latencies),
            "latest_first_send_seconds": round(helpdesk.latest, 3),
            "drained_after_seconds": round(drained, 1),
        },
        "parts": measured["parts"],
        "attempts": measured["attempts"],
        "late_writers_refused": breaker.count_zombies(),
        "unknown": measured["unknown"],
        "stale_approvals_refused": {
            "told": counts["stale approvals refused"],
            "in_audit": measured["stale_refused_in_audit"],
        },
        "clients": dict(sorted(counts.items())),
        "ends": dict(verdict.ends.most_common()),
        "left_to_a_person_by_faults": dict(verdict.attention),
        "shown": {"completed": len(journal.shown_done), "confirmed": len(journal.shown_confirmed)},
        "database": {
            "bytes_per_case": round(size / cases),
            "rows_per_case": round(sum(measured["rows"].values()) / cases, 1),
            "rows": measured["rows"],
        },
        "invariants": invariants,
        "resources": _resources(before, after, meter),
    }


def put_world(simulator_url: str, world: dict[str, list[dict[str, Any]]]) -> None:
    with httpx2.Client(base_url=simulator_url, trust_env=False, timeout=60) as outside:
        for collection, objects in world.items():
            for at in range(0, len(objects), PUT_AT_ONCE):
                outside.put("/world", json={collection: objects[at : at + PUT_AT_ONCE]}).raise_for_status()


def drain(system: System, patience: float) -> list[str]:
    """Wait until nothing is under way; what still is after `patience` seconds, in words."""
    deadline = time.monotonic() + patience
    while restless := _restless(system.administrator_url):
        if time.monotonic() > deadline:
            break
        time.sleep(0.5)
    return restless


def _restless(database_url: str) -> list[str]:
    try:
        with psycopg.connect(database_url, autocommit=True) as connection:
            rows = connection.execute(_UNDER_WAY).fetchall()
    except psycopg.OperationalError as error:
        return [str(error)]
    return [f"{case} is {state}" for case, state in rows]


#: Waits for a date or a person who is not scripted are rest; a regular check that is due just now is over in a moment.
_UNDER_WAY = """
SELECT public_id, state FROM cases_case
WHERE state IN ('RECEIVED', 'CHECKING', 'WAITING_APPROVAL', 'EXECUTING', 'NOTIFYING')
UNION ALL
SELECT coalesce(c.public_id, '-'), 'working on ' || t.stage FROM cases_task t LEFT JOIN cases_case c ON c.id = t.case_id
WHERE t.status = 'leased' OR t.status = 'due' AND t.available_at < clock_timestamp()
UNION ALL
-- A notice that asks for data is sent while its case waits.
SELECT c.public_id, 'waiting to ' || t.stage FROM cases_task t JOIN cases_case c ON c.id = t.case_id
WHERE t.status = 'due' AND t.stage = 'notify'
"""


def ask_invariants(system: System) -> dict[str, Any]:
    done = system.manage("verify_invariants", "--json", "--ledger", system.simulator_url, check=False)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"clean": False, "failed": (done.stdout + done.stderr)[-500:], "invariants": []}
    return found


def _first_violation(invariants: dict[str, Any]) -> str:
    for one in invariants.get("invariants", []):
        if one["violations"]:
            return f"{one['name']}: {one['violations']}, such as {one['examples'][:3]}"
    return str(invariants.get("failed", "no answer"))


def _sign_in(system: System, told: dict[str, Any], username: str) -> SignedIn:
    person = next(one for one in told["sign_ins"] if one["username"] == username)
    return SignedIn(system.base_url, username, person["password"])


def _refund(simulator_url: str, arrival: Arrival) -> None:
    """The payment goes back while the plan still waits; tried until the outside systems take it."""
    deadline = time.monotonic() + 60
    while True:
        try:
            with httpx2.Client(base_url=simulator_url, trust_env=False, timeout=10) as outside:
                outside.patch(f"/payments/{arrival.payment}", json={"status": "refunded"}).raise_for_status()
            return
        except httpx2.HTTPError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def commit() -> str:
    """The checkout's commit, and whether files differ from it."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=CHECKOUT, capture_output=True, text=True)
        return done.stdout.strip()

    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + (
        " with changes" if git("status", "--porcelain", "--untracked-files=no") else ""
    )


def machine_words(system: System) -> dict[str, Any]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory, 1),
        "python": platform.python_version(),
        "postgresql": figures.server_version(system.administrator_url),
        "valkey": _valkey_version(system.environment["REDIS_URL"]),
    }


def _valkey_version(url: str) -> str:
    with redis.Redis.from_url(url, socket_timeout=5) as client:
        told: dict[str, Any] = client.info("server")
    return str(told.get("valkey_version") or told["redis_version"])


def _resources(before: dict[str, Taken], after: dict[str, Taken], meter: Meter) -> dict[str, Any]:
    return {
        role: {
            "processor_seconds": round(meter.processor.get(role, 0.0), 1),
            "processor_share": round(meter.processor.get(role, 0.0) / meter.seconds, 3) if meter.seconds else 0,
            "memory_mib": {
                "baseline": round(was.memory),
                "peak": round(meter.peak.get(role, 0.0)),
                "end": round(after[role].memory) if role in after else None,
            },
            "sessions": {"baseline": was.sessions, "end": after[role].sessions if role in after else None},
            "threads": {"baseline": was.threads, "end": after[role].threads if role in after else None},
            "files": {"baseline": was.files, "end": after[role].files if role in after else None},
        }
        for role, was in before.items()
    }
