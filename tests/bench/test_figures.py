"""The arithmetic of the benchmark, and the tables made of it."""

from __future__ import annotations

import json

import pytest

from stand.bench.figures import figure, percentile, ratio
from stand.bench.latency import p95, read_notes
from stand.bench.profiling import told
from stand.bench.result import PROMISES, kept, promised
from stand.bench.tables import as_markdown, as_text, contestants_table, promises_table, written_into

OURS = {1: [{"cases_per_s": 80.0, "cpu_ms_per_case": 9.0}, {"cases_per_s": 120.0, "cpu_ms_per_case": 8.0}]}
DBOS = {1: [{"cases_per_s": 20.0, "cpu_ms_per_case": 30.0}, {"cases_per_s": 24.0, "cpu_ms_per_case": 32.0}]}
OTHER = dict.fromkeys(("commits_per_case", "statements_per_case", "wal_bytes_per_case"), 12.0)
ROUNDS = {
    "ours": {workers: [one | OTHER for one in own] for workers, own in OURS.items()},
    "dbos": DBOS,
}


def test_a_figure_is_the_median_and_its_spread() -> None:
    assert figure([3.0, 1.0, 2.0]) == {"median": 2.0, "min": 1.0, "max": 3.0}
    with pytest.raises(ValueError, match="nothing was measured"):
        figure([])


def test_contestants_are_compared_round_by_round() -> None:
    assert ratio([80.0, 120.0], [20.0, 24.0]) == {"median": 4.5, "min": 4.0, "max": 5.0}
    with pytest.raises(ValueError, match="shorter"):
        ratio([80.0, 120.0], [20.0])


@pytest.mark.parametrize(("share", "found"), [(0.95, 19.0), (0.5, 10.0), (1.0, 20.0), (0.0, 1.0)])
def test_a_percentile_is_one_of_the_values(share: float, found: float) -> None:
    assert percentile([float(number) for number in range(20, 0, -1)], share) == found


def test_a_request_counts_from_when_its_approval_was_stored() -> None:
    requested = read_notes(["S-1 10.5", "S-2 11.0", "S-1 99.0"])
    approved = {"1": (9.0, 10.25), "2": (9.0, 10.75)}

    assert p95(approved, {name: requested[f"S-{name}"] for name in approved}) == 250.0


def test_what_is_promised_is_judged_by_the_medians_of_every_number_of_workers() -> None:
    found = promised(ROUNDS, {"idle": {"idle_queries_per_s": figure([6.0])}}, ceiling_per_s=200.0)

    assert found["ratio_dbos"]["by_workers"]["1"] == {"median": 4.5, "min": 4.0, "max": 5.0}
    assert found["ceiling_share"]["median"] == 0.5
    assert kept(found) == {
        "ratio_dbos": True,
        "ceiling_share": True,
        "cpu_ratio_dbos": True,
        "idle_queries_per_s": False,
    }


def test_nothing_is_said_of_what_was_not_measured() -> None:
    found = promised({"dbos": DBOS}, {}, None)

    assert found == {}
    assert kept(found) == {}
    assert not set(found) & set(PROMISES)


def test_the_page_shows_exactly_what_the_result_holds() -> None:
    bench = {
        **promised(ROUNDS, {}, None),
        "contestants": {"ours": {"1": {"cases_per_s": figure([80.0, 120.0]), "wal_bytes_per_case": figure([12000.0])}}},
        "machine": {"cores": 2, "memory_gib": 8, "python": "3.11", "postgresql": "18.6", "valkey": "8.1"},
        "began_at": "2026-11-30T12:00:00+00:00",
        "commit": "abc",
        "rounds": 2,
    }
    page = "before\n<!-- bench:contestants -->\nold\n<!-- /bench -->\nafter\n"

    written = written_into(page, json.loads(json.dumps(bench)))

    assert "old" not in written
    assert "| Caseflow | 1 | 100.0 (80.0–120.0) | – |" in written
    assert written.startswith("before\n") and written.endswith("after\n")
    assert written_into(written, bench) == written
    with pytest.raises(ValueError, match="has no end"):
        written_into("<!-- bench:contestants -->", bench)


def test_a_table_stands_in_columns_on_the_screen_and_in_markdown() -> None:
    table = contestants_table({"ours": {"1": {"cases_per_s": figure([80.0])}}})

    assert as_text(table).splitlines()[1].startswith("Caseflow  1")
    assert as_markdown(table).splitlines()[1].startswith("| --- | --- |")
    limits = promises_table(promised(ROUNDS, {}, None))
    assert ["at least 4", "kept"] in [row[-2:] for row in limits]


def test_a_profile_counts_a_function_once_a_stack() -> None:
    stacks = ["process 1;run (a.py:1);work (b.py:2);run (a.py:9) 3", "process 1;run (a.py:1) 1"]

    lines = told(stacks).splitlines()

    assert lines[0].startswith("4 samples")
    assert "100.00 %  run (a.py)" in lines
    assert " 75.00 %  work (b.py)" in lines
