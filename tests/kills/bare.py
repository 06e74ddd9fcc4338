"""A worker as Dramatiq makes it, with its own defaults: ours is compared with it. It notes each start and end."""

from __future__ import annotations

import os
import time

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker

URL = os.environ["REDIS_URL"]
WORK = 5.0  #: seconds
NOTES = "bare:notes"  #: list of "begun MESSAGE PID" and "ended MESSAGE PID"

dramatiq.set_broker(RedisBroker(url=URL))
_notes = redis.Redis.from_url(URL)


@dramatiq.actor
def work(message: str) -> None:
    """Something that takes a while."""
    _notes.rpush(NOTES, f"begun {message} {os.getpid()}")
    time.sleep(WORK)
    _notes.rpush(NOTES, f"ended {message} {os.getpid()}")
