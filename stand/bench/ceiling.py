"""The ceiling: how many cases a second PostgreSQL takes when pgbench sends it what one case sends, and nobody thinks.

One case is driven with every statement logged. Its statements are sent once more for a new case, to learn in which
results the ids of rows stand; then pgbench drives new cases by them, with as many transactions as the real way has. The
dispatcher's sweeps are left out: they are not a case's.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from stand.bench.contestants import Ours
from stand.bench.figures import significant
from stand.bench.script import MODES, VARIABLE, Captured, Case, make_script, rewritten
from stand.bench.statements import PREFIX, read_log
from stand.postgres import RUNTIME
from stand.system import System
from stand.unprivileged import find_account, reachable_binaries

CLIENTS = (1, 2, 4, 8)
SECONDS = 5  #: of each run
WARM_UP = 5  #: cases before the one that is logged
APPLICATIONS = ("caseflow-worker", "caseflow-bench-client")
#: Each table's row ids are set this far apart, so that an id is known by its size.
FIRST_ID, APART = 1_000_000_000, 100_000_000

_SEQUENCES = """
SELECT sequencename, coalesce(last_value, 0) FROM pg_sequences
WHERE schemaname = 'public' AND data_type = 'bigint'::regtype ORDER BY sequencename
"""
_DONE = "SELECT count(*) FROM cases_case WHERE state = 'COMPLETED'"

Administrator = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One case's statements, its number, and the last row id of each table before and after it."""

    statements: list[str]
    number: str
    before: dict[str, int]
    after: dict[str, int]

    def next_ids(self) -> dict[int, int]:
        """Every row id of the case → the one that the next case will have in its place."""
        return {
            number: number + last - self.before[name]
            for name, last in self.after.items()
            for number in range(self.before[name] + 1, last + 1)
        }


def measure_ceiling(system: System) -> dict[str, Any]:
    """{"cases_per_s": the best, "mode", "clients", "statements", "transactions", "modes": {mode: {clients: cases/s}}}

    Raises RuntimeError where what pgbench does is not what a case does.
    """
    with psycopg.connect(system.administrator_url, autocommit=True) as administrator:
        # For `currval` alone; the product never asks for it.
        administrator.execute(f"GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO {RUNTIME}".encode())
        recorded = _record(system, administrator)
        case = Case.found_in(recorded.statements, recorded.number)
        captured = _learn(system, administrator, recorded, case)
        modes: dict[str, dict[str, float]] = {}
        for mode in MODES:
            path = system.folder / f"ceiling-{mode}.sql"
            path.write_text(make_script(recorded.statements, case, captured, mode), encoding="utf-8")
            modes[mode] = {str(n): _pgbench(system, administrator, path, mode, n) for n in CLIENTS}
    best, mode, clients = max((rate, mode, n) for mode, rates in modes.items() for n, rate in rates.items())
    ends = [statement.upper() for statement in recorded.statements]
    return {
        "cases_per_s": best,
        "mode": mode,
        "clients": int(clients),
        "statements": sum(statement not in ("BEGIN", "COMMIT") for statement in ends),
        "transactions": ends.count("COMMIT"),
        "modes": modes,
    }


def _record(system: System, administrator: Administrator) -> Recorded:
    ours = Ours(system)
    log = system.processes.roles["postgres"].log
    with ours.working(1), ours.client() as client:
        client.ask(f"drive {WARM_UP}")
        _spread_ids(administrator)
        _set(administrator, log_statement="all", log_line_prefix=PREFIX)
        time.sleep(1)  # every session looks at its settings before its next statement
        begins, before = log.stat().st_size, _last_ids(administrator)
        client.ask("drive 1")
        after = _last_ids(administrator)
        _set(administrator, log_statement=None, log_line_prefix=None)
    with log.open(encoding="utf-8", errors="replace") as file:
        file.seek(begins)
        statements = read_log(file.read().splitlines(), APPLICATIONS)
    row = administrator.execute("SELECT external_id FROM cases_case ORDER BY id DESC LIMIT 1").fetchone()
    assert row is not None
    return Recorded(statements, str(row[0]).removeprefix("T-"), before, after)


def _learn(system: System, administrator: Administrator, recorded: Recorded, case: Case) -> dict[int, Captured]:
    """Drive one more case by the recorded statements, and see in which results its row ids stand."""
    next_ids = recorded.next_ids()
    logged_of = {new: logged for logged, new in next_ids.items()}
    known = Case(case.texts, {logged: f"row_{logged}" for logged in next_ids}, case.hexes)
    captured: dict[int, Captured] = {}
    seen: set[int] = set()
    done = _done(administrator)
    with psycopg.connect(system.postgres.url(RUNTIME), autocommit=True) as connection:
        drawn = connection.execute(case.drawing()).fetchone()
        assert drawn is not None
        values = dict(zip(case.drawn, drawn, strict=True))
        values |= {f"row_{logged}": str(new) for logged, new in next_ids.items()}
        for place, statement in enumerate(recorded.statements):
            cursor = connection.execute(_filled(rewritten(statement, known, "simple"), values).encode())
            if cursor.description is None or cursor.rowcount != 1:
                continue
            row = cursor.fetchone()
            assert row is not None
            fresh = {
                column.name: value
                for column, value in zip(cursor.description, row, strict=True)
                if isinstance(value, int) and value in logged_of and value not in seen
            }
            seen |= set(fresh.values())
            if all(VARIABLE.fullmatch(column.name) for column in cursor.description):
                captured[place] = Captured({name: logged_of[value] for name, value in fresh.items()})
            elif fresh:
                # pgbench takes no result with an unnamed column: the session's sequences know the same.
                asked = {_asked(connection, recorded.before, new): logged_of[new] for new in fresh.values()}
                captured[place] = Captured({}, asked)
    if _done(administrator) != done + 1:
        raise RuntimeError("the recorded statements did not drive a case to its end")
    return captured


def _asked(connection: psycopg.Connection[Any], last: Mapping[str, int], new: int) -> str:
    """What tells this row id in the session whose statement has just taken it from its table's sequence."""
    name = max((before, name) for name, before in last.items() if before < new)[1]
    row = connection.execute("SELECT currval(%s::regclass)", [f"public.{name}"]).fetchone()
    assert row is not None
    return f"currval('public.{name}') - {row[0] - new}"


def _filled(statement: str, values: Mapping[str, str]) -> str:
    return re.sub(r":((?:own|row)_\w+)", lambda found: values[found[1]], statement)


def _pgbench(system: System, administrator: Administrator, script: Path, mode: str, clients: int) -> float:
    """Cases a second. Raises RuntimeError where it failed, or did something else than complete cases."""
    done = _done(administrator)
    url = system.postgres.url(RUNTIME)
    argv = [str(reachable_binaries(find_account()) / "pgbench"), "--no-vacuum", "--file", str(script)]
    argv += ["--protocol", mode, "--client", str(clients), "--jobs", str(min(2, clients)), "--time", str(SECONDS), url]
    ran = subprocess.run(argv, capture_output=True, text=True)
    rate = re.search(r"^tps = ([\d.]+)", ran.stdout, re.MULTILINE)
    count = re.search(r"number of transactions actually processed: (\d+)", ran.stdout)
    if ran.returncode or rate is None or count is None:
        raise RuntimeError(f"pgbench ended with {ran.returncode}: {ran.stdout}{ran.stderr}"[-3000:])
    if _done(administrator) - done < int(count[1]):
        raise RuntimeError(f"pgbench ran {count[1]} times, but completed {_done(administrator) - done} cases")
    return significant(float(rate[1]))


def _spread_ids(administrator: Administrator) -> None:
    for place, name in enumerate(_last_ids(administrator)):
        administrator.execute("SELECT setval(%s::regclass, %s)", [f"public.{name}", FIRST_ID + place * APART])


def _last_ids(administrator: Administrator) -> dict[str, int]:
    return {str(name): int(last) for name, last in administrator.execute(_SEQUENCES).fetchall()}


def _done(administrator: Administrator) -> int:
    row = administrator.execute(_DONE).fetchone()
    assert row is not None
    return int(row[0])


def _set(administrator: Administrator, **settings: str | None) -> None:
    for name, value in settings.items():
        change = f"RESET {name}" if value is None else f"SET {name} = '{value}'"
        administrator.execute(f"ALTER SYSTEM {change}".encode())
    administrator.execute("SELECT pg_reload_conf()")
