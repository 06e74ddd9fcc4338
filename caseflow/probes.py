"""What a supervisor asks: does the process live, and can it work."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import Redis, RedisError

PATIENCE = 1  #: seconds for Redis to answer

logger = logging.getLogger(__name__)


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Say that the process answers; it asks neither PostgreSQL nor Redis."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 where PostgreSQL and Redis both answer, else 503 with the name of the silent one."""
    found = {"database": _answers(_ask_database), "redis": _answers(_ask_redis)}
    body = {name: "ok" if answers else "no answer" for name, answers in found.items()}
    return JsonResponse(body, status=200 if all(found.values()) else 503)


def _answers(ask: Callable[[], None]) -> bool:
    try:
        ask()
    except (DatabaseError, RedisError, OSError) as error:
        # Who asks needs no details, and they may name hosts; the log may.
        logger.warning("%s: %s", ask.__name__.removeprefix("_ask_"), error)
        return False
    return True


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _ask_redis() -> None:
    _redis().ping()


@cache
def _redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)
