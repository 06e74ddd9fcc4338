"""A connection that nobody can trust any more is closed, and what was prepared on it is prepared anew."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import (
    DatabaseError,
    DataError,
    OperationalError,
    ProgrammingError,
    close_old_connections,
    connection,
    transaction,
)
from django.test.utils import CaptureQueriesContext

from caseflow.database import base
from caseflow.statements import Question, row_of, rows_of, run, soon

KEEP = "INSERT INTO trips.note (text) VALUES (%s)"
GATE = 4822

Notes = Callable[[], list[str]]


class Interrupted(BaseException):
    """What a time limit or an order to stop throws into a thread."""


def _raise(_number: int, _frame: Any) -> None:
    raise Interrupted


def by_signal(thread: int) -> None:
    signal.pthread_kill(thread, signal.SIGUSR1)


def by_time_limit(thread: int) -> None:
    """It arrives once the system call is over: with the first of the answers, before the others."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Interrupted))


@pytest.mark.parametrize("at_commit", [True, False], ids=["at COMMIT", "before it"])
@pytest.mark.parametrize("interrupt", [by_signal, by_time_limit])
def test_an_interrupted_trip_closes_its_connection_and_the_next_use_connects_anew(
    interrupt: Callable[[int], None],
    at_commit: bool,
    notes: Notes,
    as_owner: psycopg.Connection[Any],
    once_it_waits: Any,
) -> None:
    run("SELECT pg_advisory_lock(%s)", [GATE])
    run("SELECT pg_advisory_unlock(%s)", [GATE])
    ours, thread = connection.connection, threading.get_ident()
    as_owner.execute("SELECT pg_advisory_lock(%s)", [GATE])

    def interrupt_and_open() -> None:
        interrupt(thread)
        as_owner.execute("SELECT pg_advisory_unlock(%s)", [GATE])

    before = signal.signal(signal.SIGUSR1, _raise)
    try:
        with once_it_waits(interrupt_and_open), pytest.raises(Interrupted), transaction.atomic():
            soon("SELECT pg_advisory_lock(%s)", [GATE])
            soon("SELECT pg_advisory_unlock(%s)", [GATE])
            if not at_commit:
                run(KEEP, ["half said"])
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert ours.closed
    with transaction.atomic():
        assert row_of("SELECT %s::int", [1]) == (1,)
    assert connection.connection is not ours
    run(KEEP, ["later"])
    assert notes() == ["later"]


@pytest.mark.parametrize("waiting", [True, False], ids=["on a trip", "alone"])
def test_a_connection_that_the_server_ends_is_an_error_of_django_and_is_replaced(
    waiting: bool, notes: Notes, end_connection: Callable[[], None]
) -> None:
    with pytest.raises(OperationalError), transaction.atomic():
        run(KEEP, ["lost"])
        end_connection()
        if waiting:
            soon(KEEP, ["lost, too"])
        else:
            run(KEEP, ["lost, too"])
    assert notes() == []
    run(KEEP, ["later"])
    assert notes() == ["later"]


def test_outside_a_transaction_it_is_replaced_before_the_next_task(
    notes: Notes, end_connection: Callable[[], None]
) -> None:
    with transaction.atomic():
        run(KEEP, ["before"])  # answered just now, so that nobody asks whether it is there
    end_connection()
    with pytest.raises(OperationalError):
        run(KEEP, ["lost"])
    close_old_connections()
    run(KEEP, ["later"])
    assert notes() == ["before", "later"]


@pytest.mark.parametrize("waiting", [True, False], ids=["on a trip", "alone"])
def test_what_the_server_has_thrown_away_fails_once_and_is_prepared_anew(waiting: bool, notes: Notes) -> None:
    run(KEEP, ["first"])
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
    with pytest.raises(DatabaseError) as refusal, transaction.atomic():
        if waiting:
            soon(KEEP, ["second"])
        else:
            run(KEEP, ["second"])
    assert refusal.value.__cause__.diag.sqlstate == "26000"  # type: ignore[union-attr]
    run(KEEP, ["third"])
    assert notes() == ["first", "third"]


def test_a_table_that_has_changed_fails_once_and_is_prepared_anew(
    notes: Notes, as_owner: psycopg.Connection[Any]
) -> None:
    everything = "SELECT * FROM trips.note"
    run(KEEP, ["first"])
    assert len(rows_of(everything)[0]) == 2
    as_owner.execute("ALTER TABLE trips.note ADD more int")
    with pytest.raises(DatabaseError) as refusal:
        rows_of(everything)
    assert refusal.value.__cause__.diag.sqlstate == "0A000"  # type: ignore[union-attr]
    assert len(rows_of(everything)[0]) == 3


def test_a_connection_keeps_so_many_statements_and_no_more(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caseflow.database.trips.KEPT_BY_A_CONNECTION", 3)
    connection.close()
    with transaction.atomic():
        for number in range(5):
            soon(f"{KEEP} RETURNING {number}", [f"note {number}"])
    ((kept,),) = rows_of("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'caseflow%%'")
    assert kept == 3
    assert notes() == [f"note {number}" for number in range(5)]


def test_a_connection_is_asked_whether_it_is_there_unless_it_has_just_answered(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(base.time, "monotonic", lambda: now[0])
    with transaction.atomic():
        run(KEEP, ["answered"])
    asked: list[bool] = []
    monkeypatch.setattr(base.base.DatabaseWrapper, "is_usable", lambda _self: asked.append(True) or True)
    now[0] += base.ANSWERED_JUST_NOW - 0.01
    assert connection.is_usable()
    assert not asked
    now[0] += 0.02
    assert connection.is_usable()
    assert asked


def test_a_connection_that_has_just_answered_and_was_ended_is_not_taken_for_usable(
    notes: Notes, end_connection: Callable[[], None]
) -> None:
    with transaction.atomic():
        run(KEEP, ["answered"])
    end_connection()
    assert not connection.is_usable()
    close_old_connections()
    run(KEEP, ["later"])
    assert notes() == ["answered", "later"]


def test_what_waits_when_its_transaction_is_left_without_a_commit_is_stored_by_nobody(notes: Notes) -> None:
    run(KEEP, ["first"])
    connection.set_autocommit(False)
    soon(KEEP, ["waiting"])
    with pytest.raises(ProgrammingError):
        connection.set_autocommit(True)
    connection.set_autocommit(True)
    run(KEEP, ["later"])
    assert notes() == ["first", "later"]


def test_a_cursor_that_was_made_before_comes_after_what_waits(notes: Notes) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        soon(KEEP, ["waiting"])
        cursor.execute("SELECT text FROM trips.note")
        assert cursor.fetchall() == [("waiting",)]
    with pytest.raises(DataError), transaction.atomic(), connection.cursor() as cursor:
        soon("SELECT 1 / %s::int", [0])
        cursor.execute("SELECT 1")


def test_whoever_begins_to_watch_queries_sees_them_after_what_waits(notes: Notes) -> None:
    with transaction.atomic():
        soon(KEEP, ["waiting"])
        with CaptureQueriesContext(connection):
            assert rows_of("SELECT text FROM trips.note") == [("waiting",)]


def test_an_answer_that_is_asked_for_before_its_question_was_sent_sends_it(notes: Notes) -> None:
    with transaction.atomic():
        soon(KEEP, ["waiting"])
        answer = Question("SELECT text FROM trips.note", (), lambda rows: rows[0][0]).asked()
        assert answer.value() == "waiting"
