"""How often one caller may do the same: counted in Redis, whose content is disposable, so a lost count forgives.

A window begins with its first request and is dropped by its own expiry. Where Redis does not answer everybody passes:
the wrong passwords are counted in PostgreSQL anyway, and a counter must not take the application down.

Counted here, in one round trip, because DRF's throttle reads a list of moments and writes it back (two at once lose a
count, and the list grows with the limit) and the library `limits` refuses the Redis client that Dramatiq brings.
"""

from __future__ import annotations

import logging
import math
import time
from functools import cache

from django.conf import settings
from django.http import HttpRequest
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from caseflow.domain.errors import TooManyRequests

from .addresses import client_address
from .models import Person
from .principal import ServiceUser

PATIENCE = 1.0  #: seconds for Redis to answer
PAUSE = 5.0  #: seconds without asking after it did not
LONGEST_NAME = 200  #: characters of a caller's name in a key

logger = logging.getLogger(__name__)
_silent_until = 0.0  #: by the monotonic clock of this process


def spend(scope: str, caller: str) -> None:
    """Count one request of `caller`. Raises TooManyRequests(wait) with the seconds until the window ends.

    A scope without a limit in the settings is free.
    """
    most, seconds = settings.CASEFLOW_LIMITS.get(scope, (0, 0))
    if not most:
        return
    counted = _count(f"caseflow:limit:{settings.CASEFLOW_LIMITS_NAME}:{scope}:{caller[:LONGEST_NAME]}", seconds)
    if counted is None:
        return
    count, left = counted
    if count > most:
        raise TooManyRequests(wait=max(1, math.ceil(left / 1000)))


def is_within(scope: str, caller: str) -> bool:
    """Whether this one more is within the limit."""
    try:
        spend(scope, caller)
    except TooManyRequests:
        return False
    return True


def caller_of(request: HttpRequest) -> str:
    """A person, a machine, or for somebody unknown the address. `request` may be DRF's, too."""
    user = getattr(request, "user", None)
    if isinstance(user, ServiceUser):
        return user.pk
    if isinstance(user, Person):
        return f"person-{user.pk}"
    return f"address-{client_address(request)}"


def _count(key: str, seconds: int) -> tuple[int, int] | None:
    """How many in this window, and the milliseconds left of it. None where Redis is away."""
    global _silent_until
    if time.monotonic() < _silent_until:
        return None
    try:
        with _redis(settings.REDIS_URL).pipeline(transaction=True) as asking:
            asking.incr(key)
            asking.expire(key, seconds, nx=True)
            asking.pttl(key)
            count, _, left = asking.execute()
    except (RedisError, OSError, ValueError) as error:
        # redis-py 8.1 ends a time-out in its handshake in a ValueError about a closed buffer.
        _silent_until = time.monotonic() + PAUSE
        logger.warning("nothing is counted for %s s: %s", PAUSE, type(error).__name__)
        return None
    return int(count), int(left)


@cache
def _redis(url: str) -> Redis:
    # No second try: whoever waits here waits for a page.
    return Redis.from_url(url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=Retry(NoBackoff(), 0))
