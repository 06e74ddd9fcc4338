"""The whole of Caseflow on this machine: servers, outside systems, web, workers, dispatcher."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from stand.environment import (
    CHECKOUT,
    load_or_make_secrets,
    product_environment,
    remember_ports,
    remembered_port,
    with_database,
)
from stand.ports import free_port
from stand.postgres import OWNER, SUPERUSER, EmbeddedPostgres
from stand.processes import ProcessGroup
from stand.valkey import EmbeddedValkey

WORKER_THREADS = 4
SERVERS = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")
#: A proxy of the machine's environment has no business with 127.0.0.1.
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def answers(url: str) -> bool:
    """Tell whether a GET answers 200."""
    try:
        with direct.open(url, timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


class System:
    """A context manager: inside it everything runs; at its end nothing does.

    Servers named by DATABASE_URL (and DATABASE_OWNER_URL) and REDIS_URL, in `environment` or around us, are used as
    they are; else embedded ones are started in `folder`. `database` asks for a fresh database of that name, dropped at
    the end; `redis_database` for another numbered database. `environment` adds to what the processes are told, `told`
    to what single roles are told.
    """

    def __init__(
        self,
        folder: Path,
        *,
        workers: int = 2,
        worker_threads: int = WORKER_THREADS,
        dispatchers: int = 1,
        web_port: int = 0,
        database: str = "",
        redis_database: int = 0,
        environment: Mapping[str, str] | None = None,
        told: Mapping[str, Mapping[str, str]] | None = None,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.processes = ProcessGroup(self.folder / "logs")
        self.environment: dict[str, str] = {}
        self.base_url = ""
        self.simulator_url = ""
        self.checkout = CHECKOUT  #: whose code the product's processes and commands run
        self.patience = 60.0  #: seconds for one process to be ready
        self.told = {role: dict(more) for role, more in (told or {}).items()}
        self._workers = [f"worker-{number}" for number in range(1, workers + 1)]
        self._health_ports: dict[str, int] = {}
        self._dispatchers = ["dispatcher", *(f"dispatcher-{number}" for number in range(2, dispatchers + 1))]
        self._threads = worker_threads
        self._web_port = web_port
        self._database = database
        self._redis_database = redis_database
        self._extra = dict(environment or {})
        self._tell = tell
        self._postgres: EmbeddedPostgres | None = None
        self._valkey: EmbeddedValkey | None = None

    @property
    def pids(self) -> dict[str, int]:
        """Process id by role: postgres, valkey, simulator, web, worker-1 ..., dispatcher, dispatcher-2 ..."""
        return self.processes.pids

    @property
    def postgres(self) -> EmbeddedPostgres:
        """The server that this system started. Raises RuntimeError where a named one is used."""
        if self._postgres is None:
            raise RuntimeError("DATABASE_URL names a server; it is not this system's to break.")
        return self._postgres

    @property
    def valkey(self) -> EmbeddedValkey:
        """The server that this system started. Raises RuntimeError where a named one is used."""
        if self._valkey is None:
            raise RuntimeError("REDIS_URL names a server; it is not this system's to break.")
        return self._valkey

    @property
    def administrator_url(self) -> str:
        """The product's database for PostgreSQL's own administrator."""
        return self.postgres.url(SUPERUSER)

    @property
    def roles(self) -> tuple[str, ...]:
        """What `start_processes` starts."""
        return ("simulator", "web", *self._workers, *self._dispatchers)

    def __enter__(self) -> "System":
        try:
            self.start_servers()
            self.migrate()
            self.start_processes()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start_servers(self) -> None:
        """Start what is not named by the environment, choose the ports, make the secrets."""
        named = {**os.environ, **self._extra}
        database_url = named.get("DATABASE_URL", "")
        owner_url = named.get("DATABASE_OWNER_URL", "") or database_url
        redis_url = named.get("REDIS_URL", "")
        if not database_url:
            postgres = EmbeddedPostgres(
                self.folder / "postgres", remembered_port(self.folder, "postgres"), processes=self.processes
            )
            self._postgres = postgres.start()
            database_url, owner_url = postgres.url(), postgres.url(OWNER)
            remember_ports(self.folder, {"postgres": postgres.port})
        if not redis_url:
            valkey = EmbeddedValkey(
                self.folder / "valkey", remembered_port(self.folder, "valkey"), processes=self.processes
            ).start()
            self._valkey = valkey
            redis_url = valkey.url()
            remember_ports(self.folder, {"valkey": valkey.port})
        if self._database:
            _make_database(owner_url, self._database)
            database_url = with_database(database_url, self._database)
            owner_url = with_database(owner_url, self._database)
        if self._redis_database:
            redis_url = with_database(redis_url, str(self._redis_database))
        web_port = free_port(self._web_port or remembered_port(self.folder, "web"))
        simulator_port = free_port(remembered_port(self.folder, "simulator"))
        remember_ports(self.folder, {"web": web_port, "simulator": simulator_port})
        self._web_port = web_port
        self.base_url = f"http://127.0.0.1:{web_port}"
        self.simulator_url = f"http://127.0.0.1:{simulator_port}"
        # A fresh database is another installation than the one whose secrets the environment may carry.
        own = load_or_make_secrets(self.folder) if self._database else {}
        self.environment = product_environment(
            self.folder,
            database_url=database_url,
            owner_url=owner_url,
            redis_url=redis_url,
            simulator_url=self.simulator_url,
            base_url=self.base_url,
            extra={**own, **{name: value for name, value in self._extra.items() if name not in SERVERS}},
        )

    def manage(self, *arguments: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """Run one of the product's commands to its end; raise RuntimeError with its output when it fails."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.checkout,
            env=self.environment | {"CASEFLOW_ROLE": "command"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if check and done.returncode != 0:
            raise RuntimeError(
                f"manage.py {' '.join(arguments)} ended with {done.returncode}.\n{done.stdout}{done.stderr}"
            )
        return done

    def manage_json(self, *arguments: str) -> Any:
        """Run a command that prints one JSON value."""
        return json.loads(self.manage(*arguments).stdout)

    def migrate(self) -> None:
        """Bring the database to this checkout's tables, as the owner."""
        self._tell("migrating")
        self.manage("migrate", "--database", "owner", "--no-input", "--verbosity", "0")

    def start_processes(self) -> None:
        """Start everything at once, then wait for each."""
        self._tell("starting processes")
        for name in self.roles:
            self.start(name)
        for name in self.roles:
            self.wait_ready(name)

    def start(self, name: str) -> int:
        """Start (again) one role of the product."""
        log = self.processes.logs / f"{name}.log"
        log.unlink(missing_ok=True)  # so that readiness is read from this start's lines
        environment = self.environment | {"CASEFLOW_ROLE": name} | self.told.get(name, {})
        # The outside world is another program and knows no versions of ours.
        folder = CHECKOUT if name == "simulator" else self.checkout
        return self.processes.start(name, self._argv(name), environment, folder=folder)

    def wait_ready(self, name: str) -> None:
        """Wait until a started role does its work."""
        match name:
            case "simulator":
                self.processes.wait_ready(name, lambda: answers(f"{self.simulator_url}/healthz"), self.patience)
            case "web":
                # Its own word too: at a port that was taken meanwhile somebody else would answer.
                self.processes.wait_ready(
                    name,
                    lambda: self._log_says(name, "Listening at") and answers(f"{self.base_url}/healthz"),
                    self.patience,
                )
            case _ if name in self._dispatchers:
                self.processes.wait_ready(name, lambda: self._log_says(name, "ready"), self.patience)
            case _:
                # The ready process's own word too, as for web.
                self.processes.wait_ready(
                    name,
                    lambda: self._log_says(name, "is ready for action") and answers(self.health_url(name)),
                    self.patience,
                )

    def health_url(self, name: str) -> str:
        """Where a worker role's supervisor tells how its processes are."""
        return f"http://127.0.0.1:{self._health_ports[name]}/livez"

    def stop(self, name: str) -> None:
        """Stop one role in order."""
        self.processes.stop(name)

    def kill(self, name: str) -> None:
        """End one role and its children at once."""
        self.processes.kill(name)

    def wait_for(self, what: Callable[[], Any], patience: float = 60.0, every: float = 0.1) -> Any:
        """Ask until the answer is true and return it; raise TimeoutError, or RuntimeError when a process died."""
        deadline = time.monotonic() + patience
        while not (answer := what()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"Nothing came after {patience:.0f} s.")
            time.sleep(every)
        return answer

    def close(self) -> None:
        """Stop everything, the servers last; drop a database that was made for this system."""
        # Who rings, who asks and who works, then what they lean on. Each takes seconds to stop, so all at once.
        own = (*self._dispatchers, "web", *self._workers)
        for names in (own, [name for name in self.processes.roles if name not in ("postgres", "valkey")]):
            if running := [name for name in names if name in self.processes.roles]:
                self.processes.stop(*running)
        if self._database and (owner_url := self.environment.get("DATABASE_OWNER_URL")):
            _drop_database(owner_url, self._database)
        self.processes.close()

    def discard(self) -> None:
        """Remove what lies outside `folder`; for a system in a temporary folder."""
        if self._postgres is not None:
            self._postgres.discard()

    def _argv(self, name: str) -> list[str]:
        python = sys.executable
        match name:
            case "simulator":
                port = self.simulator_url.rpartition(":")[2]
                return [python, "-m", "simulator", "--port", port, "--ledger", str(self.folder / "simulator-ledger")]
            case "web":
                return [
                    *(python, "-m", "gunicorn", "--config", "python:caseflow.web_server", "caseflow.wsgi"),
                    *("--bind", f"127.0.0.1:{self._web_port}"),
                ]
            case _ if name in self._dispatchers:
                return [python, "manage.py", "run_dispatcher"]
            case _:
                # The same port for later starts: whoever asks knows only that one.
                health_port = self._health_ports.setdefault(name, free_port())
                return [
                    *(python, "manage.py", "run_workers", "--processes", "1", "--threads", str(self._threads)),
                    *("--health-port", str(health_port)),
                ]

    def _log_says(self, name: str, words: str) -> bool:
        return words in self.processes.roles[name].log.read_text(encoding="utf-8", errors="replace")


def _make_database(owner_url: str, name: str) -> None:
    with psycopg.connect(with_database(owner_url, "postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def _drop_database(owner_url: str, name: str) -> None:
    with psycopg.connect(with_database(owner_url, "postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
