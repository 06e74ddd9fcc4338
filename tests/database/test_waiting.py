"""What nobody needs at once waits for the next trip: in its order, within its transaction, never lost, never alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import DataError, IntegrityError, connection, transaction

from caseflow.statements import Question, row_of, rows_of, rows_of_each, run, soon
from cases.models import Case

KEEP = "INSERT INTO trips.note (text) VALUES (%s)"
KEPT = "SELECT text FROM trips.note ORDER BY id"
REFUSED = "SELECT 1 / %s::int"

Notes = Callable[[], list[str]]


@pytest.fixture(autouse=True)
def _known(notes: Notes) -> None:
    """Both are prepared: a statement that is sent for the first time takes along what waits."""
    run(REFUSED, [1])
    with transaction.atomic():
        run(KEEP, ["taken back"])
        transaction.set_rollback(True)


def kept() -> list[str]:
    return [text for (text,) in rows_of(KEPT)]


def test_what_waits_leaves_with_the_next_statement_and_before_it(notes: Notes) -> None:
    with transaction.atomic():
        soon(KEEP, ["first"])
        soon(KEEP, ["second"])
        assert kept() == ["first", "second"]
        assert notes() == []
    assert notes() == ["first", "second"]


def test_what_waits_leaves_with_the_commit_in_the_order_it_was_said(notes: Notes) -> None:
    said: list[str] = []
    with transaction.atomic():
        for number in range(5):
            text = f"note {number}"
            soon(f"{KEEP} RETURNING text", [text], lambda rows: said.append(rows[0][0]))
        assert said == []
    assert said == notes() == [f"note {number}" for number in range(5)]


def test_a_statement_prepared_for_the_first_time_loses_and_overtakes_nothing_that_waits(notes: Notes) -> None:
    texts = ["first", "second", "third", "fourth"]
    connection.close()
    with transaction.atomic():
        soon(KEEP, [texts[0]])
        for new, text in enumerate(texts[1:]):  # each of these is prepared while the one before it waits
            soon(f"INSERT INTO trips.note (text) VALUES (%s) RETURNING id + {new}", [text])
        assert kept() == texts
    assert notes() == texts


def test_the_values_of_a_statement_are_its_own_although_another_is_run_while_it_is_prepared(notes: Notes) -> None:
    connection.close()
    with transaction.atomic():
        soon(KEEP, ["first"], lambda _rows: run(KEEP, ["second"]))
        assert row_of("SELECT %s::bytea, %s::text", [b"\x00\xff", "text"]) == (b"\x00\xff", "text")


def test_what_waits_is_run_once_by_whatever_takes_it_along(notes: Notes) -> None:
    with transaction.atomic():
        soon(KEEP, ["first"])
        assert rows_of("SELECT 1") == [(1,)]
        assert rows_of("SELECT 1") == [(1,)]
    assert notes() == ["first"]


def test_several_asked_together_are_answered_each_in_its_place(notes: Notes) -> None:
    with transaction.atomic():
        soon(KEEP, ["before"])
        assert rows_of_each((KEPT, ()), (KEEP, ["between"]), (KEPT, ()), ("SELECT 1 WHERE false", ())) == [
            [("before",)],
            [],
            [("before",), ("between",)],
            [],
        ]
    assert rows_of_each((KEPT, ()), ("SELECT 1", ())) == [[("before",), ("between",)], [(1,)]]
    assert rows_of_each() == []


def test_a_question_is_answered_by_the_commit_and_what_it_means_may_fail_later(notes: Notes) -> None:
    with transaction.atomic():
        soon(KEEP, ["told"])
        answer = Question(KEPT, (), lambda rows: rows[0][0]).asked()
        lacking = Question(f"{KEPT} OFFSET 1", (), lambda rows: rows[0][0]).asked()
    assert (answer.value(), notes()) == ("told", ["told"])
    with pytest.raises(IndexError):
        lacking.value()


def test_without_a_transaction_nothing_waits(notes: Notes) -> None:
    said: list[Any] = []
    soon(f"{KEEP} RETURNING text", ["at once"], said.extend)
    assert (said, notes()) == ([("at once",)], ["at once"])


def test_what_is_wrong_is_raised_by_the_next_statement_and_nothing_is_stored(notes: Notes) -> None:
    asked = False
    with pytest.raises(DataError), transaction.atomic():
        soon(KEEP, ["before"])
        soon(REFUSED, [0])
        soon(KEEP, ["after"])
        asked = True
        run(KEEP, ["next"])
    assert asked
    assert notes() == []
    run(KEEP, ["later"])
    assert notes() == ["later"]


def test_what_is_wrong_is_raised_by_the_commit_and_nothing_is_stored(notes: Notes) -> None:
    rung: list[str] = []
    with pytest.raises(IntegrityError), transaction.atomic():
        transaction.on_commit(lambda: rung.append("stored"))
        soon(KEEP, ["twice"])
        soon(KEEP, ["twice"])
    assert (rung, notes()) == ([], [])
    with transaction.atomic():
        transaction.on_commit(lambda: rung.append("stored later"))
        soon(KEEP, ["once"])
    assert (rung, notes()) == (["stored later"], ["once"])


def test_a_rollback_forgets_what_waits(notes: Notes) -> None:
    with pytest.raises(LookupError), transaction.atomic():
        soon(REFUSED, [0])  # it would be refused if it were sent
        soon(KEEP, ["never"])
        raise LookupError
    with transaction.atomic():
        soon(KEEP, ["never, too"])
        transaction.set_rollback(True)
    run(KEEP, ["later"])
    assert notes() == ["later"]


def test_a_closed_connection_forgets_what_waits(notes: Notes) -> None:
    with transaction.atomic():
        soon(KEEP, ["never"])
        connection.close()
    run(KEEP, ["later"])
    assert notes() == ["later"]


def test_a_cursor_of_django_comes_after_what_waits(notes: Notes) -> None:
    with transaction.atomic():
        soon(KEEP, ["first"])
        with connection.cursor() as cursor:
            cursor.execute(KEPT)
            assert cursor.fetchall() == [("first",)]
        soon(KEEP, ["second"])
        with connection.chunked_cursor() as cursor:
            cursor.execute(KEPT)
            assert cursor.fetchall() == [("first",), ("second",)]
    with pytest.raises(DataError), transaction.atomic():
        soon(REFUSED, [0])
        Case.objects.exists()


def test_a_savepoint_keeps_what_waited_before_it_and_forgets_what_came_after(notes: Notes) -> None:
    with transaction.atomic():
        soon(KEEP, ["before"])
        with pytest.raises(LookupError), transaction.atomic():
            soon(KEEP, ["within"])
            assert kept() == ["before", "within"]
            soon(REFUSED, [0])  # never sent
            raise LookupError
        with pytest.raises(DataError), transaction.atomic():
            soon(KEEP, ["within, too"])
            soon(REFUSED, [0])  # sent where the savepoint is released
        with transaction.atomic():
            soon(KEEP, ["kept"])
        soon(KEEP, ["after"])
    assert notes() == ["before", "kept", "after"]


@pytest.mark.parametrize("first", ["by the ORM", "by a trip", "on its way"])
def test_whoever_begins_a_transaction_the_rollback_takes_everything_back(notes: Notes, first: str) -> None:
    with pytest.raises(LookupError), transaction.atomic():
        if first == "by the ORM":
            Case.objects.exists()
        elif first == "on its way":
            soon("SELECT 1")
        run(KEEP, ["a trip's"])
        with connection.cursor() as cursor:
            cursor.execute(KEEP, ["a cursor's"])
        assert kept() == ["a trip's", "a cursor's"]
        raise LookupError
    assert notes() == []
    run(KEEP, ["alone"])
    assert notes() == ["alone"]


def test_transactions_follow_one_another_on_one_connection(notes: Notes) -> None:
    for number in range(3):
        with transaction.atomic():
            soon(KEEP, [f"kept {number}"])
        with pytest.raises(LookupError), transaction.atomic():
            run(KEEP, [f"taken back {number}"])
            raise LookupError
    with transaction.atomic():
        pass
    assert notes() == ["kept 0", "kept 1", "kept 2"]


def test_who_is_told_of_rows_may_refuse_them_as_long_as_something_follows(notes: Notes) -> None:
    def refuse(_rows: list[Any]) -> None:
        raise LookupError

    with pytest.raises(LookupError), transaction.atomic():
        soon(KEEP, ["refused"], refuse)
        run(KEEP, ["next"])
    assert notes() == []
    with pytest.raises(LookupError), transaction.atomic():
        soon(KEEP, ["told by the commit"], refuse)
    assert notes() == ["told by the commit"]
    assert kept() == ["told by the commit"]


def test_each_statement_of_a_trip_sees_what_the_one_before_it_waited_for(
    notes: Notes, as_owner: psycopg.Connection[Any], once_it_waits: Any
) -> None:
    run(KEEP, ["old"])
    as_owner.execute("BEGIN")
    as_owner.execute("SELECT pg_advisory_xact_lock(4821)")
    as_owner.execute("UPDATE trips.note SET text = 'new'")
    as_owner.execute("INSERT INTO trips.note (text) VALUES ('more')")
    with once_it_waits(lambda: as_owner.execute("COMMIT")), transaction.atomic():
        asked = rows_of_each((KEPT, ()), ("SELECT pg_advisory_xact_lock(%s)", [4821]), (KEPT, ()))
    assert (asked[0], asked[2]) == ([("old",)], [("new",), ("more",)])


def test_what_follows_the_lock_of_a_row_sees_what_was_stored_behind_it(
    notes: Notes, as_owner: psycopg.Connection[Any], once_it_waits: Any
) -> None:
    run(KEEP, ["case"])
    as_owner.execute("BEGIN")
    as_owner.execute("SELECT FROM trips.note WHERE text = 'case' FOR NO KEY UPDATE")
    as_owner.execute("INSERT INTO trips.note (text) VALUES ('beside the case')")
    locking = "SELECT FROM trips.note WHERE text = 'case' FOR NO KEY UPDATE", ()
    with once_it_waits(lambda: as_owner.execute("COMMIT")), transaction.atomic():
        asked = rows_of_each(locking, ("SELECT count(*) FROM trips.note", ()))
    assert asked == [[()], [(2,)]]
