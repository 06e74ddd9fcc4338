"""The servers of the growth measurement and its two databases, which stay in their folder between runs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from stand.environment import CHECKOUT, product_environment, remember_ports, remembered_port, sole_use
from stand.postgres import OWNER, SUPERUSER, EmbeddedPostgres
from stand.processes import ProcessGroup
from stand.valkey import EmbeddedValkey

FEW, MANY = "growth_few", "growth_many"  #: the databases
_STATE = "growth.json"  #: what the folder holds

RUNS = 24  #: comparisons after the newest one
#: Each finds the same differences again. Otherwise a page that lists one would be compared with one that lists many.
_COMPARED = """
WITH newest AS (SELECT * FROM operations_driftrun ORDER BY began_at DESC LIMIT 1),
runs AS (
  INSERT INTO operations_driftrun (scope, began_at, ended_at, checked, differing, unreadable, cursor)
  SELECT scope, began_at + n * interval '1 minute', ended_at + n * interval '1 minute', checked, differing, 0, 0
  FROM newest, generate_series(1, %s) n ORDER BY n RETURNING id, ended_at)
INSERT INTO operations_driftfinding (run_id, action_id, differences, is_new, at)
SELECT runs.id, f.action_id, f.differences, false, runs.ended_at
FROM runs, operations_driftfinding f JOIN newest ON newest.id = f.run_id ORDER BY runs.id, f.id
"""


@dataclass(frozen=True, slots=True)
class Stock:
    """Two databases of one server, and how each one's processes are told of theirs."""

    folder: Path
    postgres: EmbeddedPostgres
    redis_url: str

    def environment(self, database: str) -> dict[str, str]:
        """What a process of the product needs to know."""
        return product_environment(
            self.folder,
            database_url=self.postgres.url(database=database),
            owner_url=self.postgres.url(OWNER, database),
            redis_url=self.redis_url,
            simulator_url="http://127.0.0.1:9",  # nobody listens there: what is outside lies in the process itself
            base_url="http://127.0.0.1:8000",
            extra={"CASEFLOW_ROLE": "command", "CASEFLOW_GROWTH_SUPERUSER": self.postgres.url(SUPERUSER, database)},
        )

    def administrator(self, database: str = "postgres") -> "psycopg.Connection[Any]":
        return psycopg.connect(self.postgres.url(SUPERUSER, database), autocommit=True)

    def run(self, database: str, *argv: str) -> None:
        """A module of the tests to its end, its output to ours. Raises CalledProcessError."""
        subprocess.run([sys.executable, *argv], check=True, cwd=CHECKOUT, env=self.environment(database))

    def state(self) -> dict[str, Any]:
        path = self.folder / _STATE
        return json.loads(path.read_text()) if path.exists() else {}

    def remember(self, **values: Any) -> None:
        (self.folder / _STATE).write_text(json.dumps(self.state() | values, indent=1) + "\n")


@contextmanager
def opened(folder: Path) -> Iterator[Stock]:
    """The servers run inside."""
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SIMULATOR_URL"):
        os.environ.pop(name, None)  # what is filled here is our own
    folder = folder.resolve()
    with sole_use(folder):
        processes = ProcessGroup(folder / "logs")
        postgres = EmbeddedPostgres(folder / "postgres", remembered_port(folder, "postgres"), processes=processes)
        valkey = EmbeddedValkey(folder / "valkey", remembered_port(folder, "valkey"), processes=processes)
        try:
            postgres.start()
            valkey.start()
            remember_ports(folder, {"postgres": postgres.port, "valkey": valkey.port})
            yield Stock(folder, postgres, valkey.url())
        finally:
            processes.close()


def fill(stock: Stock, *, few: int, many: int, tell: Callable[[str], None]) -> None:
    """Both databases as they are wanted; what an earlier run filled is kept, and only migrated."""
    wanted = {"few": few, "many": many}
    if {name: stock.state().get(name) for name in wanted} != wanted:
        begun = time.monotonic()
        stock.remember(few=0, many=0)
        _make(stock, FEW)
        _migrate(stock, FEW)
        tell(f"{few} cases, one by one")
        stock.run(FEW, "-m", "tests.growth.patterns", "--cases", str(few))
        _make(stock, MANY, template=FEW)
        tell(f"{many} cases out of them")
        with _loading(stock):
            stock.run(MANY, "-m", "tests.growth.copying", "--cases", str(many))
        for database in (FEW, MANY):
            _tidy(stock, database)
        stock.remember(compared=0, **wanted, seconds=round(time.monotonic() - begun))
    else:
        for database in (FEW, MANY):
            _migrate(stock, database)
    if stock.state().get("compared") != RUNS:
        for database in (FEW, MANY):
            with stock.administrator(database) as administrator:
                administrator.execute(_COMPARED, [RUNS])
                administrator.execute("VACUUM (ANALYZE) operations_driftrun, operations_driftfinding")
        stock.remember(compared=RUNS)


@contextmanager
def _loading(stock: Stock) -> Iterator[None]:
    """Fewer checkpoints, and nobody tidies up tables that are not whole yet."""
    settings = {"max_wal_size": "8GB", "autovacuum": "off"}
    with stock.administrator() as administrator:
        for name, value in settings.items():
            administrator.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        administrator.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        with stock.administrator() as administrator:
            for name in settings:
                administrator.execute(f"ALTER SYSTEM RESET {name}")
            administrator.execute("SELECT pg_reload_conf()")


def _make(stock: Stock, database: str, template: str = "template1") -> None:
    name = sql.Identifier(database)
    with stock.administrator() as administrator:
        administrator.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(name))
        administrator.execute(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}").format(
                name, sql.Identifier(OWNER), sql.Identifier(template)
            )
        )


def _migrate(stock: Stock, database: str) -> None:
    stock.run(database, "manage.py", "migrate", "--database", "owner", "--no-input", "--verbosity", "0")


def _tidy(stock: Stock, database: str) -> None:
    """As the server would be after some quiet hours, and without regular work, which would come in between."""
    with stock.administrator(database) as administrator:
        administrator.execute("UPDATE cases_schedule SET is_active = false")
        administrator.execute("VACUUM (ANALYZE)")
