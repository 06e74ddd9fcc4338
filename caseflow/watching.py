"""A Redis broker that knows when each of its fetch loops last turned, and the judgement over one worker process.

Loaded before the apps are: it may know no model.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.core.exceptions import ImproperlyConfigured
from dramatiq import Broker, MessageProxy, Worker
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.common import dq_name, q_name

from caseflow.domain.failpoints import failpoint

FETCH_SILENCE = 15.0  #: seconds in which every fetch loop turns at least once; an idle one turns every second
#: Seconds after which a loop that only meets errors is replaced, too. Longer, for a new process would hardly do better
#: while Redis is away, and the tasks at work do not need it.
FETCH_FAILURE = 120.0
BOOT_PATIENCE = 60.0  #: seconds from the process's start to its worker threads


@dataclass(slots=True)
class FetchLoop:
    """One queue's loop as its own thread saw it last; moments of the monotonic clock."""

    thread: int
    turned_at: float  #: a fetch returned or raised
    fetched_at: float  #: a fetch returned, be it nothing
    error: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the process may go on, and what is wrong or being waited for."""

    is_live: bool
    reason: str = ""


class WatchedConsumer(_RedisConsumer):
    """A consumer that leaves a mark at each turn of its loop."""

    broker: WatchedBroker

    def __next__(self) -> MessageProxy | None:
        try:
            failpoint("worker.fetch", self.queue_name)
            message = super().__next__()
        except Exception as error:
            self.broker.mark_turn(self.queue_name, f"{type(error).__name__}: {error}")
            raise
        self.broker.mark_turn(self.queue_name)
        return cast("MessageProxy | None", message)

    def close(self) -> None:
        # An error here, after another one, ends Dramatiq's consumer thread for good.
        failpoint("worker.fetch_closing", self.queue_name)
        super().close()


class WatchedBroker(RedisBroker):
    """`loops` has the fetch loop of each queue that was consumed in this process."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.loops: dict[str, FetchLoop] = {}

    @property
    def consumer_class(self) -> type[WatchedConsumer]:
        return WatchedConsumer

    def mark_turn(self, queue: str, error: str = "") -> None:
        now = time.monotonic()
        known = self.loops.get(queue)
        fetched_at = now if known is None or not error else known.fetched_at
        self.loops[queue] = FetchLoop(threading.get_ident(), now, fetched_at, error)

    @property
    def last_fetch_at(self) -> float | None:
        """The monotonic moment of the fetch that is longest ago among the queues; None before the first."""
        return min((loop.fetched_at for loop in self.loops.values()), default=None)


def require_watched(found: Broker) -> WatchedBroker:
    """Return the broker if it is the one of the settings; raise ImproperlyConfigured otherwise."""
    if not isinstance(found, WatchedBroker):
        raise ImproperlyConfigured(
            f"The message broker is {type(found).__name__}, not WatchedBroker. Is 'django_dramatiq' in INSTALLED_APPS?"
        )
    return found


def judge(broker: WatchedBroker, worker: Worker | None, *, now: float, since: float, booted_at: float) -> Verdict:
    """Judge one worker process. `since` is when its present watch began: silence before it is nobody's fault."""
    if worker is None:
        return Verdict(now - max(booted_at, since) < BOOT_PATIENCE, "the worker is booting")
    for name in _dead_threads(broker, worker):
        return Verdict(False, f"{name} is dead")
    for queue, age in _ages({name: loop.turned_at for name, loop in broker.loops.items()}, worker, now, since).items():
        if age > FETCH_SILENCE:
            return Verdict(False, f"the fetch loop of {queue} is silent for {age:.0f} s")
    failing = {name: loop for name, loop in broker.loops.items() if loop.error}
    for queue, age in _ages({name: loop.fetched_at for name, loop in failing.items()}, worker, now, since).items():
        if queue in failing:
            reason = f"nothing could be fetched from {queue} for {age:.0f} s: {failing[queue].error}"
            return Verdict(age < FETCH_FAILURE, reason)
    return Verdict(True)


def _dead_threads(broker: WatchedBroker, worker: Worker) -> list[str]:
    """What should run and does not, in words."""
    wanted = {q for name in broker.get_declared_queues() for q in (name, dq_name(name))}
    if worker.consumer_whitelist:
        wanted = {name for name in wanted if q_name(name) in worker.consumer_whitelist}
    # A copy: a queue that is declared late adds its consumer meanwhile.
    consumers = dict(worker.consumers)
    dead = [name for name in sorted(wanted) if name not in consumers or not consumers[name].is_alive()]
    living = sum(thread.is_alive() for thread in worker.workers)
    return [
        *(f"the consumer thread of {name}" for name in dead),
        *(["a worker thread"] if living < worker.worker_threads else []),
    ]


def _ages(moments: Mapping[str, float], worker: Worker, now: float, since: float) -> dict[str, float]:
    """Seconds since each consumer's moment, or since the watch began, the longest first."""
    ages = {name: now - max(moments.get(name, since), since) for name in dict(worker.consumers)}
    return dict(sorted(ages.items(), key=lambda item: -item[1]))
