"""Who is measured: which processes do the work, who brings cases and approves, which database counts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psycopg
from psycopg import sql

from stand.bench.talking import Talker
from stand.environment import CHECKOUT, with_database
from stand.postgres import OWNER, SUPERUSER
from stand.system import System

SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.bench.settings", "CASEFLOW_UNDO_SECONDS": "0"}
#: Told by the environment of a run of its own; what the machine's says about the product has no business here.
FOREIGN = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SIMULATOR_URL")
PEERS_PYTHON = CHECKOUT / ".venv-bench" / "bin" / "python"

REDIS_DATABASE = "5"  #: of Valkey, for the peer that uses it; the product has 0


def forget_foreign_servers() -> None:
    for name in FOREIGN:
        os.environ.pop(name, None)


class Contestant(Protocol):
    name: str

    @property
    def watch(self) -> str:
        """The administrator's address of the database that counts; empty where there is none."""
        ...

    @contextmanager
    def working(self, workers: int) -> Iterator[list[str]]:
        """So many worker processes, and what else drives cases; their roles."""
        ...

    @contextmanager
    def client(self) -> Iterator[Talker]:
        """Whoever brings cases and approves, for `stand.bench.driving`."""
        ...


@dataclass
class Ours:
    """Real workers on Valkey, a real dispatcher, PostgreSQL by the runtime role, tickets and approvals by services."""

    system: System
    told: Mapping[str, str] = field(default_factory=dict)  #: more of the environment of all
    name: str = "ours"

    @property
    def watch(self) -> str:
        return self.system.administrator_url

    @contextmanager
    def working(self, workers: int) -> Iterator[list[str]]:
        roles = [*(f"worker-{number}" for number in range(1, workers + 1)), "dispatcher"]
        for role in roles:
            self.system.told[role] = dict(self.told)
            self.system.start(role)
        for role in roles:
            self.system.wait_ready(role)
        try:
            yield roles
        finally:
            self.system.processes.stop(*roles)

    @contextmanager
    def client(self) -> Iterator[Talker]:
        environment = self.system.environment | {
            "CASEFLOW_ROLE": "bench-client",
            "CASEFLOW_BENCH_WATCH": self.watch,
            **self.told,
        }
        log = self.system.processes.logs / "client.log"
        with Talker([sys.executable, "-m", "tests.bench.client"], environment, log) as client:
            yield client


@dataclass
class Peer:
    """The same case by somebody else's means, each worker a process of its own."""

    system: System
    name: str
    keeps: bool = True  #: it has a database
    order: str = "drive"  #: what its client is told to be
    program: str = ""  #: where several contestants are one program, told otherwise
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def module(self) -> str:
        return f"stand.bench.peers.with_{self.program or self.name}"

    @property
    def database(self) -> str:
        return f"bench_{self.name}"

    @property
    def watch(self) -> str:
        return self.system.postgres.url(SUPERUSER, self.database) if self.keeps else ""

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "BENCH_DATABASE": self.system.postgres.url(OWNER, self.database),
            "BENCH_WATCH": self.watch,
            "BENCH_REDIS": with_database(self.system.environment["REDIS_URL"], REDIS_DATABASE),
            **self.told,
        }

    def prepare(self) -> None:
        """Its database, and what it puts there itself."""
        if self.keeps:
            with psycopg.connect(self.system.postgres.url(OWNER, "postgres"), autocommit=True) as connection:
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [self.database]).fetchone():
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(self.database)))
        with Talker([*self._argv("prepare")], self.environment, self._log("prepare")):
            pass

    @contextmanager
    def working(self, workers: int) -> Iterator[list[str]]:
        roles = [f"{self.name}-{number}" for number in range(1, workers + 1)]
        processes = self.system.processes
        for role in roles:
            self._log(role).unlink(missing_ok=True)
            processes.start(role, self._argv("work"), self.environment | {"BENCH_EXECUTOR": role}, folder=CHECKOUT)
        for role in roles:
            processes.wait_ready(role, lambda role=role: "ready" in self._log(role).read_text())  # type: ignore[misc]
        try:
            yield roles
        finally:
            processes.stop(*roles)

    @contextmanager
    def client(self) -> Iterator[Talker]:
        with Talker(self._argv(self.order), self.environment, self._log(f"{self.name}-client")) as client:
            yield client

    def _argv(self, role: str) -> list[str]:
        return [str(PEERS_PYTHON), "-m", self.module, role]

    def _log(self, role: str) -> Path:
        return self.system.processes.logs / f"{role}.log"
