"""Drift: what was confirmed beside what the outside says now. Found, recorded once, repaired by nobody."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.principal import SYSTEM
from actions.models import Action
from cases.dispatching import sweep
from cases.models import Schedule, Task
from cases.models.task import QUICK, SLOW
from cases.supplying import supply_data
from cases.working import work_on
from operations.models import DriftFinding, DriftRun
from tests.commands.conftest import Run
from tests.driving import Engine, Killed, Story, fingerprint, hooks, processes

APPLY = ("--apply", "--as", "operator", "--reason", "Сверка после сбоя")
CHANGED = {"subscription.status": {"confirmed": "active", "now": "inactive"}}


def completed(engine: Engine) -> Story:
    story = engine.approved()
    story.run()
    assert story.state == "COMPLETED"
    return story


def drifted(engine: Engine) -> Story:
    story = completed(engine)
    story.change("subscriptions", status="inactive")
    return story


def regular(scope: str) -> DriftRun:
    """What the dispatcher and a worker make of the schedule when its moment comes."""
    Schedule.objects.filter(name=f"drift.{scope}").update(next_at=timezone.now())
    rung: list[int] = []
    sweep([QUICK, SLOW], lambda _, task: rung.append(task))
    for task in rung:
        work_on(task)
    return DriftRun.objects.latest("id")


@pytest.mark.parametrize("scope", ["sample", "day"])
def test_the_schedule_compares_and_puts_a_difference_into_the_history_of_its_case(scope: str, engine: Engine) -> None:
    story, quiet = drifted(engine), completed(engine)
    before = (story.case.state, story.case.version, story.effect.status)

    run = regular(scope)

    assert run.ended_at is not None
    assert (run.checked, run.differing, run.unreadable) == (2, 1, 0)
    finding = DriftFinding.objects.get()
    assert (finding.action, finding.differences, finding.is_new) == (story.effect, CHANGED, True)
    told = story.told("drift.found")
    assert told["differences"] == CHANGED
    assert told["owner"]["team"] == "Subscriptions"
    assert "drift.found" not in quiet.history()
    assert (story.case.state, story.case.version, story.effect.status) == before  # nothing is repaired by itself
    assert len(story.activations()) == 1


def test_the_schedules_are_there_after_migrating_hourly_and_daily(engine: Engine) -> None:
    rows = Schedule.objects.filter(stage="drift").values_list("name", "every", "is_active")
    assert set(rows) == {("drift.sample", timedelta(hours=1), True), ("drift.day", timedelta(days=1), True)}


def test_the_same_difference_stands_in_the_history_once_and_another_one_again(engine: Engine) -> None:
    story = drifted(engine)
    regular("day")
    regular("day")
    assert story.history().count("drift.found") == 1
    assert list(DriftFinding.objects.order_by("id").values_list("is_new", flat=True)) == [True, False]
    engine.outside.ask("PATCH", f"/subscriptions/{story.subscription}", {"status": "active"})
    assert regular("day").differing == 0


def test_only_what_was_confirmed_in_the_last_day_is_the_days(engine: Engine) -> None:
    story = drifted(engine)
    engine.owner.execute("UPDATE actions_action SET settled_at = settled_at - interval '25 hours'")
    assert regular("day").checked == 0
    assert regular("sample").differing == 1
    assert "drift.found" in story.history()


def test_a_later_effect_of_our_own_is_no_drift(engine: Engine, settings: Any) -> None:
    """What we undid ourselves is not what somebody changed behind our back."""
    settings.ADAPTERS = settings.ADAPTERS | {"payments": "tests.adapters.HoldingPayments"}
    with processes(settings, "tests.process_hold.HoldThenActivate"):
        story = engine.approved(process="hold_then_activate")
        story.fault("error_before", status=410)
        story.run()
        story.order("observe_again", reason="Вернуть")
        story.run()
        story.decide()
        story.run()
        assert story.case.outcome == "undone"
        run = regular("day")
    assert (run.checked, run.differing) == (1, 0)


def test_what_was_told_later_does_not_make_the_comparison_ask_about_something_else(engine: Engine) -> None:
    story, other = completed(engine), engine.proposed()
    supply_data(case_id=story.id, data={"subscription_id": other.subscription}, actor=SYSTEM)
    assert regular("day").differing == 0


def test_a_system_that_is_away_is_counted_and_after_three_answers_left_alone(engine: Engine) -> None:
    for _ in range(5):
        completed(engine)
    engine.outside.script("error_before", method="GET", path="/subscriptions/*", times=None)
    # By its number: the ledger shows the newest thousand only.
    newest = max(one["id"] for one in engine.outside.ask("GET", "/ledger").json()["requests"])
    run = regular("day")
    assert (run.checked, run.differing, run.unreadable) == (0, 0, 5)
    asked = [one for one in engine.outside.ask("GET", "/ledger").json()["requests"] if one["id"] > newest]
    assert len([one for one in asked if one["path"].startswith("/subscriptions/")]) == 3
    assert run.ended_at is not None


def test_a_run_whose_worker_died_is_gone_on_with_and_finds_each_difference_once(engine: Engine) -> None:
    story = drifted(engine)
    drifted(engine)

    def die() -> None:
        raise Killed

    def die_at_the_second() -> None:
        hooks.at("after_read", die)

    hooks.at("after_read", die_at_the_second)
    with pytest.raises(Killed):
        regular("day")
    assert DriftFinding.objects.count() == 1
    task = Task.objects.get(stage="drift")
    engine.lapse_lease(task)
    work_on(task.pk)
    run = DriftRun.objects.get()
    assert (run.checked, run.differing, run.ended_at is None) == (2, 2, False)
    assert story.history().count("drift.found") == 1


@pytest.fixture
def small_portions(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("operations.stages.CHUNK", 2)
    yield


def test_a_long_run_goes_on_portion_by_portion_as_the_same_task(engine: Engine, small_portions: None) -> None:
    stories = [drifted(engine) for _ in range(5)]
    run = regular("day")
    assert (run.checked, run.ended_at) == (2, None)
    task = Task.objects.get(stage="drift")
    while task.status == "due":
        work_on(task.pk)
        task.refresh_from_db()
    run.refresh_from_db()
    assert (run.checked, run.differing, run.ended_at is None) == (5, 5, False)
    assert task.attempt - task.returned == 1
    assert all(story.history().count("drift.found") == 1 for story in stories)


def test_the_command_shows_differences_and_changes_nothing(engine: Engine, run: Run) -> None:
    story = drifted(engine)
    before = fingerprint()
    ran = run("check_drift")
    assert ran.code == 3
    assert story.effect.public_id in ran.out
    assert "active -> inactive" in ran.out
    assert fingerprint() == before


def test_without_a_difference_the_command_ends_with_nothing_to_say(engine: Engine, run: Run) -> None:
    completed(engine)
    ran = run("check_drift", "--json")
    assert (ran.code, ran.json()["found"]) == (0, [])


def test_the_command_records_a_difference_with_who_asked_and_the_second_time_nothing(engine: Engine, run: Run) -> None:
    story = drifted(engine)
    engine.person("operator")
    ran = run("check_drift", *APPLY, "--json")
    assert ran.code == 3  # the difference remains: nobody repaired it
    assert [one["result"] for one in ran.json()["found"]] == ["repaired"]
    assert story.told("drift.found")["differences"] == CHANGED
    found = DriftRun.objects.get()
    assert (found.repair.by.username, found.differing) == ("operator", 1)  # type: ignore[union-attr]
    before = fingerprint()
    again = run("check_drift", *APPLY, "--json")
    assert again.code == 3
    assert again.json()["found"][0]["problem"] == "still differs, as recorded before"
    assert fingerprint() == before


def test_a_finding_is_never_changed(engine: Engine) -> None:
    drifted(engine)
    regular("day")
    with pytest.raises(Exception, match=r"permission denied|Cannot update"), transaction.atomic():
        DriftFinding.objects.update(differences={})
    finding = DriftFinding.objects.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        DriftFinding.objects.create(run=finding.run, action=finding.action, differences={}, is_new=True, at=finding.at)
    assert Action.objects.get(pk=finding.action_id).status == "CONFIRMED"
