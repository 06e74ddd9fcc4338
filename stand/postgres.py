"""PostgreSQL from a wheel, set up like production: scram passwords on 127.0.0.1, an owner and a runtime role."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from stand.ports import free_port
from stand.processes import ProcessDied, ProcessGroup
from stand.unprivileged import Account, find_account, reachable_binaries, reachable_folder

SUPERUSER, OWNER, RUNTIME = "postgres", "caseflow_owner", "caseflow_runtime"
DATABASE = "caseflow"
ROLE = "postgres"  #: its name in the process group
STARTS = 5  #: tries; after a kill the former server's children take a moment to leave its memory


@dataclass(frozen=True)
class Passwords:
    """One random password for each database role."""

    superuser: str
    owner: str
    runtime: str

    @classmethod
    def load_or_make(cls, path: Path) -> "Passwords":
        if path.exists():
            return cls(**json.loads(path.read_text()))
        made = cls(*(secrets.token_urlsafe(24) for _ in range(3)))
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(made.__dict__, file)
        return made


class EmbeddedPostgres:
    """A server whose data stays in `folder` between starts.

    `durable=False` gives up safety on a power cut for speed: for tests only.
    """

    def __init__(
        self, folder: Path, port: int = 0, *, durable: bool = True, processes: ProcessGroup | None = None
    ) -> None:
        self._account: Account | None = find_account()
        self.folder = reachable_folder(folder, self._account)
        self.port = port
        self._durable = durable
        self._processes = processes or ProcessGroup(self.folder / "logs")
        self._owns_processes = processes is None

    def url(self, user: str = RUNTIME, database: str = DATABASE) -> str:
        """The address for one of the three roles."""
        password = {SUPERUSER: self._passwords.superuser, OWNER: self._passwords.owner}.get(
            user, self._passwords.runtime
        )
        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def start(self) -> "EmbeddedPostgres":
        """Make the data folder if there is none, start the server, make the roles and the database."""
        self._bin = reachable_binaries(self._account)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._passwords = Passwords.load_or_make(self.folder / "passwords.json")
        if not (self._data / "PG_VERSION").exists():
            self._initialise()
        self._end_orphan()
        for attempt in range(1, STARTS + 1):
            self.port = free_port(self.port)
            try:
                self._run()
                break
            except ProcessDied:
                if attempt == STARTS:
                    raise
                time.sleep(0.5)
        self._make_roles()
        return self

    def crash(self) -> None:
        """An immediate shutdown, as after a crash: no client is waited for, nothing is flushed. The data stays."""
        self._processes.end_by(ROLE, signal.SIGQUIT)

    def recover(self) -> None:
        """Start a crashed server again, at its old address; it first replays what it had written ahead."""
        for attempt in range(1, STARTS + 1):
            try:
                self._processes.restart(ROLE)
                self._processes.wait_ready(ROLE, self._answers)
                return
            except ProcessDied:
                if attempt == STARTS:
                    raise
                time.sleep(0.5)

    def dump(self, path: Path) -> None:
        """The whole database as one file for `pg_restore`."""
        argv = [str(self._bin / "pg_dump"), "--format=custom", f"--file={path}", self.url(SUPERUSER)]
        subprocess.run(argv, check=True, capture_output=True, env=self._environment())

    def stop(self) -> None:
        """Stop the server; clients are disconnected, what they committed is kept."""
        if self._owns_processes:
            self._processes.close()
        else:
            self._processes.stop(ROLE)

    def discard(self) -> None:
        """Remove the data, wherever it lies. The server must have stopped."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "EmbeddedPostgres":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _user(self) -> tuple[int, int] | None:
        return (self._account.uid, self._account.gid) if self._account else None

    def _give(self, path: Path) -> None:
        if self._account:
            os.chown(path, self._account.uid, self._account.gid)

    def _initialise(self) -> None:
        self._data.mkdir(mode=0o700, exist_ok=True)
        self._give(self._data)
        password_file = self.folder / "initial-password"
        password_file.unlink(missing_ok=True)
        with open(os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(self._passwords.superuser)
        self._give(password_file)
        try:
            subprocess.run(
                [
                    self._bin / "initdb",
                    f"--pgdata={self._data}",
                    f"--username={SUPERUSER}",
                    "--auth=scram-sha-256",
                    f"--pwfile={password_file}",
                    "--encoding=UTF8",
                    # The server's own locale: the same order and case rules on every machine.
                    "--locale=C",
                    "--locale-provider=builtin",
                    "--builtin-locale=C.UTF-8",
                    "--no-instructions",
                    "--no-sync",
                ],
                check=True,
                capture_output=True,
                text=True,
                cwd=self._data,
                env=self._environment(),
                user=self._user[0] if self._user else None,
                group=self._user[1] if self._user else None,
                extra_groups=[] if self._user else None,
            )
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"initdb failed:\n{error.stdout}{error.stderr}") from error
        finally:
            password_file.unlink()

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}

    def _run(self) -> None:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "shared_preload_libraries": "pg_stat_statements",
            "max_connections": "200",
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        if not self._durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
            # Nothing lives long enough in it to be tidied up.
            settings |= {"autovacuum": "off", "checkpoint_timeout": "1h", "max_wal_size": "4GB"}
            settings |= {"scram_iterations": "1"}  # a test connects more often than anybody guesses
        argv = [str(self._bin / "postgres"), "-D", str(self._data)]
        for name, value in settings.items():
            argv += ["-c", f"{name}={value}"]
        self._processes.start(
            ROLE,
            argv,
            self._environment(),
            stop_signal=signal.SIGINT,  # fast: SIGTERM would wait for every client
            user=self._user,
            folder=self._data,
        )
        self._processes.wait_ready(ROLE, self._answers)

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.url(SUPERUSER, "postgres"), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False

    def _end_orphan(self) -> None:
        """End a server that a killed stand left on this very folder, and drop its pid file if it is gone."""
        pid_file = self._data / "postmaster.pid"
        try:
            pid = int(pid_file.read_text().splitlines()[0])
        except (FileNotFoundError, ValueError, IndexError):
            return
        deadline = time.monotonic() + 10
        while _serves(pid, self._data):
            os.kill(pid, signal.SIGINT if time.monotonic() < deadline else signal.SIGKILL)
            time.sleep(0.2)
        # The number may belong to another program by now, which PostgreSQL would take for a server.
        pid_file.unlink(missing_ok=True)

    def _make_roles(self) -> None:
        with psycopg.connect(self.url(SUPERUSER, "postgres"), autocommit=True) as connection:
            for role, password, rights in (
                (OWNER, self._passwords.owner, "CREATEDB"),
                (RUNTIME, self._passwords.runtime, "NOCREATEDB"),
            ):
                known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
                connection.execute(
                    sql.SQL("{verb} ROLE {role} LOGIN NOSUPERUSER NOCREATEROLE {rights} PASSWORD {password}").format(
                        verb=sql.SQL("ALTER" if known else "CREATE"),
                        role=sql.Identifier(role),
                        rights=sql.SQL(rights),
                        password=sql.Literal(password),
                    )
                )
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                return
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), sql.Identifier(OWNER))
            )
            connection.execute(
                sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(sql.Identifier(DATABASE), sql.Identifier(RUNTIME))
            )
        with psycopg.connect(self.url(SUPERUSER), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")


def _serves(pid: int, data: Path) -> bool:
    try:
        return str(data).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
