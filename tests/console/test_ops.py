"""Operations: what is wrong is said with its number, its age and the command; nobody learns of another organisation."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.domain.roles import Role
from cases.models import Pause, WorkerBeat
from cases.models.task import QUICK, SLOW
from cases.processes import all_processes
from tests.console.seeing import Desks, outsider
from tests.console.test_pages import sentences
from tests.driving import Engine, Story

PAGE = "/console/ops/"
QUEUES = [QUICK, SLOW]


def beats(kind: str, *, pid: int, queues: list[str] | None = None, **changes: Any) -> WorkerBeat:
    """A process that has just written its heartbeat."""
    now = timezone.now()
    versions = {"python": "3", "processes": sorted(all_processes()), "queues": queues or []}
    usual = {"booted_at": now, "beat_at": now, "last_fetch_at": now, "live_since": now, "is_live": True}
    return WorkerBeat.objects.create(
        kind=kind, name=kind, host="host", pid=pid, versions=versions, **{**usual, **changes}
    )


def everybody_lives() -> None:
    beats("worker", pid=1, queues=QUEUES)
    beats("dispatcher", pid=2)


def waiting(engine: Engine, minutes: int = 8, **ticket: Any) -> Story:
    """A case whose check has been due for some time."""
    story = engine.open(**ticket)
    engine.owner.execute(
        "UPDATE cases_task SET available_at = clock_timestamp() - %s WHERE case_id = %s",
        [timedelta(minutes=minutes, seconds=1), story.id],
    )
    return story


def test_a_queue_without_workers_is_named_with_number_age_and_command(engine: Engine, desk: Desks) -> None:
    beats("worker", pid=1, queues=[SLOW])
    beats("dispatcher", pid=2)
    waiting(engine, 3), waiting(engine, 8)
    page = desk("operator").get(PAGE)
    assert "No workers for the queue quick. 2 tasks have been waiting, the oldest for 8 min 1 s." in page.text
    assert 'data-copy="manage.py run_workers --queues quick"' in page.html
    assert "queue slow." not in page.text


def test_every_page_says_it_once_and_the_most_severe_alone(engine: Engine, desk: Desks) -> None:
    reader = desk("operator")
    assert "banner error" not in reader.get("/console/cases/").html  # nobody lives, and nothing waits for them
    assert "Workers: Not working" in reader.get("/console/cases/").text
    waiting(engine)
    for path in ("/console/", "/console/cases/", "/console/help/"):
        page = reader.get(path)
        assert page.html.count("trouble") == 1 and "No workers for the queue quick." in page.text
        assert "manage.py run_workers --queues quick" in page.text
    # Who cannot repair it is told that nothing is lost, not a command.
    page = desk("viewer").get("/console/")
    assert "Nothing is lost" in page.text and "manage.py" not in page.text and PAGE not in page.html


def test_a_dispatcher_that_is_away_and_a_queue_that_is_behind_are_told_apart(engine: Engine, desk: Desks) -> None:
    beats("worker", pid=1, queues=QUEUES)
    waiting(engine)
    reader = desk("operator")
    page = reader.get(PAGE)
    assert "No dispatcher lives: nobody rings for what is due. 1 task has been waiting" in page.text
    assert 'data-copy="manage.py run_dispatcher"' in page.html
    beats("dispatcher", pid=2)
    page = reader.get(PAGE)
    assert "The queue quick is behind. 1 task has been waiting for 8 min" in page.text
    assert "No dispatcher" not in page.text and "Workers: Slow" in page.text


def test_who_is_silent_red_or_told_to_stop_does_not_count_as_living(engine: Engine, desk: Desks) -> None:
    reader = desk("operator")
    now = timezone.now()
    ways: dict[str, dict[str, Any]] = {
        "silent": {"beat_at": now - timedelta(minutes=1)},
        "of no use": {"is_live": False, "reason": "a worker thread is dead"},
        "told to stop": {"stopped_at": now},
    }
    for pid, (word, changes) in enumerate(ways.items(), start=1):
        beats("worker", pid=pid, queues=QUEUES, **changes)
        page = reader.get(PAGE)
        assert "No workers for the queue quick." in page.text and word in page.text
    assert "lives but is of no use: a worker thread is dead." in page.text
    beats("worker", pid=9, queues=QUEUES)
    assert "No workers" not in reader.get(PAGE).text


def test_all_is_well_only_where_somebody_lives_and_nothing_waits(engine: Engine, desk: Desks) -> None:
    everybody_lives()
    engine.proposed()
    reader = desk("operator")
    page = reader.get(PAGE)
    assert "Workers: Working" in page.text and "No workers" not in page.text and "is behind" not in page.text
    assert "None is missing." in page.text
    assert re.search(r"\d+ are applied", page.text)


def test_what_is_paused_is_not_late(engine: Engine, desk: Desks) -> None:
    everybody_lives()
    waiting(engine)
    reader = desk("operator")
    assert "is behind" in reader.get("/console/").text
    Pause.objects.create(kind="process", key="restore_access", reason="maintenance", at=timezone.now())
    assert "is behind" not in reader.get("/console/").text


def test_workers_of_another_version_are_noticed(engine: Engine, desk: Desks) -> None:
    beats("dispatcher", pid=2)
    old = beats("worker", pid=1)
    WorkerBeat.objects.filter(pk=old.pk).update(versions={"python": "3", "processes": []})
    page = desk("operator").get(PAGE)
    # A worker that does not say its queues serves all of them.
    assert "No workers" not in page.text
    assert f"Some workers do not have: {', '.join(sorted(all_processes()))}." in page.text


def test_what_was_given_up_is_counted_with_the_command_that_shows_it(engine: Engine, desk: Desks) -> None:
    everybody_lives()
    story = engine.open()
    engine.owner.execute(
        "UPDATE cases_task SET status = 'failed', ended_at = clock_timestamp(), last_error = 'internal_error'"
        " WHERE case_id = %s",
        [story.id],
    )
    page = desk("operator").get(PAGE)
    assert "1 task was given up in the last 24 hours." in page.text and "internal_error" in page.text
    assert 'data-copy="manage.py requeue_tasks"' in page.html


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.RECOVERER])
def test_who_recovers_sees_the_page(engine: Engine, desk: Desks, role: Role) -> None:
    grant_role(person=engine.person("somebody"), organisation=engine.organisation, role=role, by=SYSTEM)
    reader = desk("somebody")
    assert "What is wrong" in reader.get(PAGE).text
    assert f'href="{PAGE}"' in reader.get("/console/").html


@pytest.mark.parametrize("username", ["viewer", "approver", "nobody"])
def test_who_does_not_is_refused_and_not_offered_it(engine: Engine, desk: Desks, username: str) -> None:
    reader = desk(username)
    page = reader.get(PAGE, 403)
    assert "You do not have this right here" in page.text and "heartbeat" not in page.text
    assert PAGE not in reader.get("/console/").html


def test_counts_are_of_the_organisations_that_one_looks_after_and_no_case_is_shown(engine: Engine, desk: Desks) -> None:
    story = waiting(engine)
    stranger = outsider(engine, desk)
    page = stranger.get(PAGE)
    assert "No workers for the queue quick." in page.text and "waiting" not in page.text.split("Queues now")[0]
    assert "No task waits and none is at work." in page.text
    assert "trouble" not in stranger.get("/console/").html
    mine = desk("operator").get(PAGE)
    for secret in (story.case.public_id, story.case.external_id, "Acme"):
        assert secret not in mine.html
    # Seeing an organisation is not looking after it.
    other = create_organisation(slug="other", name="Other")
    grant_role(person=engine.person("operator"), organisation=other, role=Role.VIEWER, by=SYSTEM)
    waiting(engine, organisation=other)
    assert "1 task has been waiting" in desk("operator").get(PAGE).text.split("Queues now")[0].split("What is wrong")[1]


def test_both_languages_and_nothing_inline(engine: Engine, desk: Desks) -> None:
    waiting(engine), waiting(engine)
    beats("worker", pid=1, queues=[SLOW])
    page = desk("operator", language="ru").get(PAGE)
    assert "Нет работников для очереди quick. 2 задачи ждут, самая старая 8 мин" in page.text
    assert page.inline == [] and desk("operator").get(PAGE).inline == []
    russian = desk("operator", language="ru").get(PAGE).text
    assert [one for one in sentences() if one in russian] == []
