"""bench.json as tables: for the screen, and as Markdown between the marks of `docs/performance.md`.

`python -m stand.bench.tables FILE` writes the page's tables anew from that bench.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stand.bench.result import PROMISES, kept
from stand.environment import CHECKOUT

PAGE = CHECKOUT / "docs" / "performance.md"

NAMES = {
    "ours": "Caseflow",
    "dbos": "DBOS Transact as it comes",
    "dbos_tuned": "DBOS Transact, its queue polled every 20 ms",
    "procrastinate": "Procrastinate with its own state rows",
    "dramatiq": "bare Dramatiq, nothing kept (the floor)",
}
COLUMNS = (
    ("cases_per_s", "cases/s", 1),
    ("cpu_ms_per_case", "own CPU, ms a case", 1),
    ("postgres_cpu_ms_per_case", "PostgreSQL's CPU, ms a case", 1),
    ("commits_per_case", "commits a case", 1),
    ("statements_per_case", "statements a case", 1),
    ("wal_bytes_per_case", "log, kB a case", 1),
)
WORDS = {
    "cases_per_s": "cases a second",
    "ratio_dbos": "times DBOS Transact's cases a second, as it comes",
    "ratio_dbos_tuned": "the same, its queue polled every 20 ms",
    "ratio_procrastinate": "times Procrastinate's cases a second",
    "cpu_ratio_dbos": "of DBOS Transact's own CPU a case, as it comes",
    "cpu_ratio_dbos_tuned": "the same, its queue polled every 20 ms",
    "ceiling_share": "of pgbench running the same SQL",
    "decide_to_request_ratio": "decision → request, times bare send → start, p95",
    "idle_decide_to_request_ms": "decision → request in a system at rest, ms, p95",
    "idle_queries_per_s": "queries a second at rest",
    "idle_core_share": "of a core at rest",
    "dispatcher_tasks_per_s": "tasks a second, one dispatcher",
    "commits_per_case": "commits a case",
    "statements_per_case": "statements a case",
    "cpu_ms_per_case": "own CPU a case, ms",
    "wal_bytes_per_case": "bytes of log a case",
}

Table = list[list[str]]


def contestants_table(found: Mapping[str, Mapping[str, Any]]) -> Table:
    """A line for each contestant and number of worker processes."""
    rows = [["", "worker processes", *[words for _, words, _ in COLUMNS]]]
    for name, counts in found.items():
        for workers, figures in counts.items():
            rows.append([NAMES[name], workers, *[_cell(figures, key, digits) for key, _, digits in COLUMNS]])
    return rows


def promises_table(found: Mapping[str, Any]) -> Table:
    """A line for each figure at the top of bench.json, with its limit where it has one."""
    rows = [["figure", "", "median", "least", "most", "limit", ""]]
    verdicts = kept(found)
    for name, words in WORDS.items():
        if name not in found:
            continue
        many = found[name].get("by_workers", {"": found[name]})
        for workers, one in many.items():
            limit = " ".join([PROMISES[name][0], _number(PROMISES[name][1])]) if name in PROMISES else ""
            verdict = {True: "kept", False: "missed"}.get(verdicts.get(name)) or ""  # type: ignore[arg-type]
            where = f"{words}, {workers} workers" if workers else words
            rows.append([f"`{name}`", where, *[_number(one[key]) for key in ("median", "min", "max")], limit, verdict])
    return rows


def ceiling_table(ceiling: Mapping[str, Any]) -> Table:
    rows = [["sessions", *[f"cases/s, {mode}" for mode in ceiling["modes"]]]]
    clients = list(next(iter(ceiling["modes"].values())))
    return rows + [[count, *[_number(by[count]) for by in ceiling["modes"].values()]] for count in clients]


def as_text(table: Table) -> str:
    """Columns side by side for a terminal."""
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
    )


def as_markdown(table: Table) -> str:
    head, *rows = table
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def sections(bench: Mapping[str, Any]) -> dict[str, str]:
    """What stands between the marks of the page, by name."""
    machine = bench["machine"]
    words = (
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, Python {machine['python']}, PostgreSQL"
        f" {machine['postgresql']} (fsync on), Valkey {machine['valkey']}; {bench['began_at'][:10]}, commit"
        f" {bench['commit']}, {bench['rounds']} rounds; median (least–most)"
    )
    found = {"machine": words, "promises": as_markdown(promises_table(bench))}
    for name in ("contestants", "http"):
        if bench.get(name):
            found[name] = as_markdown(contestants_table(bench[name]))
    if bench.get("ceiling"):
        found["ceiling"] = as_markdown(ceiling_table(bench["ceiling"]))
    return found


def written_into(page: str, bench: Mapping[str, Any]) -> str:
    """The page with each `<!-- bench:NAME -->` … `<!-- /bench -->` filled. Raises ValueError for a mark without end."""
    for name, text in sections(bench).items():
        mark, end = f"<!-- bench:{name} -->", "<!-- /bench -->"
        before, found, after = page.partition(mark)
        if not found:
            continue
        _, closed, rest = after.partition(end)
        if not closed:
            raise ValueError(f"{mark} has no end")
        page = f"{before}{mark}\n{text}\n{end}{rest}"
    return page


def _cell(figures: Mapping[str, Any], key: str, digits: int) -> str:
    if key not in figures or not figures[key]["max"]:
        return "–"
    scale = 1000 if key == "wal_bytes_per_case" else 1
    median, least, most = (figures[key][part] / scale for part in ("median", "min", "max"))
    return f"{median:.{digits}f} ({least:.{digits}f}–{most:.{digits}f})"


def _number(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="stand.bench.tables", description=__doc__)
    parser.add_argument("bench", type=Path, metavar="FILE", help="bench.json")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    bench = json.loads(options.bench.read_text(encoding="utf-8"))
    options.page.write_text(written_into(options.page.read_text(encoding="utf-8"), bench), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
