"""A pause that comes between claim and call: after it has returned no call begins, whoever was first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from accounts import gate
from accounts.models import Person
from accounts.platform import grant_platform
from accounts.principal import SYSTEM
from actions.models import ExternalCall
from cases.models import Pause
from cases.working import work_on
from operations.pausing import pause, resume
from tests.driving import Engine, hooks, together

ROUNDS = 100
KINDS: list[dict[str, str]] = [
    {"kind": "process", "name": "restore_access"},
    {"kind": "system", "name": "subscriptions"},
    {"kind": "organisation"},
    {"kind": "all"},
]


@pytest.fixture
def keeper(engine: Engine) -> Person:
    person = engine.person("keeper")
    grant_platform(person=person, by=SYSTEM, reason="on duty")
    return person


def test_of_a_hundred_pauses_between_claim_and_call_none_is_followed_by_a_call(engine: Engine, keeper: Person) -> None:
    story, outcomes = engine.approved(), {"held": 0, "sent": 0}
    for number in range(ROUNDS):
        said = KINDS[number % len(KINDS)]
        place = engine.organisation if said["kind"] == "organisation" else None
        task, met = story.task("execute").pk, threading.Barrier(2)
        # The worker has claimed and read; its next step is the point of no return.
        hooks.at("after_read", lambda met=met: met.wait(30))

        def stop(said: dict[str, str] = said, place: Any = place, met: threading.Barrier = met) -> Pause:
            met.wait(30)
            return pause(**said, organisation=place, by=keeper, reason="an incident").pause

        standing, worked = together(stop, lambda task=task: work_on(task))
        assert isinstance(standing, Pause) and worked is None, (standing, worked)
        begun = list(
            ExternalCall.objects.filter(action=story.effect, kind="perform").values_list("begun_at", flat=True)
        )
        # The row is dated behind the gate: what began before is older, and nothing is younger.
        assert all(moment < standing.at for moment in begun), (begun, standing.at)
        outcomes["sent" if begun else "held"] += 1
        assert resume(pause=standing, by=keeper, reason="over")
        if begun:
            assert len(story.writes()) == 1
            story = engine.approved()
        else:
            assert (story.effect.status, story.task("execute").attempt - story.task("execute").returned) == (
                "PLANNED",
                0,
            )
    assert sum(outcomes.values()) == ROUNDS
    assert outcomes["held"], outcomes


@pytest.mark.parametrize("order", ["pause", "resume"])
def test_who_pauses_or_resumes_waits_for_the_sends_that_are_beginning(
    order: str, engine: Engine, keeper: Person
) -> None:
    standing = pause(kind="all", by=keeper, reason="an incident").pause if order == "resume" else None
    done = threading.Event()

    def act() -> None:
        try:
            if standing is None:
                pause(kind="all", by=keeper, reason="an incident")
            else:
                resume(pause=standing, by=keeper, reason="over")
            done.set()
        finally:
            connection.close()

    thread = threading.Thread(target=act)
    with transaction.atomic():
        gate.hold_shared()
        thread.start()
        until(lambda: waits_for_the_gate() or done.is_set())
        assert not done.is_set()
        assert Pause.objects.filter(ended_at=None).count() == (standing is not None)
    thread.join(10)
    assert done.is_set()
    assert Pause.objects.filter(ended_at=None).count() == (standing is None)


def until(true: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if true():
            return
    raise AssertionError("it did not come")


def waits_for_the_gate() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)")
        found: bool = cursor.fetchone()[0]
    return found
