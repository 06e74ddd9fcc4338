"""A table that only these tests know, and a way to act just when our statement waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection

#: Somebody acts from another thread as soon as this thread's statement waits for a lock of theirs.
OnceItWaits = Callable[[Callable[[], Any]], AbstractContextManager[None]]

WAITS = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pid = %s)"
PATIENCE = 10.0  #: seconds


@pytest.fixture
def notes(committing_database: None, as_owner: psycopg.Connection[Any]) -> Iterator[Callable[[], list[str]]]:
    """The texts that are stored, as another connection sees them."""
    connection.ensure_connection()
    role = connection.settings_dict["USER"]
    as_owner.execute("DROP SCHEMA IF EXISTS trips CASCADE")
    as_owner.execute("CREATE SCHEMA trips")
    as_owner.execute("CREATE TABLE trips.note (id serial PRIMARY KEY, text text UNIQUE)")
    as_owner.execute(f'GRANT USAGE ON SCHEMA trips TO "{role}"')
    as_owner.execute(f'GRANT ALL ON ALL TABLES IN SCHEMA trips TO "{role}"')
    as_owner.execute(f'GRANT ALL ON ALL SEQUENCES IN SCHEMA trips TO "{role}"')
    yield lambda: [text for (text,) in as_owner.execute("SELECT text FROM trips.note ORDER BY id")]
    connection.close()
    as_owner.execute("DROP SCHEMA trips CASCADE")


@pytest.fixture
def end_connection(committing_database: None) -> Iterator[Callable[[], None]]:
    """The server ends ours, and has ended it when this is over."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        yield lambda: other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid])


@pytest.fixture
def once_it_waits(as_owner: psycopg.Connection[Any]) -> OnceItWaits:
    @contextmanager
    def once(act: Callable[[], Any]) -> Iterator[None]:
        connection.ensure_connection()
        ours, over, acted = connection.connection.info.backend_pid, threading.Event(), threading.Event()

        def watch() -> None:
            while not over.is_set():
                if as_owner.execute(WAITS, [ours]).fetchone() == (True,):
                    acted.set()
                    act()
                    return

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(PATIENCE)
        assert acted.is_set(), "nothing waited"

    return once
