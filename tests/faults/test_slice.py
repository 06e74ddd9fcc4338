"""A few of the crash points of `make faults`, in every run of the tests."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.harness import running_harness
from tests.faults.running import Run
from tests.faults.scenario import SCENARIOS
from tests.faults.schedule import ASLEEP, Schedule
from tests.faults.servers import Server, named_server, own_server
from tests.faults.spots import EXECUTION, ONCE, Spot
from tests.faults.waves import Wave

SEED = 4821
BESIDE = ("C02", "C08")  #: rows that need no wave


def spots(*rows: str) -> tuple[Spot, ...]:
    return tuple(spot for spot in (*ONCE, *EXECUTION) if spot.row in rows)


def slice_of_all() -> Schedule:
    return Schedule(
        SEED,
        (
            Wave("same", "first", "worker-1", spots("C10", "C13", "C22", "C24")),
            Wave("other", "last", "worker-2", spots("C23", "C27")),
            Wave("asleep", "first", "worker-1", ASLEEP[:2]),
            *(one for one in SCENARIOS if one.row in BESIDE),
        ),
    )


@contextmanager
def a_server(folder: Path) -> Iterator[Server]:
    """The server of `make test`, or one of our own."""
    if os.environ.get("DATABASE_URL"):
        yield named_server()
    else:
        with own_server(folder / "server") as server:
            yield server


@pytest.mark.timeout(300)
def test_nothing_is_lost_or_doubled_at_a_slice_of_the_crash_points(tmp_path: Path) -> None:
    # Thousands of requests, of which only the last ones of a failure would be of interest.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    said: list[str] = []
    with a_server(tmp_path) as server, running_harness(tmp_path / "system", server) as harness:
        run = Run(harness, slice_of_all(), tmp_path, said.append).play()
        run.tell_problems()
    assert run.good, "\n".join(said)
    assert {result.row for result in run.results} >= {"C08", "C10", "C13", "C22", "C23", "C24", "C27", "C43"}
