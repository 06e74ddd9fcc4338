"""What is told after a COMMIT leaves with it, once, and only where something was committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction

from caseflow.statements import run, soon, tell_after_commit

KEEP = "INSERT INTO trips.note (text) VALUES (%s)"
BELL = "NOTIFY trips_bell"

Notes = Callable[[], list[str]]
Heard = Callable[[], int]


#: It is refused only when its own transaction ends.
LATE = "INSERT INTO trips.late VALUES (1), (1)"


@pytest.fixture
def heard(notes: Notes) -> Iterator[Heard]:
    """How often the bell was heard since it was asked last; whoever asks has seen everything that was committed."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as listener:
        listener.execute("LISTEN trips_bell")

        def count() -> int:
            listener.execute("NOTIFY trips_bell, 'the end'")
            told = [note.payload for note in listener.notifies(timeout=10, stop_after=1)]
            while told[-1] != "the end":
                told += [note.payload for note in listener.notifies(timeout=10, stop_after=1)]
            return len(told) - 1

        yield count


def test_it_is_told_once_behind_the_commit_and_on_its_trip(notes: Notes, heard: Heard) -> None:
    with transaction.atomic():
        run(KEEP, ["first"])
        tell_after_commit(BELL)
        tell_after_commit(BELL)
        soon(KEEP, ["second"])
        assert heard() == 0
    assert (heard(), notes()) == (1, ["first", "second"])
    with transaction.atomic():
        run(KEEP, ["third"])
    assert heard() == 0


def test_it_is_sent_behind_the_commit_and_not_within_the_transaction(notes: Notes) -> None:
    """NOTIFY within a transaction holds a lock of the whole database until its COMMIT is flushed."""
    sent: list[list[bytes]] = []
    django: Any = connection
    with transaction.atomic():
        run(KEEP, ["kept"])
        trips, exchanged = django.trips, django.trips._exchanged
        trips._exchanged = lambda several: sent.append([said.query for said in several]) or exchanged(several)
        tell_after_commit(BELL)
    assert sent == [[b"COMMIT", BELL.encode()]]


def test_nothing_is_told_where_nothing_was_committed(notes: Notes, heard: Heard) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        tell_after_commit(BELL)
        soon(KEEP, ["twice"])
        soon(KEEP, ["twice"])
    with transaction.atomic():
        tell_after_commit(BELL)
        connection.close()
    with pytest.raises(LookupError), transaction.atomic():
        run(KEEP, ["never"])
        tell_after_commit(BELL)
        raise LookupError
    assert (heard(), notes()) == (0, [])
    with transaction.atomic():
        run(KEEP, ["later"])
    assert (heard(), notes()) == (0, ["later"])


def test_what_was_told_before_a_savepoint_is_told_though_that_is_rolled_back(notes: Notes, heard: Heard) -> None:
    with transaction.atomic():
        run(KEEP, ["kept"])
        tell_after_commit(BELL)
        with pytest.raises(LookupError), transaction.atomic():
            soon(KEEP, ["taken back"])
            raise LookupError
    assert (heard(), notes()) == (1, ["kept"])


def test_outside_of_a_transaction_it_is_told_at_once(notes: Notes, heard: Heard) -> None:
    tell_after_commit(BELL)
    assert heard() == 1


@pytest.mark.parametrize("told", ["DO 'BEGIN RAISE EXCEPTION $$no bell$$; END'", LATE])
def test_what_cannot_be_told_is_logged_and_what_was_committed_stays(
    told: str, notes: Notes, as_owner: psycopg.Connection[Any], caplog: pytest.LogCaptureFixture
) -> None:
    as_owner.execute("CREATE TABLE trips.late (number int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    as_owner.execute("GRANT ALL ON trips.late TO PUBLIC")
    with transaction.atomic():
        soon(KEEP, ["kept"])
        tell_after_commit(told)
    assert notes() == ["kept"]
    assert told in caplog.text
    run(KEEP, ["and goes on"])
    assert notes() == ["kept", "and goes on"]
