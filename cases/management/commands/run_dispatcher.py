"""The dispatcher's process: listen first, then sweep; wake by the clock and by NOTIFY (design §3)."""

from __future__ import annotations

import logging
import signal
import threading
import time
from argparse import ArgumentParser
from typing import Any

import dramatiq
import psycopg
import redis
from django.core.management.base import BaseCommand
from django.db import Error, InterfaceError, OperationalError, connection

from cases.actors import run_task
from cases.beats import BEAT_EVERY, DISPATCHER, FORGET_EVERY, Beat, forget_old_beats, store_beat
from cases.bell import CHANNEL
from cases.dispatching import IDLE, TOP_UP, WINDOW, seconds_to_next, sweep
from cases.models.task import QUICK, SLOW

log = logging.getLogger("caseflow.dispatcher")

AFTER_FAULT = 1.0  #: seconds before a lost server is tried again

_rung: list[int] = []  #: tasks since the last line of the log


class Command(BaseCommand):
    help = "Ring for due tasks until stopped. Any number of copies may run side by side."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--window", type=int, default=WINDOW, help="tasks rung and not yet claimed, per queue")

    def handle(self, *args: Any, window: int, **options: Any) -> None:
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        listener, pulse = Listener(), Pulse()
        announced = False
        while not stopped.is_set():
            try:
                listener.ensure()
                done = sweep([QUICK, SLOW], ring, window=window)
                pulse.swept()
                if not announced:
                    self.stdout.write("dispatcher ready")
                    self.stdout.flush()
                    announced = True
                if done.full:
                    stopped.wait(TOP_UP.total_seconds())
                else:
                    listener.wait(seconds_to_next())
            except (OperationalError, InterfaceError, psycopg.OperationalError):
                log.warning("the database is away; trying again", exc_info=log.isEnabledFor(logging.DEBUG))
                pulse.missed()
                listener.close()
                connection.close()
                stopped.wait(AFTER_FAULT)
        pulse.stop()
        listener.close()


class Pulse:
    """The dispatcher's heartbeat, told between sweeps: one that hangs in a sweep falls silent."""

    def __init__(self) -> None:
        self._booted_at = time.monotonic()
        self._swept_at: float | None = None
        self._live_since: float | None = None
        self._beat_at = self._forgot_at = float("-inf")

    def swept(self) -> None:
        """A sweep ended well; tell it when it is time, and delete what nobody reads any more."""
        tell_rung()
        now = self._swept_at = time.monotonic()
        self._live_since = self._live_since or now
        if now - self._beat_at >= BEAT_EVERY.total_seconds():
            self._store()
            self._beat_at = now
        if now - self._forgot_at >= FORGET_EVERY.total_seconds():
            forget_old_beats()
            self._forgot_at = now

    def missed(self) -> None:
        """The database was away; the next sweep begins a new life, told at once."""
        tell_rung()
        self._live_since, self._beat_at = None, float("-inf")

    def stop(self) -> None:
        """The last one, if the database is there to take it."""
        try:
            self._store(stopped=True)
        except Error as error:
            log.warning("the last heartbeat could not be stored: %s", str(error).strip())

    def _store(self, *, stopped: bool = False) -> None:
        store_beat(Beat(DISPATCHER, self._booted_at, self._swept_at, self._live_since, stopped=stopped))


class Listener:
    """A connection of its own that LISTENs, so that no notice is lost while a sweep runs."""

    def __init__(self) -> None:
        self._connection: psycopg.Connection[Any] | None = None

    def ensure(self) -> None:
        """LISTEN before the sweep, again after every reconnect: what commits in between is seen by one of the two."""
        if self._connection is None or self._connection.closed:
            parameters = connection.get_connection_params()
            parameters.pop("cursor_factory", None)
            parameters.pop("context", None)
            self._connection = psycopg.connect(**parameters, autocommit=True)
            self._connection.execute(f"LISTEN {CHANNEL}")

    def wait(self, seconds: float) -> None:
        """Until something is told or the time is up."""
        if self._connection is None:
            time.sleep(min(seconds, IDLE.total_seconds()))
            return
        for _notice in self._connection.notifies(timeout=max(seconds, 0.001), stop_after=1):
            pass

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def tell_rung() -> None:
    """One line a sweep: it stands between the tasks of a case and who works on them."""
    if _rung:
        log.info("rung", extra={"number": len(_rung), "task_ids": list(_rung)})
        _rung.clear()


def ring(queue: str, task_id: int) -> None:
    """Put one id into the queue. A bell that cannot be rung is rung again after the interval."""
    message = run_task.message(task_id).copy(queue_name=queue)
    _rung.append(task_id)
    try:
        dramatiq.get_broker().enqueue(message)
    except (redis.RedisError, OSError, dramatiq.errors.ConnectionError) as error:
        log.warning("the bell of task %s could not be rung: %s", task_id, error)
