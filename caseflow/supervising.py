"""Workers under supervision: what dies or is of no use is replaced, what is told to stop ends in order."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caseflow.liveness import SOCKET_VARIABLE, Report, listen_at
from cases.beats import BEAT_SILENCE

log = logging.getLogger("caseflow.supervisor")

BACK_OFF = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)  #: seconds before a part that ended again and again is started again
STEADY = 60.0  #: seconds of good work after which earlier ends are forgotten
#: Seconds of silence after which a part is killed. Later than red: what was only stopped for a while may go on.
KILL_SILENCE = 45.0
STOP_LIMIT = 60.0  #: seconds from the order to stop to SIGKILL
DRAMATIQ_STOP_LIMIT = 50.0  #: seconds for tasks under way; the rest is for closing
TICK = 0.2  #: seconds


@dataclass(frozen=True, slots=True)
class PartState:
    """One part as it was at the last look; `problem` is empty when it works."""

    part: str
    problem: str
    pid: int | None  #: the worker process
    master: int | None  #: Dramatiq's own parent of it
    restarts: int


class Part:
    """A place for one Dramatiq master with its one worker process, filled again whenever it falls empty.

    One master each: it stops all its workers when one of them dies, and the others would have to finish first.
    """

    def __init__(self, name: str, arguments: Sequence[str], environment: Mapping[str, str], beats: Path) -> None:
        self.name = name
        self._argv = [sys.executable, "-m", "caseflow.crew", str(os.getpid()), *arguments]
        self._environment = {**environment, SOCKET_VARIABLE: str(beats)}
        self._listener = listen_at(beats)
        self._master: subprocess.Popen[bytes] | None = None
        self._report: Report | None = None
        self._heard_at = 0.0
        self._good_since: float | None = None
        self._ends = 0  #: in a row
        self._restarts = 0
        self._start_at = 0.0
        self._ended_with: int | None = None

    def tick(self, now: float) -> None:
        """Listen, look, and start again what ended."""
        self._listen(now)
        if self._master is None:
            if now >= self._start_at:
                self._start(now)
            return
        code = self._master.poll()
        if code is not None:
            self._note_end(code, now)
        elif now - self._heard_at > KILL_SILENCE:
            log.error("%s is silent for %.0f s: killed", self.name, now - self._heard_at)
            self.kill()

    def forgive(self, now: float) -> None:
        """The supervisor itself stood still: what was not heard meanwhile is nobody's fault."""
        self._heard_at = now

    def look(self, now: float) -> PartState:
        pid = self._report.pid if self._report else None
        master = self._master.pid if self._master else None
        return PartState(self.name, self._problem(now), pid, master, self._restarts)

    def ask_to_stop(self) -> None:
        if self._master is not None:
            self._master.send_signal(signal.SIGTERM)

    def has_ended(self) -> bool:
        """For a part that was asked to stop."""
        return self._master is None or self._master.poll() is not None

    def ended_in_order(self) -> bool:
        # -TERM: it was told before it had come to listen.
        return self._master is None or self._master.returncode in (0, -signal.SIGTERM)

    def kill(self) -> None:
        if self._master is not None and self._master.poll() is None:
            self._master.kill()
            # Where no kernel does it for us.
            if self._report is not None:
                with suppress(ProcessLookupError):
                    os.kill(self._report.pid, signal.SIGKILL)
            self._master.wait()

    def close(self) -> None:
        self.kill()
        self._listener.close()

    def _start(self, now: float) -> None:
        for _late in self._datagrams():
            pass
        self._report, self._good_since, self._heard_at = None, None, now
        # In the supervisor's own process group: a signal to the group reaches the whole family.
        self._master = subprocess.Popen(self._argv, env=self._environment, stdin=subprocess.DEVNULL)

    def _note_end(self, code: int, now: float) -> None:
        if self._good_since is not None and now - self._good_since > STEADY:
            self._ends = 0
        pause = BACK_OFF[min(self._ends, len(BACK_OFF) - 1)]
        self._ends += 1
        self._restarts += 1
        self._start_at = now + pause
        self._master, self._report, self._ended_with = None, None, code
        log.error("%s ended with %s; it is started again in %.0f s", self.name, code, pause)

    def _listen(self, now: float) -> None:
        for data in self._datagrams():
            self._report, self._heard_at = Report.decode(data), now
            if not self._report.is_live or not self._report.is_booted:
                self._good_since = None
            elif self._good_since is None:
                self._good_since = now

    def _datagrams(self) -> Iterator[bytes]:
        with suppress(BlockingIOError):
            while True:
                yield self._listener.recv(65536)

    def _problem(self, now: float) -> str:
        if self._master is None or self._master.poll() is not None:
            return "not started" if self._ended_with is None else f"ended with {self._ended_with}"
        if now - self._heard_at > BEAT_SILENCE.total_seconds():
            return f"no beat for {now - self._heard_at:.0f} s"
        if self._report is None:
            return "starting"
        if not _lives(self._report.pid):
            return f"the worker process {self._report.pid} is dead"
        if not self._report.is_live or not self._report.is_booted:
            return self._report.reason
        return ""


class Family:
    """All parts of one supervisor. Its own thread calls `run`; any thread may read `findings`."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._states: list[PartState] = []
        self._ticked_at = time.monotonic()
        self._orders = 0

    def order_stop(self, *_: Any) -> None:
        """Stop in order; ordered a second time, at once. May be called by a signal handler."""
        self._orders += 1

    def run(self) -> bool:
        """Keep every part at work until told to stop; tell whether all ended in order."""
        try:
            while not self._orders:
                self._tick()
                time.sleep(TICK)
            return self._stop()
        finally:
            for part in self._parts:
                part.close()

    def findings(self) -> tuple[bool, dict[str, Any]]:
        """Whether everything works, and what there is to say about it."""
        problems = [{"part": state.part, "problem": state.problem} for state in self._states if state.problem]
        silence = time.monotonic() - self._ticked_at
        if silence > BEAT_SILENCE.total_seconds():
            problems.append({"part": "supervisor", "problem": f"it stands still for {silence:.0f} s"})
        if not self._states:
            problems.append({"part": "supervisor", "problem": "it has started nothing yet"})
        parts = [
            {"part": state.part, "pid": state.pid, "master": state.master, "restarts": state.restarts}
            for state in self._states
        ]
        return not problems, {"status": "red" if problems else "green", "problems": problems, "parts": parts}

    def _tick(self) -> None:
        now = time.monotonic()
        stood_still = now - self._ticked_at > 10 * TICK
        for part in self._parts:
            if stood_still:
                part.forgive(now)
            part.tick(now)
        self._states = [part.look(now) for part in self._parts]
        self._ticked_at = now

    def _stop(self) -> bool:
        log.info("stopping; tasks under way have %.0f s", STOP_LIMIT)
        deadline = time.monotonic() + STOP_LIMIT
        for part in self._parts:
            part.ask_to_stop()
        while not all(part.has_ended() for part in self._parts):
            self._ticked_at = time.monotonic()
            if self._ticked_at > deadline or self._orders > 1:
                log.error("not ended in order: killed")
                return False
            time.sleep(TICK)
        return all(part.ended_in_order() for part in self._parts)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
