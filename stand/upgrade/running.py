"""What the parts of an upgrade do to a system: stop and start the product's processes, ask and order its database."""

from __future__ import annotations

import sys
import time
from typing import Any

import psycopg

from stand.system import System


def product(system: System) -> list[str]:
    return [name for name in system.roles if name != "simulator" and name in system.processes.roles]


def stop_product(system: System) -> None:
    for name in product(system):
        system.stop(name)


def start_product(system: System) -> None:
    names = [name for name in system.roles if name != "simulator"]
    for name in names:
        system.start(name)
    for name in names:
        system.wait_ready(name)


def ask(system: System, statement: str, *values: str) -> list[Any]:
    with psycopg.connect(system.administrator_url, autocommit=True) as connection:
        return connection.execute(statement, values).fetchall()


def run(system: System, statement: str) -> None:
    with psycopg.connect(system.administrator_url, autocommit=True) as connection:
        connection.execute(statement)


def tell(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)
