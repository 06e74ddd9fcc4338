"""From a decision's commit to the outgoing request, beside a bare Dramatiq message from sent to begun."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import redis

from stand.bench.contestants import Ours, Peer
from stand.bench.figures import figure, percentile, significant
from stand.system import System

RATE = 50.0  #: cases a second
COUNT = 400  #: cases of a busy round
QUIET_RATE, QUIET_COUNT = 2.0, 24
WARM_UP = 40  #: cases
WORKERS = 2
STARTED = "bench:started"  #: of `stand.bench.peers.with_dramatiq`
KEPT_UP = 0.95  #: of the rate


def measure_latency(system: System, notes: Path, *, rounds: int) -> dict[str, Any]:
    """Milliseconds at the 95th percentile, busy and quiet, and their ratio round by round."""
    ours = replace(Ours(system), told={"CASEFLOW_BENCH_NOTES": str(notes)})
    bare = Peer(system, "dramatiq", keeps=False, order="send")
    found: dict[str, list[float]] = {"busy": [], "quiet": [], "bare": [], "done_per_s": []}
    for number in range(rounds):
        for turn in ("ours", "bare") if number % 2 == 0 else ("bare", "ours"):
            if turn == "bare":
                found["bare"].append(_bare(bare))
                continue
            busy, quiet, done = _ours(ours, notes)
            found["busy"].append(busy)
            found["quiet"].append(quiet)
            found["done_per_s"].append(done)
    return {
        "rate": RATE,
        "decide_to_request_ms": figure(found["busy"]),
        "send_to_start_ms": figure(found["bare"]),
        "decide_to_request_ratio": figure([a / b for a, b in zip(found["busy"], found["bare"], strict=True)]),
        "idle_decide_to_request_ms": figure(found["quiet"]),
        "requests_per_s": figure(found["done_per_s"]),
        "kept_up": min(found["done_per_s"]) >= KEPT_UP * RATE,
    }


def _ours(ours: Ours, notes: Path) -> tuple[float, float, float]:
    notes.write_text("")
    with ours.working(WORKERS), ours.client() as client:
        client.ask(f"drive {WARM_UP}")
        client.ask(f"prepare {QUIET_COUNT}")
        quiet = client.ask(f"pace {QUIET_RATE}")["approved"]
        client.ask(f"prepare {COUNT}")
        busy = client.ask(f"pace {RATE} busy")["approved"]
    requested = read_notes(notes.read_text(encoding="utf-8").splitlines())
    first, last = min(planned for planned, _ in busy.values()), max(requested[f"S-{name}"] for name in busy)
    return (
        p95(busy, {name: requested[f"S-{name}"] for name in busy}),
        p95(quiet, {name: requested[f"S-{name}"] for name in quiet}),
        significant(len(busy) / (last - first + 1 / RATE)),
    )


def _bare(bare: Peer) -> float:
    bare.prepare()
    with bare.working(WORKERS), bare.client() as client:
        client.ask(f"drive {WARM_UP}")
        client.ask(f"prepare {COUNT}")
        sent = client.ask(f"pace {RATE}")["approved"]
    with redis.Redis.from_url(bare.environment["BENCH_REDIS"], socket_timeout=5) as store:
        told: Any = store.hgetall(STARTED)
    return p95(sent, {name.decode(): float(at) for name, at in told.items()})


def read_notes(lines: list[str]) -> dict[str, float]:
    """The first request about each subject."""
    found: dict[str, float] = {}
    for line in lines:
        subject, at = line.split()
        found.setdefault(subject, float(at))
    return found


def p95(approved: Mapping[str, tuple[float, float]], reached: Mapping[str, float]) -> float:
    """Milliseconds from each approval, when it was stored, to what it led to."""
    return 1000 * percentile([max(0.0, reached[name] - stored) for name, (_, stored) in approved.items()], 0.95)
