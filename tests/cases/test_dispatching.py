"""The dispatcher rings for what is due: all of it, nothing early, nothing twice, nobody starved."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Organisation
from accounts.services import create_organisation
from cases.dispatching import IDLE, LOOK, ONLY_NEW, RING_AGAIN, RING_NEW, NotRung, Swept, look, sweep
from cases.management.commands.run_dispatcher import Rhythm
from cases.models import Schedule, Task
from cases.models.task import QUICK, SLOW
from tests.driving import together
from tests.pauses import pause_work, resume

pytestmark = pytest.mark.usefixtures("committing_database")
ADD = """
INSERT INTO cases_task (case_id, organisation_key, process, stage, subject, generation, queue, status, attempt,
       returned, lost, available_at, last_error, last_error_text, fence, leased_by, created_at)
SELECT NULL, %(organisation)s, %(process)s, 'observe', %(name)s || n, 0, %(queue)s, 'due', 0, 0, 0,
       clock_timestamp() + %(delay)s * interval '1 second', '', '', 0, '', clock_timestamp()
FROM generate_series(1, %(count)s) n RETURNING id
"""


class Bell:
    """Notes who was rung, and for how many tasks at once."""

    def __init__(self) -> None:
        self.rung: list[tuple[str, int]] = []
        self.bunches: list[tuple[str, int]] = []

    def __call__(self, queue: str, *tasks: int) -> None:
        self.rung += [(queue, task_id) for task_id in tasks]
        self.bunches.append((queue, len(tasks)))

    @property
    def ids(self) -> list[int]:
        return [task_id for _, task_id in self.rung]


@pytest.fixture
def bell() -> Bell:
    return Bell()


def add(owner: psycopg.Connection[Any], count: int = 1, **said: Any) -> list[int]:
    """So many tasks without a case, due now unless said otherwise."""
    values = {"organisation": 0, "process": "", "queue": QUICK, "delay": 0, "name": "t"} | said
    return [row[0] for row in owner.execute(ADD, values | {"count": count}).fetchall()]


@pytest.fixture
def acme() -> Organisation:
    return create_organisation(slug="acme", name="Acme")


def test_what_is_due_is_rung_once_and_what_is_not_due_is_not(as_owner: Any, bell: Bell) -> None:
    due = add(as_owner, 3, name="now")
    slow = add(as_owner, 1, name="slow", queue=SLOW)
    add(as_owner, 2, name="later", delay=30)
    sweep([QUICK, SLOW], bell)
    assert sorted(bell.rung) == sorted([*((QUICK, task) for task in due), *((SLOW, task) for task in slow)])
    sweep([QUICK, SLOW], bell)
    assert len(bell.rung) == 4


def test_a_slow_transaction_with_a_lower_number_is_not_passed_over(as_owner: Any, bell: Bell) -> None:
    with psycopg.connect(as_owner.info.dsn, password=as_owner.info.password) as slow:
        early = add(slow, name="slow")
        late = add(as_owner, name="quick")
        assert early < late
        sweep([QUICK], bell)
        assert bell.ids == late
        slow.commit()
    sweep([QUICK], bell)
    assert bell.ids == late + early


def test_the_tasks_in_the_window_come_first_and_the_rest_when_there_is_room(as_owner: Any, bell: Bell) -> None:
    tasks = add(as_owner, 10)
    assert len(sweep([QUICK], bell, window=4).rung) == 4
    sweep([QUICK], bell, window=4)
    assert bell.ids == tasks[:4]
    Task.objects.filter(pk__in=tasks[:2]).update(status="done", rung_at=None)
    sweep([QUICK], bell, window=4)
    assert bell.ids == tasks[:6]


def test_a_flood_of_one_organisation_does_not_starve_another(as_owner: Any, bell: Bell, acme: Organisation) -> None:
    globex = create_organisation(slug="globex", name="Globex")
    add(as_owner, 1000, organisation=acme.pk, process="restore_access:1")
    (single,) = add(as_owner, organisation=globex.pk, process="restore_access:1", name="single")
    sweep([QUICK], bell, window=10)
    assert len(bell.ids) == 10
    assert single in bell.ids


def test_nobody_walks_through_the_flood_of_one_organisation_to_the_line_of_another(
    as_owner: Any, acme: Organisation
) -> None:
    globex = create_organisation(slug="globex", name="Globex")
    add(as_owner, 2000, organisation=acme.pk, process="restore_access:1")
    add(as_owner, 3, organisation=globex.pk, process="restore_access:1", name="few")
    add(as_owner, 2000, organisation=globex.pk, process="restore_access:1", name="later", delay=3600)
    as_owner.execute("ANALYZE cases_task")
    with connection.cursor() as cursor:
        statement = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {RING_NEW}"
        cursor.execute(statement, {"queues": [QUICK, SLOW], "window": 64})
        (plan,) = cursor.fetchone()
    nodes = list(_nodes((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]))
    assert sum(one["Actual Rows"] for one in nodes if one["Node Type"] == "ModifyTable") == 64
    # Of each line as many rows as there is room for and one more, to know in which order those of one moment come.
    read = [one for one in nodes if one.get("Relation Name") == "cases_task" and "Alias" in one]
    assert max(one["Actual Rows"] * one["Actual Loops"] for one in read) <= 2 * 65
    assert sum(one.get("Rows Removed by Filter", 0) * one["Actual Loops"] for one in read) == 0


@pytest.mark.parametrize("waits", [1000, 20])
def test_a_look_reads_next_to_nothing_however_much_is_open_or_done(waits: int, as_owner: Any) -> None:
    add(as_owner, waits, name="later", delay=3600)
    add(as_owner, 3000 - waits, name="busy")
    as_owner.execute("ANALYZE cases_task")  # all are open; what PostgreSQL then knows is out of date at once
    as_owner.execute("UPDATE cases_task SET status = 'done' WHERE available_at < clock_timestamp()")
    as_owner.execute("VACUUM cases_task")  # no dead rows, and no numbers about the living ones
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {LOOK}", {"queues": [QUICK, SLOW], "again": 5})
        (plan,) = cursor.fetchone()
    nodes = list(_nodes((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]))
    read = [one for one in nodes if one.get("Relation Name") == "cases_task"]
    assert sum((one["Actual Rows"] + one.get("Rows Removed by Filter", 0)) * one["Actual Loops"] for one in read) <= 4
    assert {one["Node Type"] for one in read} <= {"Index Scan", "Index Only Scan"}


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)


def test_a_sweep_tells_how_much_of_a_window_was_taken_and_whether_it_is_full(as_owner: Any, bell: Bell) -> None:
    tasks = add(as_owner, 6)
    first = sweep([QUICK, SLOW], bell, window=4)
    assert (first.free, first.full) == ({QUICK: 4, SLOW: 4}, {QUICK})
    Task.objects.filter(pk__in=tasks[:3]).update(status="done", rung_at=None)
    last = sweep([QUICK, SLOW], bell, window=4)
    assert (last.free, last.full) == ({QUICK: 3, SLOW: 4}, frozenset())


def test_behind_a_full_window_one_bell_is_rung_for_several_quick_tasks_and_for_nothing_else(
    as_owner: Any, bell: Bell
) -> None:
    add(as_owner, 11)
    add(as_owner, 11, queue=SLOW, name="s")
    assert sweep([QUICK, SLOW], bell, window=10).full == {QUICK, SLOW}
    assert bell.bunches == [(QUICK, 4), (QUICK, 4), (QUICK, 2), *[(SLOW, 1)] * 10]
    assert len(set(bell.ids)) == len(bell.ids) == 20
    as_owner.execute("UPDATE cases_task SET status = 'done', ended_at = now() WHERE rung_at IS NOT NULL")
    bell.bunches.clear()
    sweep([QUICK], bell, window=10)
    assert bell.bunches == [(QUICK, 1)]


def test_a_bell_that_nobody_answered_is_rung_again_for_each_task_by_itself(as_owner: Any, bell: Bell) -> None:
    rung = add(as_owner, 10)
    sweep([QUICK], bell, window=10)
    as_owner.execute("UPDATE cases_task SET rung_at = rung_at - %s", [RING_AGAIN + timedelta(seconds=1)])
    bell.bunches.clear()
    assert sorted(task for _, task in sweep([QUICK], bell, window=10).rung) == rung
    assert bell.bunches == [(QUICK, 1)] * 10


def test_each_queue_has_a_window_of_its_own(as_owner: Any, bell: Bell, acme: Organisation) -> None:
    slow = add(as_owner, 20, queue=SLOW, organisation=acme.pk, process="restore_access:1", name="slow")
    quick = add(as_owner, 20, organisation=acme.pk, process="restore_access:1")
    sweep([QUICK, SLOW], bell, window=4)
    assert sorted(bell.rung) == sorted([*((QUICK, task) for task in quick[:4]), *((SLOW, task) for task in slow[:4])])
    Task.objects.filter(pk__in=quick[:3]).update(status="done", rung_at=None)
    assert sorted(sweep([QUICK, SLOW], bell, window=4).rung) == [(QUICK, task) for task in quick[4:7]]


def test_a_bell_that_nobody_answered_is_rung_again_after_the_interval_and_not_before(as_owner: Any, bell: Bell) -> None:
    (task,) = add(as_owner)
    sweep([QUICK], bell)
    Task.objects.update(rung_at=timezone.now() - RING_AGAIN + timedelta(seconds=1))
    sweep([QUICK], bell)
    assert bell.ids == [task]
    Task.objects.update(rung_at=timezone.now() - RING_AGAIN - timedelta(milliseconds=10))
    sweep([QUICK], bell)
    sweep([QUICK], bell)
    assert bell.ids == [task, task]


def test_the_task_of_a_silent_worker_is_rung_again_and_of_a_living_one_is_not(as_owner: Any, bell: Bell) -> None:
    silent, living = add(as_owner, 2)
    now = timezone.now()
    Task.objects.filter(pk=silent).update(status="leased", leased_until=now - timedelta(seconds=1))
    Task.objects.filter(pk=living).update(status="leased", leased_until=now + timedelta(seconds=5))
    sweep([QUICK], bell)
    sweep([QUICK], bell)
    assert bell.ids == [silent]


def test_sweeps_at_the_same_instant_ring_each_task_once(as_owner: Any, bell: Bell) -> None:
    tasks = add(as_owner, 200)
    results = together(*[lambda: sweep([QUICK], bell, window=1000)] * 4)
    assert sum(len(swept.rung) for swept in results) == 200
    sweep([QUICK], bell, window=1000)
    assert sorted(bell.ids) == tasks


def test_nothing_is_lost_when_a_dispatcher_dies_between_marking_and_ringing(as_owner: Any, bell: Bell) -> None:
    (task,) = add(as_owner)

    def dead(queue: str, task_id: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep([QUICK], dead)
    as_owner.execute("UPDATE cases_task SET rung_at = rung_at - %s", [RING_AGAIN])
    sweep([QUICK], bell)
    assert bell.ids == [task]


def test_a_broker_that_is_away_is_not_waited_for_once_a_task(as_owner: Any, bell: Bell) -> None:
    tasks, tried = add(as_owner, 6), []

    def away(queue: str, task: int) -> None:
        tried.append(task)
        if len(tried) != 2:
            raise NotRung

    sweep([QUICK], away)
    assert tried == tasks[:4]  # one that was lost alone is no sign; after two in a row nobody waits for the others
    Task.objects.update(rung_at=timezone.now() - RING_AGAIN - timedelta(milliseconds=10))
    sweep([QUICK], bell)
    assert bell.ids == tasks


@pytest.mark.parametrize("kind", ["process", "organisation"])
def test_what_is_paused_is_not_rung_and_takes_no_room(kind: str, as_owner: Any, bell: Bell, acme: Organisation) -> None:
    globex = create_organisation(slug="globex", name="Globex")
    add(as_owner, 5, organisation=acme.pk, process="restore_access:1", name="paused")
    (free,) = add(as_owner, organisation=globex.pk, process="department_report:1", name="free")
    stopped = pause_work(kind, acme)
    sweep([QUICK], bell, window=2)
    assert bell.ids == [free]
    resume(stopped)
    sweep([QUICK], bell, window=2)
    assert len(bell.ids) == 2


def regular(**said: Any) -> Schedule:
    values: dict[str, Any] = {"name": "seal", "stage": "seal", "every": timedelta(hours=1), "next_at": timezone.now()}
    return Schedule.objects.create(**values | said)


def test_regular_work_is_published_once_however_many_dispatchers_run(bell: Bell) -> None:
    moment = timezone.now() - timedelta(minutes=1)
    schedule = regular(next_at=moment)
    together(*[lambda: sweep([QUICK], bell)] * 4)
    sweep([QUICK], bell)
    task = Task.objects.get(stage="seal")
    assert (task.available_at, bell.ids) == (moment, [task.pk])
    schedule.refresh_from_db()
    assert schedule.next_at == moment + timedelta(hours=1)


def test_regular_work_missed_for_a_long_time_is_done_once_and_keeps_its_rhythm(bell: Bell) -> None:
    moment = timezone.now() - timedelta(hours=5, minutes=30)
    schedule = regular(next_at=moment)
    sweep([QUICK], bell)
    schedule.refresh_from_db()
    assert Task.objects.filter(stage="seal").count() == 1
    assert schedule.next_at == moment + timedelta(hours=6)


def test_regular_work_that_is_not_due_or_switched_off_is_not_published(bell: Bell) -> None:
    regular(next_at=timezone.now() + timedelta(seconds=30))
    regular(name="off", is_active=False)
    sweep([QUICK], bell)
    assert (Task.objects.count(), bell.rung) == (0, [])


def test_the_dispatcher_sleeps_no_longer_than_until_the_next_moment(as_owner: Any) -> None:
    assert look([QUICK, SLOW]).seconds_to_next == IDLE.total_seconds()
    add(as_owner, name="later", delay=60)
    assert look([QUICK, SLOW]).seconds_to_next == IDLE.total_seconds()
    add(as_owner, name="soon", delay=0.4)
    assert 0 < look([QUICK, SLOW]).seconds_to_next <= 0.4
    regular(next_at=timezone.now() + timedelta(seconds=0.1))
    soonest = look([QUICK, SLOW])
    assert soonest.scheduled or 0 <= soonest.seconds_to_next <= 0.1


def test_one_look_tells_what_a_sweep_has_to_do(as_owner: Any, bell: Bell) -> None:
    assert not look([QUICK, SLOW])
    (task,) = add(as_owner, 1)
    assert look([QUICK, SLOW]) == replace(ONLY_NEW, seconds_to_next=1.0)
    sweep([QUICK], bell)
    assert not look([QUICK, SLOW])
    Task.objects.filter(pk=task).update(rung_at=timezone.now() - 2 * RING_AGAIN)
    assert look([QUICK, SLOW]).stale
    sweep([QUICK], bell)
    lapsed = {"status": "leased", "leased_until": timezone.now() - RING_AGAIN, "rung_at": None}
    Task.objects.filter(pk=task).update(**lapsed)
    assert look([QUICK, SLOW]).stale
    Task.objects.filter(pk=task).update(status="done", leased_until=None)
    regular(next_at=timezone.now() - timedelta(seconds=1))
    assert (look([QUICK, SLOW]).due, look([QUICK, SLOW]).stale, look([QUICK, SLOW]).scheduled) == (False, False, True)


def test_the_regular_work_of_two_organisations_is_two_tasks(bell: Bell) -> None:
    for slug in ("north", "south"):
        regular(name=slug, organisation=create_organisation(slug=slug, name=slug))
    sweep([QUICK], bell)
    assert (len(bell.ids), Task.objects.values("organisation_key").distinct().count()) == (2, 2)


class Told:
    """A listener that is told of something new all the time."""

    def wait(self, seconds: float) -> bool:
        return True


def test_a_dispatcher_that_is_told_of_something_all_the_time_looks_for_lost_bells_all_the_same(
    as_owner: Any, bell: Bell
) -> None:
    (task,) = add(as_owner, 1)
    sweep([QUICK], bell)
    Task.objects.filter(pk=task).update(rung_at=timezone.now() - 2 * RING_AGAIN)
    rhythm = Rhythm(Told(), threading.Event())  # type: ignore[arg-type]
    rhythm.begin()
    rhythm.rest(Swept())
    assert rhythm.wanted.stale, "the first rest looks"
    rhythm.rest(Swept())
    assert rhythm.wanted == ONLY_NEW, "for a second it knows"
    rhythm._looked_at -= IDLE.total_seconds()
    rhythm.rest(Swept())
    assert rhythm.wanted.stale
