"""The dated report: a page for people, and the same figures as JSON beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stand.soak.metering import FILES_EXTRA, MEMORY_EXTRA, MEMORY_FACTOR, SESSIONS_EXTRA, THREADS_EXTRA


def write_report(found: dict[str, Any], folder: Path) -> Path:
    """soak-YYYY-MM-DD.md and .json in `folder`; the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / f"soak-{found['began_at'][:10]}.md"
    page.write_text(words_of(found), encoding="utf-8")
    page.with_suffix(".json").write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return page


def words_of(found: dict[str, Any]) -> str:
    order, machine = found["order"], found["machine"]
    verdict = "passed" if found["passed"] else "**failed**"
    lines = [
        f"# Soak of {found['began_at'][:10]}",
        "",
        f"{order['minutes']:g} minutes of arrivals at {order['rate']:g} a second, {verdict}."
        + ("" if found["is_full_run"] else " A short run: a full one has 5,000 cases, 40 faults and 3 of each kind."),
        "",
        f"Commit {found['commit']}, seed {order['seed']}, begun {found['began_at']}. {machine['cores']} cores,"
        f" {machine['memory_gib']:g} GiB of memory, Python {machine['python']}, PostgreSQL {machine['postgresql']},"
        f" Valkey {machine['valkey']}."
        " Everything ran on this one machine: the database, Valkey, the outside systems, two dispatchers, two workers,"
        " the web server, and the clients.",
        "",
        f"Again: `make soak MINUTES={order['minutes']:g} SEED={order['seed']}` plans the same tickets and faults.",
        "",
        "## Verdict",
        "",
        *_table(
            ("what", "count"),
            [
                ("cases accepted", f"{found['accepted']:,}"),
                ("lost", found["lost"]),
                ("doubled", found["doubled"]),
                ("called done before confirmation", found["called_done_early"]),
                ("faults injected", found["faults"]["injected"]),
                ("stale approvals refused", found["stale_approvals_refused"]["told"]),
                ("late writers refused by their fence", found["late_writers_refused"]),
                ("invariants", "clean" if found["invariants"].get("clean") else "violated"),
                ("seconds until rest after the last arrival", found["throughput"]["drained_after_seconds"]),
            ],
        ),
        "",
        *_problems(found["problems"]),
        "Lost: a ticket that was answered 201 or 200 and is not there under the id told. Doubled: a second case"
        " of a ticket, a second effect under one key, on one subscription, or a second message to one customer, in the"
        " outside systems' own ledger. Called done before confirmation: anything stored or shown as CONFIRMED or"
        " COMPLETED at a moment when the ledger had no such effect, or an effect that was not read back in between.",
        "",
        "## Faults",
        "",
        *_table(("kind", "times"), found["faults"]["by_kind"].items()),
        "",
        "Outside systems, which take 0.1 s for an answer (`delay`), drawn for each request:",
        "",
        *_table(("kind", "requests"), found["faults"]["outside"].items()),
        "",
        "## Time",
        "",
        *_percentiles(
            {
                "answer to a ticket, from its planned moment": found["throughput"]["intake_seconds"],
                **found["parts"],
                "UNKNOWN until settled": found["unknown"]["seconds"],
            }
        ),
        "",
        "T_queue: due and unleased in RECEIVED and CHECKING, retries included. T_auto: leased there. T_exec: EXECUTING,"
        " without an undo window. T_notify: NOTIFYING. Seconds; outages are in them.",
        "",
        f"{found['throughput']['arrivals_per_second']:g} tickets a second. Each was sent at a moment planned before the"
        f" run; none later than {found['throughput']['latest_first_send_seconds']:g} s after it.",
        "",
        "## Doubt",
        "",
        f"{found['unknown']['effects']} effects and {found['unknown']['notices']} notices were UNKNOWN for a while,"
        f" {found['unknown']['unresolved']} still are.",
        "",
        *_table(("attempts that ended", "count"), found["attempts"].items()),
        "",
        "## Clients",
        "",
        *_table(("what they met", "count"), found["clients"].items()),
        "",
        "## Ends",
        "",
        *_table(("state and ending", "cases"), found["ends"].items()),
        "",
        *_left(found["left_to_a_person_by_faults"]),
        "## Cost",
        "",
        f"{found['database']['bytes_per_case']:,} bytes and {found['database']['rows_per_case']:g} rows of the database"
        " a case, indexes and history included.",
        "",
        *_resources(found["resources"]),
        "",
        f"At baseline: memory at most {MEMORY_FACTOR:g} times and {MEMORY_EXTRA:g} MiB more than after the warm-up,"
        f" at most {SESSIONS_EXTRA} database sessions, {THREADS_EXTRA} threads and {FILES_EXTRA} open files more, for"
        " web, workers and dispatchers.",
        "",
    ]
    return "\n".join(lines)


def _table(head: tuple[str, ...], rows: Any) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return lines + [f"| {' | '.join(str(cell).replace('|', '/') for cell in row)} |" for row in rows]


def _problems(problems: dict[str, Any]) -> list[str]:
    lines = []
    for name, found in problems.items():
        lines += [f"**{name}: {found['count']}**", "", *(f"- {one}" for one in found["first"]), ""]
    return lines


def _percentiles(rows: dict[str, dict[str, Any]]) -> list[str]:
    points = ("p50", "p95", "p99", "max")
    return _table(
        ("part", *points), [(name, *(found.get(point, "–") for point in points)) for name, found in rows.items()]
    )


def _left(reasons: dict[str, int]) -> list[str]:
    if not reasons:
        return ["No case was left to a person by a fault.", ""]
    return ["Left to a person because of faults:", "", *_table(("reason", "cases"), reasons.items()), ""]


def _resources(roles: dict[str, Any]) -> list[str]:
    rows = []
    for role, taken in roles.items():
        spans = [taken["memory_mib"], taken["sessions"], taken["threads"], taken["files"]]
        rows.append((role, f"{taken['processor_share']:.1%}", *("–".join(map(str, span.values())) for span in spans)))
    head = ("role", "of one core", "MiB: baseline–peak–end", "sessions: baseline–end", "threads", "open files")
    return _table(head, rows)
