"""/readyz names what is missing, in time, whatever the other side does; /healthz asks nobody."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test import Client

from caseflow import probes


@contextmanager
def listening(answer: bytes = b"") -> Iterator[int]:
    """A port at which somebody takes connections and says `answer`, or nothing for ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    taken, _ = server.accept()
                except OSError:
                    return
                kept.append(taken)
                if answer:
                    taken.recv(1024)
                    taken.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        for one in kept:
            one.close()
    thread.join(10)


@pytest.fixture
def redis_at(settings: Any) -> Iterator[Callable[[int], None]]:
    def at(port: int) -> None:
        settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
        probes._redis.cache_clear()

    yield at
    probes._redis.cache_clear()


#: What another server says at that port: a status line, and numbers that are none (a ValueError of the client).
@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"$nonsense\r\n", b"*x\r\n", b""])
def test_a_redis_that_answers_nonsense_or_nothing_is_named(
    answer: bytes, db: None, redis_at: Callable[[int], None]
) -> None:
    with listening(answer) as port:
        redis_at(port)
        begun = time.monotonic()
        ready = Client().get("/readyz")
    assert (ready.status_code, ready.json()["redis"]) == (503, "no answer")
    assert ready.json()["database"] == "ok"
    assert time.monotonic() - begun < probes.PATIENCE + 1


def test_a_database_that_is_away_or_hangs_is_named_in_time(db: None) -> None:
    parameters = connection.get_connection_params()
    with listening() as silent:
        for port in (9, silent):
            begun = time.monotonic()
            found = probes._answers(parameters | {"host": "127.0.0.1", "port": port})
            assert found == {"database": "no answer", "migrations": "unknown", "redis": "ok"}
            assert time.monotonic() - begun < probes.PATIENCE + 1
    assert Client().get("/healthz").status_code == 200


def test_a_migration_of_the_code_that_is_not_applied_is_named(db: None, as_owner: psycopg.Connection[Any]) -> None:
    taken = as_owner.execute(
        "DELETE FROM django_migrations WHERE app = 'cases' AND name LIKE '0010%' RETURNING app, name, applied"
    ).fetchall()
    try:
        ready = Client().get("/readyz")
    finally:
        for row in taken:
            as_owner.execute("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, %s)", row)
    assert taken and (ready.status_code, ready.json()["migrations"]) == (503, "pending")
    # What a newer version has applied is nothing that is missing.
    as_owner.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('cases', '9999_newer', now())")
    try:
        assert Client().get("/readyz").status_code == 200
    finally:
        as_owner.execute("DELETE FROM django_migrations WHERE name = '9999_newer'")
