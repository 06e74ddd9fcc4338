"""Everything as real processes under the fault settings, with a fault proxy before each server, and its own clients."""

from __future__ import annotations

import signal
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import psycopg
from psycopg.rows import dict_row

from stand.environment import with_database
from stand.system import System
from tests.faults.approver import Approver
from tests.faults.armed import Armed
from tests.faults.journal import Client, Journal
from tests.faults.processes import ENVIRONMENT
from tests.faults.servers import Doors, Server, through
from tests.flows.running import Bell, Running, Ticket

WORKERS = ("worker-1", "worker-2")
DISPATCHERS = ("dispatcher", "dispatcher-2")
THREADS = 32  #: of each worker: one for every case that is held at a point at once
KILLED = 128 + signal.SIGKILL


class Harness(Running):
    """The running system, and what a scenario does to it."""

    def __init__(self, system: System, bell: Bell, token: str, server: Server, doors: Doors, armed: Armed) -> None:
        super().__init__(system, bell, token)
        self.server, self.doors, self.armed = server, doors, armed
        self.rng = Random()  # seeded by the runner
        self.journal = Journal(system.folder / "journal.jsonl")
        self.client = Client(system.base_url, token, self.journal)
        self.approver = Approver(system.base_url, system.environment["DATABASE_OWNER_URL"], self.journal)
        self.roles: dict[int, str] = {}  #: process id → role, of all that ever lived
        self.expected: dict[str, tuple[str, ...]] = {}  #: external id → states in which the case may end
        self.subjects: dict[str, Ticket] = {}
        self._outside = sqlite3.connect(
            f"file:{system.folder / 'simulator-ledger'}?mode=ro", uri=True, check_same_thread=False
        )
        self._outside_lock = threading.Lock()
        self._ask_lock = threading.Lock()

    def close(self) -> None:
        self.armed.clear()
        self.approver.close()
        self.client.close()
        self.journal.close()
        self._outside.close()
        super().close()

    # What is true.

    def ask(self, query: str, *parameters: Any) -> list[dict[str, Any]]:
        """As `Running.ask`, on a new connection when the server was restarted meanwhile."""
        with self._ask_lock:
            try:
                return super().ask(query, *parameters)
            except psycopg.OperationalError:
                self._database.close()
                self._database = psycopg.connect(self.server_url(), autocommit=True, row_factory=dict_row)
                return super().ask(query, *parameters)

    def as_admin(self, query: str, *parameters: Any) -> list[dict[str, Any]]:
        """What only a superuser sees or may do."""
        url = with_database(self.server.admin_url, self._database.info.dbname)
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
            return connection.execute(query, parameters).fetchall()

    def done_outside(self, subject: str) -> int:
        """How many effects or messages this subject or address had, in the outside world's own file."""
        with self._outside_lock:
            (count,) = self._outside.execute("SELECT count(*) FROM effects WHERE subject = ?", [subject]).fetchone()
        return int(count)

    def server_url(self) -> str:
        """PostgreSQL, as the owner."""
        return self.system.environment["DATABASE_OWNER_URL"]

    def role_of(self, worker: str) -> str:
        """Which role held a lease, from `host:pid:thread`, also of a process that is gone."""
        if not worker:
            return ""
        pid = int(worker.split(":")[-2])
        if pid not in self.roles:  # a supervisor may have replaced its child
            for name in self.system.pids:
                self.learn(name)
        return self.roles.get(pid, "")

    def tasks(self, external_id: str, stage: str = "") -> list[dict[str, Any]]:
        return self.ask(
            "SELECT t.* FROM cases_task t JOIN cases_case c ON c.id = t.case_id"
            " WHERE c.external_id = %s AND (t.stage = %s OR %s = '') ORDER BY t.id",
            external_id,
            stage,
            stage,
        )

    def attempts(self, external_id: str) -> list[dict[str, Any]]:
        return self.ask(
            "SELECT t.stage, a.* FROM cases_attempt a JOIN cases_task t ON t.id = a.task_id"
            " JOIN cases_case c ON c.id = t.case_id WHERE c.external_id = %s ORDER BY a.begun_at, a.id",
            external_id,
        )

    # What happens.

    def ticket(self, process: str, *ends: str, by_hand: bool = False) -> Ticket:
        """A ticket of this process; `ends` are the states in which its case may be left in the end."""
        ticket = self.a_ticket()
        ticket.body["process"] = process
        self.expected[ticket.external_id] = ends or ("COMPLETED",)
        self.subjects[ticket.external_id] = ticket
        if by_hand:
            self.approver.kept.add(ticket.external_id)
        return ticket

    def address(self, ticket: Ticket) -> str:
        return f"{ticket.customer.removeprefix('U-')}@example.org"

    def several(self, count: int, process: str = "restore_access") -> list[Ticket]:
        """Tickets that were accepted."""
        tickets = [self.ticket(process) for _ in range(count)]
        for ticket in tickets:
            self.client.open(ticket.body)
        return tickets

    def wait_for(self, what: Callable[[], Any], patience: timedelta | float = 60.0) -> Any:
        seconds = patience.total_seconds() if isinstance(patience, timedelta) else patience
        return self.system.wait_for(what, patience=seconds, every=0.1)

    def state(self, external_id: str) -> str:
        rows = self.ask("SELECT state FROM cases_case WHERE external_id = %s", external_id)
        return str(rows[0]["state"]) if rows else ""

    def settle(self, *tickets: Ticket, patience: float = 90.0) -> None:
        """Wait until each case is where it may end; say where it is instead."""
        try:
            self.wait_for(
                lambda: all(self.state(t.external_id) in self.expected[t.external_id] for t in tickets), patience
            )
        except TimeoutError:
            late = [t for t in tickets if self.state(t.external_id) not in self.expected[t.external_id]]
            stories = [self.story_of(ticket.external_id) for ticket in late]
            raise AssertionError("did not come to its end:\n" + "\n".join(stories)) from None

    def story_of(self, external_id: str) -> str:
        rows = self.ask("SELECT public_id FROM cases_case WHERE external_id = %s", external_id)
        return self.story(str(rows[0]["public_id"])) if rows else f"{external_id}: there is no case"

    # Processes. Started from the main thread only: the kernel watches the thread that starts them.

    def start(self, *names: str) -> None:
        super().start(*names)
        for name in names:
            self.learn(name)

    def learn(self, name: str) -> None:
        """Remember which processes belong to a role."""
        for pid in descendants(self.system.pids.get(name, 0)):
            self.roles[pid] = name

    def kill(self, name: str) -> int:
        """kill -9 of a role with all its children; its exit status as a shell shows it."""
        self.learn(name)
        process = self.system.processes.roles[name].process
        self.system.kill(name)
        return status_of(process.returncode)

    def wait_death(self, name: str) -> int:
        """Until a role that was told to die at a point has died; its exit status."""
        process = self.system.processes.roles[name].process
        self.wait_for(lambda: process.poll() is not None, 20)
        self.system.processes.kill(name)  # what its leader left behind
        return status_of(process.returncode)

    def ensure_all(self) -> None:
        """Every role alive and no fault left."""
        self.armed.clear()
        for door in self.doors.all():
            door.heal()
        self.bell.ensure()
        self.outside.delete("/faults").raise_for_status()
        for name in self.system.pids:
            self.system.processes.signal(name, signal.SIGCONT)
        self.start(*[name for name in self.system.roles if name not in self.system.pids])

    @contextmanager
    def dispatchers_asleep(self) -> Iterator[None]:
        """SIGSTOP both, so that what comes meanwhile is rung afterwards."""
        for name in DISPATCHERS:
            self.system.processes.signal(name, signal.SIGSTOP)
        try:
            yield
        finally:
            for name in DISPATCHERS:
                if name in self.system.pids:
                    self.system.processes.signal(name, signal.SIGCONT)


def status_of(returncode: int | None) -> int:
    return 128 - returncode if returncode is not None and returncode < 0 else int(returncode or 0)


def descendants(pid: int) -> list[int]:
    """A process with all its children."""
    found, waiting = [], [pid] if pid else []
    while waiting:
        one = waiting.pop()
        found.append(one)
        try:
            waiting += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
        except OSError:
            continue
    return found


@contextmanager
def running_harness(
    folder: Path,
    server: Server,
    *,
    tell: Callable[[str], None] = lambda line: None,
    more: Mapping[str, str] | None = None,
) -> Iterator[Harness]:
    """Web, two dispatchers, two workers, the outside world, Valkey: started, and stopped at the end."""
    doors, bell = Doors(), Bell(folder / "bell")
    armed = Armed(folder / "failpoints")
    environment = {
        **ENVIRONMENT,
        "CASEFLOW_DEMO": "1",
        "CASEFLOW_FAST_HASH": "1",
        "CASEFLOW_UNDO_SECONDS": "0",
        "DATABASE_URL": server.url,
        "DATABASE_OWNER_URL": server.owner_url,
        "REDIS_URL": bell.url,
        **(more or {}),
    }
    system = System(
        folder,
        database=f"caseflow_faults_{uuid.uuid4().hex[:6]}",
        environment=environment,
        worker_threads=THREADS,
        dispatchers=len(DISPATCHERS),
        tell=tell,
    )
    try:
        system.start_servers()
        _tell_the_ways(system, doors, armed.folder)
        system.migrate()
        token = system.manage_json("bootstrap", "--demo")["token"]
        system.start_processes()
        harness = Harness(system, bell, token, server, doors, armed)
        for name in system.roles:
            harness.learn(name)
        harness.approver.start()
        try:
            yield harness
        finally:
            harness.close()
    finally:
        system.close()
        bell.close()
        for door in doors.all():
            door.close()


def _tell_the_ways(system: System, doors: Doors, failpoints: Path) -> None:
    """Each role reaches the servers through its proxies, and knows the folder of armed places."""
    told = system.environment
    outside = through(system.simulator_url, doors.outside)
    armed = {"CASEFLOW_FAILPOINTS": str(failpoints)}
    work = armed | {"DATABASE_URL": through(told["DATABASE_URL"], doors.database_of_work), "SIMULATOR_URL": outside}
    web = armed | {"DATABASE_URL": through(told["DATABASE_URL"], doors.database_of_web), "SIMULATOR_URL": outside}
    system.told["web"] = web
    for name in WORKERS:
        system.told[name] = work | {"REDIS_URL": through(told["REDIS_URL"], doors.bell_of_workers)}
    for name in DISPATCHERS:
        system.told[name] = work | {"REDIS_URL": through(told["REDIS_URL"], doors.bell_of_dispatchers)}
