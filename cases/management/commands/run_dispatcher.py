"""The dispatcher's process: listen first, then sweep; wake by the clock and by NOTIFY (design §3)."""

from __future__ import annotations

import logging
import signal
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import dramatiq
import psycopg
import redis
from django.core.management.base import BaseCommand
from django.db import Error, InterfaceError, OperationalError, connection

from cases.actors import run_task
from cases.beats import BEAT_EVERY, DISPATCHER, FORGET_EVERY, Beat, forget_old_beats, store_beat
from cases.bell import CHANNEL
from cases.dispatching import (
    EVERYTHING,
    IDLE,
    ONLY_NEW,
    TOP_UP,
    WINDOW,
    NotRung,
    Rung,
    Swept,
    look,
    rest_behind_a_full_window,
    sweep,
)
from cases.models.task import QUICK, SLOW

log = logging.getLogger("caseflow.dispatcher")

QUEUES = [QUICK, SLOW]
FEW = 4  #: rung by one sweep: there was no crowd
BETWEEN_FEW = timedelta(milliseconds=5)
AFTER_FAULT = 1.0  #: seconds before a lost server is tried again


class Command(BaseCommand):
    help = "Ring for due tasks until stopped. Any number of copies may run side by side."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--window", type=int, default=WINDOW, help="tasks rung and not yet claimed, per queue")

    def handle(self, *args: Any, window: int, **options: Any) -> None:
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        listener, pulse = Listener(), Pulse()
        rhythm, announced = Rhythm(listener, stopped, window), False
        while not stopped.is_set():
            try:
                listener.ensure()
                rhythm.begin()
                swept = sweep(QUEUES, ring, window=window, wanted=rhythm.wanted) if rhythm.wanted else Swept()
                tell(swept.rung)
                pulse.swept()
                if not announced:
                    self.stdout.write("dispatcher ready")
                    self.stdout.flush()
                    announced = True
                rhythm.rest(swept)
            except (OperationalError, InterfaceError, psycopg.OperationalError):
                log.warning("the database is away; trying again", exc_info=log.isEnabledFor(logging.DEBUG))
                pulse.missed()
                rhythm.missed()
                listener.close()
                connection.close()
                stopped.wait(AFTER_FAULT)
        pulse.stop()
        listener.close()


class Rhythm:
    """What the next sweep is for, and the rest before it."""

    def __init__(
        self,
        listener: Listener,
        stopped: threading.Event,
        window: int = WINDOW,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listener, self._stopped, self._window, self._clock = listener, stopped, window, clock
        self._patience = TOP_UP
        self._began = clock()
        self.missed()

    def missed(self) -> None:
        """The database was away: whatever may have happened meanwhile is looked after."""
        self._full: frozenset[str] = frozenset()
        self.wanted, self._looked_at = EVERYTHING, float("-inf")

    def begin(self) -> None:
        now = self._clock()
        self._since_last, self._began = now - self._began, now

    def rest(self, swept: Swept) -> None:
        """After this sweep."""
        behind_full = self._rest_behind_full_windows(swept)
        if behind_full or swept.rung:
            # At even distances, whatever is told meanwhile: else there would be a sweep for each task that is taken.
            self._patience = TOP_UP
            rest = behind_full or (TOP_UP if len(swept.rung) > FEW else BETWEEN_FEW).total_seconds()
            self._stopped.wait(max(0.0, self._began + rest - self._clock()))
            told = self._listener.wait(0.0)
        elif self.wanted.due:
            # It is paused, or the window for slow work is full and a worker may make room any moment.
            told = self._listener.wait(min(self._patience.total_seconds(), self.wanted.seconds_to_next))
            self._patience = min(2 * self._patience, IDLE)
        else:
            told = self._listener.wait(self.wanted.seconds_to_next)
        if (behind_full or swept.rung or told) and self._clock() - self._looked_at < IDLE.total_seconds():
            self.wanted = ONLY_NEW
        else:
            # However busy it is, once a second: what lapsed, what is scheduled, how long there is nothing to do.
            self.wanted, self._looked_at = look(QUEUES), self._clock()

    def _rest_behind_full_windows(self, swept: Swept) -> float:
        """Seconds; none while quick work has room: what people wait for does not wait for a crowd of slow work.

        Slow work waits for a crowd of quick work, at most UNHURRIED: little beside what it takes.
        """
        before, self._full = self._full, swept.full
        if QUICK not in swept.full or self._window <= FEW:
            return 0.0
        # How fast workers are is known of a window that was full before. One that has just filled may empty as fast.
        taken = [swept.free[queue] if queue in before else self._window for queue in swept.full]
        return min(rest_behind_a_full_window(each, self._since_last, self._window) for each in taken)


class Pulse:
    """The dispatcher's heartbeat, told between sweeps: one that hangs in a sweep falls silent."""

    def __init__(self) -> None:
        self._booted_at = time.monotonic()
        self._swept_at: float | None = None
        self._live_since: float | None = None
        self._beat_at = self._forgot_at = float("-inf")

    def swept(self) -> None:
        """A sweep ended well; tell it when it is time, and delete what nobody reads any more."""
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

    def wait(self, seconds: float) -> bool:
        """Until something is told (true) or the time is up."""
        if self._connection is None:
            time.sleep(min(seconds, IDLE.total_seconds()))
            return False
        return bool(list(self._connection.notifies(timeout=max(seconds, 0.001), stop_after=1)))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def tell(rung: Rung) -> None:
    """One line a sweep: it stands between the tasks of a case and who works on them."""
    if rung:
        log.info("rung", extra={"number": len(rung), "task_ids": [task_id for _, task_id in rung]})


def ring(queue: str, *tasks: int) -> None:
    """Put one id, or a bunch of them, into the queue. Raises NotRung: they are rung again after the interval."""
    message = run_task.message(tasks[0] if len(tasks) == 1 else list(tasks)).copy(queue_name=queue)
    try:
        dramatiq.get_broker().enqueue(message)
    except (redis.RedisError, OSError, dramatiq.errors.ConnectionError) as error:
        log.warning("the bell of task %s could not be rung: %s", ", ".join(map(str, tasks)), error)
        raise NotRung from error
