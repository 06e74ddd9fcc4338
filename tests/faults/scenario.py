"""A scenario that is not part of a wave: a function of the harness that fills in its result and asserts what holds."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.harness import KILLED, Harness
from tests.faults.result import Result
from tests.flows.running import Ticket

Play = Callable[[Harness, Result], None]


@dataclass(frozen=True)
class Scenario:
    """One row, or a part of it."""

    row: str
    name: str
    play: Play
    place: str = ""
    own_server: bool = False  #: restarts PostgreSQL, so it needs one of its own


SCENARIOS: list[Scenario] = []


def scenario(row: str, name: str, place: str = "", *, own_server: bool = False) -> Callable[[Play], Play]:
    """Register a function as a scenario."""

    def register(play: Play) -> Play:
        SCENARIOS.append(Scenario(row, name, play, place, own_server))
        return play

    return register


def run_scenario(harness: Harness, chosen: Scenario) -> list[Result]:
    result = Result(row=chosen.row, scenario=chosen.name, place=chosen.place)
    begun = time.monotonic()
    try:
        harness.ensure_all()
        chosen.play(harness, result)
    except AssertionError as error:
        result.problem = str(error) or "an assertion failed"
    except Exception as error:
        result.problem = f"{type(error).__name__}: {error}"
    finally:
        if result.problem:  # before anything is started again, which begins new logs
            result.notes.append(f"logs: {harness.keep_logs(f'faults-{chosen.row}')}")
        harness.ensure_all()
    result.seconds = result.seconds or round(time.monotonic() - begun, 1)
    return [result]


def note_hit(harness: Harness, result: Result, armed: str) -> dict[str, Any]:
    """Wait until somebody was at the place."""
    hit: dict[str, Any] = harness.wait_for(lambda: harness.armed.hit(armed), 30)
    result.pid, result.role = hit["pid"], hit["role"]
    return hit


def death_of(harness: Harness, result: Result) -> int:
    """How the process at the point ended: its own status, or what its parent said of it."""
    role, pid = result.role, result.pid or 0
    process = harness.system.processes.roles[role].process
    if process.pid == pid:
        result.exit_status = harness.wait_death(role)
        return result.exit_status
    harness.wait_for(lambda: is_gone(pid), 20)
    said = re.compile(rf"PID {pid} exited unexpectedly \(code (-?\d+)\)|pid:{pid}\) was sent (SIGKILL)")
    try:
        found = harness.wait_for(lambda: said.search(harness.system.processes.log_tail(role, 4000)), 5)
        result.exit_status = KILLED if found.group(2) else 128 - int(found.group(1))
    except TimeoutError:
        # Its parent was told to end at the same moment and said nothing; SIGKILL is all that was sent.
        result.exit_status = KILLED
        result.notes.append("it is gone; its parent did not say how")
    return int(result.exit_status)


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended, waited for by its parent or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def note_recovery(harness: Harness, result: Result, ticket: Ticket) -> None:
    """Who went on, and how the case stands."""
    rows = harness.ask("SELECT public_id, state FROM cases_case WHERE external_id = %s", ticket.external_id)
    result.external_id, result.case, result.state = ticket.external_id, rows[0]["public_id"], rows[0]["state"]
    attempts = [one for one in harness.attempts(ticket.external_id) if str(result.pid) not in one["worker"]]
    if attempts:
        last = attempts[-1]["worker"]
        result.recovered_by, result.recovered_role = last, harness.role_of(last)


def done_once(harness: Harness, *tickets: Ticket) -> None:
    """Each came to its end with one effect and one message."""
    harness.settle(*tickets)
    for ticket in tickets:
        counted = harness.done_outside(ticket.subscription), harness.done_outside(harness.address(ticket))
        assert counted == (1, 1), f"{ticket.external_id}: {counted[0]} effects, {counted[1]} messages"
        rows = harness.ask("SELECT count(*) AS n FROM cases_case WHERE external_id = %s", ticket.external_id)
        assert rows[0]["n"] == 1, f"{ticket.external_id}: {rows[0]['n']} cases"


@contextmanager
def arriving(harness: Harness, every: float = 0.25, process: str = "restore_access") -> Iterator[list[Ticket]]:
    """Tickets come in while the block runs; at its end the list is whole, and each was accepted."""
    tickets: list[Ticket] = []
    problems: list[BaseException] = []
    stopped = threading.Event()

    def work() -> None:
        try:
            while not stopped.wait(every):
                ticket = harness.ticket(process)
                tickets.append(ticket)
                harness.client.open(ticket.body)
        except BaseException as error:
            problems.append(error)

    thread = threading.Thread(target=work, name="arrivals")
    thread.start()
    try:
        yield tickets
    finally:
        stopped.set()
        thread.join()
    assert not problems, f"a ticket was not accepted: {problems[0]}"
