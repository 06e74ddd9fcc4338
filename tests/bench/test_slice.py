"""The way of a case became no dearer than what `make bench-slice` last wrote down."""

from __future__ import annotations

import json
import os
from typing import Any

import psycopg

from tests.bench.slice import COMMITTED, as_lines, committed_ratio, is_dearer, measure

#: Set by `make bench-slice`: write down what is measured instead of comparing it.
WRITING = os.environ.get("CASEFLOW_BENCH_SLICE") == "write"


def test_a_case_costs_no_more_processor_time_than_was_committed(
    committing_database: None, as_owner: psycopg.Connection[Any], settings: Any
) -> None:
    in_process = {name: f"tests.bench.adapters.{name.title()}" for name in ("payments", "subscriptions", "mail")}
    settings.ADAPTERS = settings.ADAPTERS | in_process
    settings.CASEFLOW_UNDO_SECONDS = 0

    found = measure(as_owner)

    if WRITING:
        COMMITTED.write_text(json.dumps(found.written(), indent=1) + "\n", encoding="utf-8")
    committed = committed_ratio()
    if is_dearer(found.ratio, committed):
        found = measure(as_owner, first=100_001)  # a busy moment passes, a dearer case stays
    print("\n".join(as_lines(found, committed)))
    assert not is_dearer(found.ratio, committed), "; ".join(as_lines(found, committed))


def test_a_way_half_as_dear_again_is_noticed_and_a_busy_machine_is_not() -> None:
    assert is_dearer(1.5 * 0.8, committed=0.8)
    assert not is_dearer(1.2 * 0.8, committed=0.8)
