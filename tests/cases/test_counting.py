"""What ended is counted as it ends: at every moment the counts are the rows, and folding changes no sum."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from django.db import connection

from accounts.models import Organisation, Person
from accounts.principal import SYSTEM
from accounts.services import grant_role
from actions.desk import ActionFilter, count_by_status, list_in_sight
from actions.models import Action
from caseflow.domain.roles import Role
from caseflow.invariants.counts import counts_equal_rows
from cases.attention import list_open, list_stopped
from cases.counting import fold
from cases.models import Case, Ended, EndedCount, Schedule, Task
from cases.standing import count_by_process, count_by_state
from cases.working import work_on
from tests.driving import Engine, engine, simulator, together
from tests.generated.making import make_cases

__all__ = ["engine", "simulator"]


def test_sums_are_right_while_cases_end_and_others_fold(engine: Engine) -> None:
    stories = [engine.approved() for _ in range(6)]

    def finish(own: list[Any]) -> None:
        for story in own:
            story.run_later()

    def watch() -> list[int]:
        seen = []
        while Case.objects.filter(closed_at=None).exists():
            fold(portion=1)
            seen.append(counts_equal_rows().violations)
        return seen

    results = together(lambda: finish(stories[:3]), lambda: finish(stories[3:]), watch)
    assert results[:2] == [None, None]
    assert set(results[2]) <= {0}
    assert counts_equal_rows().checked == 6 + Action.objects.count()
    assert fold() == Ended.objects.count() or not Ended.objects.exists()
    assert counts_equal_rows().violations == 0


def test_lists_and_indicators_read_the_counts(committing_database: None, as_owner: psycopg.Connection[Any]) -> None:
    make_cases(as_owner, count=80)
    person = Person.objects.create_user(username="viewer")
    for organisation in Organisation.objects.exclude(slug="sever"):
        grant_role(person=person, organisation=organisation, role=Role.VIEWER, by=SYSTEM)
    for _ in range(2):  # with rows that wait, then with all folded
        for slug in ("", "acme"):
            rows = Case.objects.exclude(organisation__slug="sever")
            actions = list_in_sight(person, ActionFilter(organisation=slug))
            if slug:
                rows = rows.filter(organisation__slug=slug)
            standing = count_by_state(person, process="restore_access", organisation=slug)
            assert {state: told.number for state, told in standing.items()} == _counted(rows, "state")
            settled = count_by_status(person, ActionFilter(organisation=slug))
            assert {status: told.number for status, told in settled.items()} == _counted(actions, "status")
            listed = count_by_process(person, organisation=slug)["restore_access"]
            assert {state: (told.number, told.oldest) for state, told in listed.items()} == {
                state: (told.number, told.oldest) for state, told in standing.items()
            }
        fold(portion=30)
        assert not Ended.objects.exists() and EndedCount.objects.exists()


def test_a_count_that_is_wrong_is_found(committing_database: None, as_owner: psycopg.Connection[Any]) -> None:
    make_cases(as_owner, count=5)
    fold()
    assert counts_equal_rows().violations == 0
    EndedCount.objects.filter(pk=EndedCount.objects.filter(what="case").latest("pk").pk).update(number=77)
    finding = counts_equal_rows()
    assert finding.violations == 1 and "77 are counted" in finding.shown[0].problem


def test_folding_is_regular_work(committing_database: None, as_owner: psycopg.Connection[Any]) -> None:
    make_cases(as_owner, count=5)
    schedule = Schedule.objects.get(name="cases.counting")
    task = Task.objects.create(stage=schedule.stage, available_at=schedule.next_at, created_at=schedule.next_at)
    as_owner.execute("UPDATE cases_task SET available_at = now() WHERE id = %s", [task.pk])
    work_on(task.pk)
    task.refresh_from_db()
    assert task.status == "done" and not Ended.objects.exists()


@pytest.mark.parametrize(
    ("index", "rows"),
    [
        ("case_open", lambda person: list_open(person).order_by("state_since", "pk")),
        ("case_open", lambda person: list_stopped(person).order_by("state_since", "pk")),
        ("case_by_reason", lambda person: Case.objects.filter(reason="amount_differs").order_by("state_since", "pk")),
        ("action_not_ended", lambda person: Action.objects.filter(status="PLANNED", kind="notice")),
    ],
)
def test_what_is_open_is_found_by_an_index_of_its_own(db: None, index: str, rows: Any) -> None:
    person = Person.objects.create_user(username="viewer")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    assert index in rows(person)[:50].explain()


def _counted(rows: Any, column: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for value in rows.values_list(column, flat=True):
        found[value] = found.get(value, 0) + 1
    return found
