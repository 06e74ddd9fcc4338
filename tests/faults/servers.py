"""PostgreSQL that may be killed, and a fault proxy for each way to a server."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from stand.postgres import OWNER, SUPERUSER, EmbeddedPostgres
from stand.postgres import ROLE as POSTGRES
from stand.processes import ProcessGroup
from tests.faults.proxy import Proxy


@dataclass
class Server:
    """PostgreSQL of our own, which may be restarted, or one that is only used."""

    url: str
    owner_url: str
    admin_url: str  #: a superuser's, to see what other sessions wait for and to end them
    own: EmbeddedPostgres | None = None
    processes: ProcessGroup | None = None

    def restart_at_once(self) -> int:
        """SIGQUIT: no goodbye to anybody, recovery from the log at the next start; how it ended."""
        assert self.own is not None and self.processes is not None
        process = self.processes.roles[POSTGRES].process
        process.send_signal(signal.SIGQUIT)
        code = process.wait(timeout=30)
        port = self.own.port
        self.own.start()
        assert self.own.port == port, "the processes know only the old address"
        return code


@dataclass
class Doors:
    """A fault proxy for each way that may be disturbed on its own."""

    database_of_web: Proxy = field(default_factory=Proxy)
    database_of_work: Proxy = field(default_factory=Proxy)
    bell_of_dispatchers: Proxy = field(default_factory=Proxy)
    bell_of_workers: Proxy = field(default_factory=Proxy)
    outside: Proxy = field(default_factory=Proxy)

    def all(self) -> list[Proxy]:
        return list(vars(self).values())


def through(url: str, door: Proxy) -> str:
    """The same address by way of the proxy."""
    parts = urlsplit(url)
    door.upstream = parts.port or 0
    login = parts.netloc.rpartition("@")[0]
    return urlunsplit(parts._replace(netloc=f"{login}@127.0.0.1:{door.port}" if login else f"127.0.0.1:{door.port}"))


@contextmanager
def own_server(folder: Path) -> Iterator[Server]:
    """PostgreSQL for this run: durable, because it will be killed."""
    processes = ProcessGroup(folder / "logs")
    postgres = EmbeddedPostgres(folder / "postgres", processes=processes)
    try:
        postgres.start()
        yield Server(postgres.url(), postgres.url(OWNER), postgres.url(SUPERUSER), postgres, processes)
    finally:
        processes.close()
        postgres.discard()


def named_server() -> Server:
    """The server that the environment names, as in `make test`."""
    url = os.environ["DATABASE_URL"]
    return Server(url, os.environ.get("DATABASE_OWNER_URL", url), os.environ.get("CASEFLOW_TEST_SUPERUSER_URL", url))
