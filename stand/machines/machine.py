"""One machine: the process file's processes with settings of their own, and a way to the servers that can be cut."""

from __future__ import annotations

import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from stand.environment import CHECKOUT
from stand.ports import free_port
from stand.processes import ProcessGroup
from stand.procfile import FORMATION, argv_of, environment_of, names_of
from stand.system import direct
from tests.faults.proxy import Proxy

PATIENCE = 240.0  #: seconds for a machine to be ready, however busy this one is
LOOK_EVERY = 1.0  #: seconds between two looks of the load balancer
ANSWER_WITHIN = 4.0  #: seconds for one answer to it
AFTER_FAILURES = 2  #: in a row nobody is sent to a machine any more


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None, f"the address names no port: {url.rpartition('@')[2]}"
    return port


def by_way_of(url: str, port: int) -> str:
    """The same address through another port of this machine."""
    parts = urlsplit(url)
    sign_in, at, _ = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{sign_in}{at}127.0.0.1:{port}"))


def own_host_name(name: str) -> list[str]:
    """Words before a command that give it a host name of its own; none where this account may not do that."""
    if shutil.which("unshare") is None:
        return []
    words = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name]
    return words if subprocess.run([*words, "true"], capture_output=True).returncode == 0 else []


@dataclass
class Machine:
    """`away` are the proxies on its way to PostgreSQL and Valkey; empty where it goes there directly."""

    name: str
    folder: Path
    shared: Mapping[str, str]  #: environment that all machines have
    cuttable: bool = False
    away: list[Proxy] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.folder / "scratch").mkdir(parents=True)
        self.web_port = free_port()
        self.processes = ProcessGroup(self.folder / "logs")
        self._before = own_host_name(self.name)
        self._environment = {**self.shared, "TMPDIR": str(self.folder / "scratch")}
        if self.cuttable:
            for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL"):
                proxy = Proxy(port_of(self.shared[name]))
                self.away.append(proxy)
                self._environment[name] = by_way_of(self.shared[name], proxy.port)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.web_port}"

    @property
    def has_own_host_name(self) -> bool:
        return bool(self._before)

    def start(self) -> None:
        for name, kind in names_of(FORMATION):
            environment = environment_of(f"{self.name}-{name}", kind, self._environment, web_port=self.web_port)
            self.processes.start(name, [*self._before, *argv_of(kind)], environment, folder=CHECKOUT)

    def wait_ready(self) -> None:
        at_work = "is ready for action"
        words = {"web": "Listening at", "worker": at_work, "slow": at_work, "dispatcher": "ready"}
        for name, kind in names_of(FORMATION):
            self.processes.wait_ready(name, lambda name=name, kind=kind: words[kind] in self.log(name), PATIENCE)  # type: ignore[misc]
        self.processes.wait_ready("web", self.is_ready, PATIENCE)

    def is_ready(self) -> bool:
        """What a load balancer asks: whether its web server reaches PostgreSQL and Valkey."""
        try:
            with direct.open(f"{self.base_url}/readyz", timeout=ANSWER_WITHIN) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def log(self, name: str) -> str:
        return self.processes.roles[name].log.read_text(encoding="utf-8", errors="replace")

    def half_open(self) -> None:
        """Nothing gets through either way any more, and nobody is told."""
        for proxy in self.away:
            proxy.mode = "swallow"

    def heal(self) -> None:
        for proxy in self.away:
            proxy.heal()

    def cut(self) -> None:
        """Every connection is reset, every new one refused."""
        for proxy in self.away:
            proxy.refuse()

    def pull_the_plug(self) -> None:
        """kill -9 of everything at once."""
        for role in self.processes.pids:
            self.processes.signal(role, signal.SIGKILL)

    def close(self) -> None:
        self.processes.close()
        for proxy in self.away:
            proxy.close()
        self.away = []


class Balancer:
    """A door in front of two machines, as a load balancer is: who is not ready gets no more requests."""

    def __init__(self, first: Machine, second: Machine) -> None:
        self._first, self._second = first, second
        self._proxy = Proxy(first.web_port)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look, name="balancer", daemon=True)
        self.turns = 0  #: how often it sent everybody to the other one

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._proxy.port}"

    @contextmanager
    def running(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            self._thread.join()
            self._proxy.close()

    def _look(self) -> None:
        failed = 0
        while not self._stopped.wait(LOOK_EVERY):
            failed = 0 if self._first.is_ready() else failed + 1
            if 0 < failed < AFTER_FAILURES:
                continue
            chosen = self._second if failed else self._first
            if chosen.web_port != self._proxy.upstream:
                self._proxy.upstream = chosen.web_port
                self._proxy.cut()
                self.turns += 1
