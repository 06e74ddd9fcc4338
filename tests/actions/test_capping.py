"""A cap of effects per system and hour: just so many leave, the next one pauses the system, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from audit.models import AuditEvent
from audit.services import PLATFORM, facts_of
from caseflow.domain.roles import Role
from caseflow.invariants.running import ask_all
from cases.models import Pause
from cases.pausing import CAP_REACHED
from cases.working import work_on
from tests.driving import Engine, Story, together
from tests.pauses import resume
from tests.races.meeting import at_the_door

SENDERS = 8


@pytest.fixture
def cap(settings: Any) -> Any:
    def set_cap(number: int | None = None, *, each: int | None = None) -> None:
        settings.CASEFLOW_EFFECTS_PER_HOUR = {"subscriptions": number} if number is not None else {}
        settings.CASEFLOW_EFFECTS_PER_HOUR_AND_ORGANISATION = {"subscriptions": each} if each is not None else {}

    return set_cap


def sent(stories: list[Story]) -> int:
    return sum(len(story.writes()) for story in stories)


def promises_hold() -> None:
    assert {one.name: finding.shown for one, finding in ask_all() if finding.violations} == {}


def test_of_eight_senders_at_once_just_as_many_send_as_the_cap_allows(engine: Engine, cap: Any) -> None:
    stories = [engine.approved() for _ in range(SENDERS)]
    cap(3)
    tasks = [story.task("execute").pk for story in stories]
    assert [one for one in together(*(lambda task=task: work_on(task) for task in tasks)) if one is not None] == []
    assert sent(stories) == 3
    pause = Pause.objects.get()
    assert (pause.kind, pause.key, pause.organisation, pause.reason) == ("system", "subscriptions", None, CAP_REACHED)
    assert (pause.by, pause.until, pause.ended_at) == (None, None, None)
    event = AuditEvent.objects.get(organisation_id=PLATFORM, kind="pause.set")
    assert (event.actor_kind, facts_of(event.body)["facts"]["reason"]) == ("system", CAP_REACHED)
    waiting = [story for story in stories if not story.writes()]
    assert {(story.state, story.task("execute").last_error) for story in waiting} == {("EXECUTING", "paused")}
    assert {story.task("execute").attempt - story.task("execute").returned for story in waiting} == {0}
    promises_hold()


def test_who_counts_for_a_capped_system_counts_alone(engine: Engine, cap: Any) -> None:
    """The first one counted and has not stored its call yet; the second one must not count before it has."""
    first, second = engine.approved(), engine.approved()
    cap(1)
    tasks = [first.task("execute").pk, second.task("execute").pk]
    at_the_door(engine, first.id, lambda: work_on(tasks[0]), lambda: work_on(tasks[1]))
    assert [len(first.writes()), len(second.writes())] == [1, 0]
    assert Pause.objects.count() == 1


def test_a_person_resumes_and_the_hour_is_counted_anew(engine: Engine, cap: Any) -> None:
    stories = [engine.approved() for _ in range(5)]
    cap(2)
    for expected in (2, 4, 5):
        for story in stories:
            story.run()
        assert sent(stories) == expected
        resume()
    for story in stories:
        story.run()
    assert {story.state for story in stories} == {"COMPLETED"}
    assert Pause.objects.count() == 2
    promises_hold()


def test_what_was_sent_more_than_an_hour_ago_is_not_counted(engine: Engine, cap: Any) -> None:
    first, second, third = (engine.approved() for _ in range(3))
    cap(1)
    first.run()
    engine.owner.execute("UPDATE actions_action SET first_sent_at = first_sent_at - interval '61 minutes'")
    second.run()
    assert (sent([first, second]), Pause.objects.count()) == (2, 0)
    third.run()
    assert (third.writes(), Pause.objects.count()) == ([], 1)


def test_a_cap_of_each_organisation_holds_up_that_one_only(engine: Engine, cap: Any) -> None:
    globex = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.approver, organisation=globex, role=Role.APPROVER, by=SYSTEM)
    ours = [engine.approved() for _ in range(2)]
    theirs = engine.approved(organisation=globex)
    cap(each=1)
    for story in (*ours, theirs):
        story.run()
    assert [len(story.writes()) for story in (*ours, theirs)] == [1, 0, 1]
    assert Pause.objects.get().organisation == engine.organisation


def test_notices_reads_and_other_systems_are_not_capped(engine: Engine, cap: Any) -> None:
    cap(1)
    story = engine.approved()
    story.run()
    assert (story.state, len(story.letters())) == ("COMPLETED", 1)
    assert not Pause.objects.exists()


def test_a_repeat_with_the_same_key_is_not_counted_twice(engine: Engine, cap: Any) -> None:
    cap(1)
    story = engine.approved()
    story.fault("too_many")
    story.run()
    for _ in range(3):
        story.run_later()
    assert (story.state, len(story.activations())) == ("COMPLETED", 1)
    assert not Pause.objects.exists()


def test_a_send_that_is_refused_for_another_reason_pauses_nothing(engine: Engine, cap: Any) -> None:
    first, second = engine.approved(), engine.approved()
    cap(1)
    first.run()
    second.change("payments", status="refunded")
    second.run()
    assert (second.state, Pause.objects.count()) == ("CLOSED_NO_CHANGE", 0)
