"""What protects a task and a case when nothing else would: each test fails when that one protection is taken out.

`make mutations` takes them out in turn.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.db import connection, transaction

from caseflow.domain.errors import LeaseLost
from caseflow.domain.lifecycle import Event
from cases.claiming import claim
from cases.settling import settlement
from tests.driving import Engine, claimed, fingerprint


def written_by(table: str, case_id: int, column: str = "case_id", condition: str = "true") -> set[str]:
    """The transactions that wrote the rows of a case in `table`."""
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT xmin::text FROM "{table}" WHERE {column} = %s AND {condition}', [case_id])
        return {row[0] for row in cursor.fetchall()}


def test_a_replaced_worker_settles_nothing_while_its_successor_still_works(engine: Engine) -> None:
    task = engine.open().task("check")
    replaced = claimed(task)
    engine.lapse_lease(task)
    claimed(task, "second")
    before = fingerprint()
    with pytest.raises(LeaseLost), settlement(replaced) as settling:
        settling.move(Event.CHECK_STARTED)
    assert fingerprint() == before


def test_a_ticket_and_the_order_to_check_it_are_stored_by_one_transaction(engine: Engine) -> None:
    story = engine.open()
    by = written_by("cases_case", story.id, "id")
    assert len(by) == 1
    for table in ("cases_task", "cases_intakerevision", "audit_auditevent"):
        assert written_by(table, story.id) == by, table


def test_a_result_and_the_work_that_follows_are_stored_by_one_transaction(engine: Engine) -> None:
    story = engine.open()
    with settlement(claimed(story.task("check"))) as settling:
        settling.move(Event.CHECK_STARTED)
    by = written_by("cases_case", story.id, "id")
    assert story.state == "CHECKING"
    assert written_by("cases_task", story.id, condition="stage = 'check' AND status = 'done'") == by
    assert written_by("cases_task", story.id, condition="stage = 'observe'") == by


def test_a_worker_whose_clock_is_an_hour_ahead_takes_no_living_lease(engine: Engine) -> None:
    task = engine.open().task("check")
    claimed(task)
    before = fingerprint()
    with time_machine.travel(engine.now() + timedelta(hours=1)), transaction.atomic():
        assert claim(task.pk, worker="ahead") is None
    assert fingerprint() == before


def test_a_worker_whose_clock_is_an_hour_behind_takes_over_from_a_silent_one(engine: Engine) -> None:
    task = engine.open().task("check")
    claimed(task)
    engine.lapse_lease(task)
    with time_machine.travel(engine.now() - timedelta(hours=1)):
        assert claimed(task, "behind").number == 2
