"""What a case costs beside a fixed piece of work of the same kind, both measured in turn in one run.

Processor time of this thread and of the PostgreSQL sessions it speaks with, in many short turns, of which the cheapest
count: what else the machine does makes most turns dearer, but not all of them, and both kinds alike.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection

from stand.environment import CHECKOUT
from tests.bench.client import Ours

COMMITTED = CHECKOUT / "docs" / "proof" / "bench-slice.json"
SLACK = 1.3  #: times the committed ratio; half as dear again is noticed

TURNS = 24  #: of one case and of the fixed piece of work
CHEAPEST = 6  #: of the turns, whose median counts
ROUNDS = 25  #: of the fixed piece of work in each turn
WARM_UP = 4  #: cases

_DUE = "SELECT id FROM cases_task WHERE status = 'due' AND available_at <= clock_timestamp() ORDER BY id"


@dataclass(frozen=True, slots=True)
class Slice:
    """Milliseconds of processor time, and the ratio of the two."""

    case_ms: float
    reference_ms: float

    @property
    def ratio(self) -> float:
        return self.case_ms / self.reference_ms

    def written(self) -> dict[str, float]:
        """What is committed."""
        return {
            "case_to_reference": round(self.ratio, 3),
            "case_cpu_ms": round(self.case_ms, 2),
            "reference_cpu_ms": round(self.reference_ms, 2),
        }


def committed_ratio(path: Path = COMMITTED) -> float:
    return float(json.loads(path.read_text(encoding="utf-8"))["case_to_reference"])


def is_dearer(ratio: float, committed: float) -> bool:
    """Whether the way of a case became dearer than what was committed allows."""
    return ratio > committed * SLACK


def measure(beside: psycopg.Connection[Any], *, first: int = 1) -> Slice:
    """`beside` is a session for the fixed work and for looking. Tickets are numbered from `first`."""
    ours = Ours(beside)
    fixed = Reference(beside)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        own = int(cursor.fetchone()[0])
    numbers = count(first)

    def one_case() -> None:
        ours.open_one(str(next(numbers)))
        run_due(beside)
        for plan in ours.waiting():
            ours.approve(plan)
        run_due(beside)

    for _ in range(WARM_UP):
        one_case()
        fixed.work(ROUNDS)
    before = ours.done()
    of_cases, of_reference = [], []
    for _ in range(TURNS):
        of_reference.append(_processor(lambda: fixed.work(ROUNDS), beside.info.backend_pid))
        of_cases.append(_processor(one_case, own))
    assert ours.done() == before + TURNS, "not every case came to its end"
    return Slice(_cheapest(of_cases), _cheapest(of_reference))


def _cheapest(seconds: list[float]) -> float:
    """In milliseconds."""
    return statistics.median(sorted(seconds)[:CHEAPEST]) * 1000


def run_due(watch: psycopg.Connection[Any]) -> None:
    """What dispatcher and workers do; a task that is not this moment's is left."""
    from cases.working import work_on

    while rows := watch.execute(_DUE).fetchall():
        for (task_id,) in rows:
            work_on(task_id)


class Reference:
    """Small transactions with canonical JSON and digests, as a case has them, but nobody will ever improve them."""

    def __init__(self, session: psycopg.Connection[Any]) -> None:
        self._session = session
        session.execute("CREATE TEMP TABLE reference (id bigint PRIMARY KEY, body jsonb NOT NULL, digest bytea)")
        self._next = 1

    def work(self, rounds: int) -> None:
        for number in range(self._next, self._next + rounds):
            body = {f"field-{place}": {"value": str(place * number), "at": number} for place in range(40)}
            for _ in range(4):
                text = json.dumps(json.loads(json.dumps(body, sort_keys=True)), sort_keys=True, separators=(",", ":"))
            digest = hashlib.sha256(text.encode()).digest()
            with self._session.transaction():
                self._session.execute("INSERT INTO reference (id, body) VALUES (%s, %s::jsonb)", [number, text])
                self._session.execute("UPDATE reference SET digest = %s WHERE id = %s", [digest, number])
                self._session.execute(
                    "SELECT key, value ->> 'value' FROM reference, jsonb_each(body) WHERE id = %s ORDER BY 2", [number]
                ).fetchall()
        self._next += rounds


def _processor(work: Callable[[], None], session: int) -> float:
    """Seconds of this thread and of that session."""
    here, there = time.thread_time(), _of_session(session)
    work()
    return time.thread_time() - here + _of_session(session) - there


def _of_session(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def as_lines(found: Slice, committed: float | None) -> Sequence[str]:
    told = f"a case {found.case_ms:.1f} ms, the fixed work {found.reference_ms:.1f} ms, ratio {found.ratio:.3f}"
    return [told] if committed is None else [told, f"committed {committed:.3f}, at most {committed * SLACK:.3f}"]
