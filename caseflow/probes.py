"""What a supervisor asks: does the process live, and can it work."""

from __future__ import annotations

import logging
import pkgutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from importlib import import_module

import psycopg
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

PATIENCE = 2  #: seconds for everything together; what did not answer by then does not answer
OK, SILENT, PENDING, UNKNOWN = "ok", "no answer", "pending", "unknown"

logger = logging.getLogger(__name__)

#: A few, so that questions that hang, in a resolver say, do not become many threads.
_askers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="readyz")


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Say that the process answers; it asks neither PostgreSQL nor Redis."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 where PostgreSQL and Redis answer and every migration is applied, else 503 with what is missing."""
    found = _answers(connection.get_connection_params())
    return JsonResponse(found, status=200 if set(found.values()) == {OK} else 503)


def _answers(database: dict[str, object]) -> dict[str, str]:
    """What each says within PATIENCE, asked side by side."""
    asked = {
        "database": _askers.submit(_told, "database", lambda: _ask_database(database)),
        "redis": _askers.submit(_told, "redis", _ask_redis),
    }
    done, late = wait(asked.values(), timeout=PATIENCE)
    for one in late:
        one.cancel()  # what is still in the line; what hangs ends by its own limits
    answers = {name: one.result() if one in done else None for name, one in asked.items()}
    applied = answers["database"]
    return {
        "database": SILENT if applied is None else OK,
        "migrations": UNKNOWN if applied is None else (PENDING if migrations_of_the_code() - applied else OK),
        "redis": SILENT if answers["redis"] is None else OK,
    }


def _told(name: str, ask: Callable[[], frozenset[str]]) -> frozenset[str] | None:
    """What was answered; None for any failure: one of the client's own is no answer either."""
    try:
        return ask()
    except Exception as error:
        # Who asks needs no details, and they may name hosts; the log may.
        logger.warning("%s: %s", name, error)
        return None


def _ask_database(parameters: dict[str, object]) -> frozenset[str]:
    """The applied migrations, over a connection of its own: an old one would not tell whether new ones are possible."""
    named = {key: value for key, value in parameters.items() if key not in ("cursor_factory", "context")}
    with psycopg.connect(**{**named, "connect_timeout": PATIENCE}, autocommit=True) as own:  # type: ignore[arg-type]
        own.execute(f"SET statement_timeout = {PATIENCE * 1000}")
        return frozenset(f"{app}.{name}" for app, name in own.execute("SELECT app, name FROM django_migrations"))


def _ask_redis() -> frozenset[str]:
    _redis().ping()
    return frozenset()


@cache
def migrations_of_the_code() -> frozenset[str]:
    """Their names, from the files; none of them is loaded. A database may have more: that of a newer version."""
    found = set()
    for app in apps.get_app_configs():
        module, _ = MigrationLoader.migrations_module(app.label)
        try:
            package = import_module(module) if module else None
        except ModuleNotFoundError:
            continue
        for one in pkgutil.iter_modules(getattr(package, "__path__", [])):
            if not one.ispkg and one.name[0] not in "_~":
                found.add(f"{app.label}.{one.name}")
    return frozenset(found)


@cache
def _redis() -> Redis:
    return Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=PATIENCE / 2,
        socket_connect_timeout=PATIENCE / 2,
        # Of three tries with pauses none would be over in time.
        retry=Retry(NoBackoff(), 0),
    )
