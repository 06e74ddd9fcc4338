"""A worker process watches itself: it tells its supervisor and PostgreSQL how it is, and ends when it is of no use.

Two threads: the one that judges asks no server, so that none can silence it; the other writes the heartbeat's row.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from django.db import Error, connection
from dramatiq import Broker, Middleware, Worker
from dramatiq.common import q_name

from caseflow.dying import die_with_parent
from caseflow.watching import Verdict, WatchedBroker, judge, require_watched
from cases.beats import BEAT_EVERY, WORKER, Beat, store_beat

log = logging.getLogger("caseflow.liveness")

CHECK_EVERY = 2.0  #: seconds
CHECKS_TO_DIE = 2  #: red ones in a row
EXIT_RED = 70  #: status of a process that ended because it was of no use
WRITER_PATIENCE = 2.0  #: seconds for the last heartbeat of a process that was told to stop

#: Names the supervisor's socket; absent under a bare `dramatiq`.
SOCKET_VARIABLE = "CASEFLOW_BEAT_SOCKET"


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker process tells its supervisor with every check."""

    pid: int
    is_live: bool
    is_booted: bool
    reason: str

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, data: bytes) -> Report:
        return cls(**json.loads(data))


class Liveness(Middleware):
    """Starts the watch when a worker process boots and ends it when that is told to stop. Other processes have none."""

    def __init__(self) -> None:
        self._watch: Watch | None = None

    def after_process_boot(self, broker: Broker) -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            die_with_parent(parent.is_alive)
        # A terminal that closes tells the whole family; the supervisor alone passes the order to stop on, and a second
        # one would kill.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self._watch = Watch(require_watched(broker))
        self._watch.start()

    def after_worker_boot(self, broker: Broker, worker: Worker) -> None:
        if self._watch is not None:
            self._watch.worker = worker

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        # From here on threads end one after the other, as they should; the supervisor limits how long.
        if self._watch is not None:
            self._watch.end()


class Watch:
    """The two threads of one worker process."""

    def __init__(self, broker: WatchedBroker) -> None:
        self.worker: Worker | None = None
        self._broker = broker
        self._booted_at = time.monotonic()
        self._verdict = Verdict(True, "the worker is booting")
        self._live_since: float | None = self._booted_at
        self._stopped = threading.Event()
        self._beat_now = threading.Event()
        self._supervisor = _Supervisor(os.environ.get(SOCKET_VARIABLE, ""))
        self._writer = threading.Thread(target=self._write_forever, name="heartbeat", daemon=True)

    def start(self) -> None:
        threading.Thread(target=self._judge_forever, name="liveness", daemon=True).start()
        self._writer.start()

    def end(self) -> None:
        """Stop judging; the heartbeat's row says that the process was told to stop."""
        self._stopped.set()
        self._beat_now.set()
        self._writer.join(WRITER_PATIENCE)

    def _judge_forever(self) -> None:
        red, since, last = 0, self._booted_at, self._booted_at
        while not self._stopped.is_set():
            now = time.monotonic()
            if now - last > 2 * CHECK_EVERY:
                # The whole process stood still; what it missed meanwhile says nothing about its threads.
                since = now
            last = now
            verdict = judge(self._broker, self.worker, now=now, since=since, booted_at=self._booted_at)
            red = 0 if verdict.is_live else red + 1
            self._tell(verdict)
            if red >= CHECKS_TO_DIE:
                log.critical("%s; the process ends so that it is replaced", verdict.reason)
                os._exit(EXIT_RED)
            # Its readiness is waited for: soon after the boot, not at the next round.
            self._stopped.wait(CHECK_EVERY if self.worker is not None else CHECK_EVERY / 10)

    def _tell(self, verdict: Verdict) -> None:
        before, self._verdict = self._verdict, verdict
        if verdict.is_live != before.is_live:
            self._live_since = time.monotonic() if verdict.is_live else None
            # Now, for the process may not live until its next heartbeat.
            self._beat_now.set()
        if not verdict.is_live:
            log.error("not live: %s", verdict.reason)
        elif verdict.reason and not before.reason:
            log.warning("%s", verdict.reason)
        self._supervisor.tell(Report(os.getpid(), verdict.is_live, self.worker is not None, verdict.reason))

    def _write_forever(self) -> None:
        while not self._stopped.is_set():
            self._write()
            self._beat_now.wait(BEAT_EVERY.total_seconds())
            self._beat_now.clear()
        self._write()
        connection.close()

    def _write(self) -> None:
        beat = Beat(
            kind=WORKER,
            booted_at=self._booted_at,
            fetched_at=self._broker.last_fetch_at,
            live_since=self._live_since,
            reason=self._verdict.reason,
            stopped=self._stopped.is_set(),
            queues=self._queues(),
        )
        try:
            store_beat(beat)
        except Error as error:
            # For people only; the supervisor hears of this process by its socket.
            log.warning("the heartbeat could not be stored: %s", str(error).strip())
            connection.close()

    def _queues(self) -> tuple[str, ...]:
        # A copy: a queue that is declared late adds its consumer meanwhile.
        consumers = dict(self.worker.consumers) if self.worker is not None else {}
        return tuple(sorted({q_name(name) for name in consumers}))


class _Supervisor:
    """The way to the supervisor: datagrams, so that a supervisor that does not listen never makes anybody wait."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) if path else None
        if self._socket is not None:
            self._socket.setblocking(False)

    def tell(self, report: Report) -> None:
        if self._socket is not None:
            try:
                self._socket.sendto(report.encode(), self._path)
            except OSError as error:
                log.warning("the supervisor does not listen: %s", error)


def listen_at(path: Path) -> socket.socket:
    """The supervisor's end: a socket from which `Report.decode` reads one datagram at a time, without waiting."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.setblocking(False)
    listener.bind(str(path))
    return listener
