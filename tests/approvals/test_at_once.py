"""Where rules propose, a plan is stored with its facts; whatever is not usual is planned by itself (ADR 16)."""

from __future__ import annotations

from django.db import connection
from django.utils import timezone

from approvals.models import Proposal
from cases.models import Attempt, Observation, Task
from tests.cases.test_moments import at
from tests.driving import Engine, Story


def test_a_plan_of_the_rules_is_stored_in_the_transaction_of_its_facts(engine: Engine) -> None:
    story = engine.proposed()
    assert history(story) == ["case.opened", "case.check_started", "facts.observed", "case.proposal_ready"]
    assert len(transactions("approvals_proposal", story) | transactions("cases_observation", story)) == 1
    assert stages(story) == ["check", "observe", "expire"]
    readings = Observation.objects.filter(case_id=story.id).order_by("name")
    assert story.proposal.observations == list(readings.values_list("pk", flat=True))


def test_a_plan_that_could_not_be_made_with_its_facts_is_made_by_itself(engine: Engine) -> None:
    story = engine.open()
    with at("propose.answered", RuntimeError("no such luck")):
        story.run()
    assert planned_by_itself(story)
    assert history(story).count("facts.observed") == 1


def test_facts_whose_plan_cannot_be_stored_are_kept_and_the_plan_is_tried_by_itself(engine: Engine) -> None:
    story = engine.open()
    with at("observe.before_commit", RuntimeError("no such luck")):
        story.run()
    assert planned_by_itself(story)
    assert Observation.objects.filter(case_id=story.id).count() == 3
    assert [attempt.outcome for attempt in Attempt.objects.filter(task=story.task("observe"))] == ["done"]


def test_a_case_that_knows_more_facts_than_were_read_is_planned_by_itself(engine: Engine) -> None:
    story = engine.open()
    Observation.objects.create(
        case_id=story.id,
        name="contract",
        value={"status": "signed"},
        source="payments",
        observed_at=timezone.now(),
        call_id="11111111-1111-4111-8111-111111111111",
        intake_revision=1,
    )
    story.run()
    assert planned_by_itself(story)
    assert len(story.proposal.observations) == 4


def test_a_case_whose_effect_began_is_planned_by_itself(engine: Engine) -> None:
    story = engine.approved()
    story.fault("error_before", status=410)
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "effect_refused")
    story.order("observe_again")
    story.run()
    assert planned_by_itself(story)
    assert Proposal.objects.filter(case_id=story.id).count() == 2


def planned_by_itself(story: Story) -> bool:
    task = story.task("propose")
    return (story.state, task.status, task.last_error) == ("WAITING_APPROVAL", "done", "")


def history(story: Story) -> list[str]:
    return list(story.history())


def stages(story: Story) -> list[str]:
    return list(Task.objects.filter(case_id=story.id).order_by("pk").values_list("stage", flat=True))


def transactions(table: str, story: Story) -> set[int]:
    """Which transactions wrote the rows of this case."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT xmin::text::bigint FROM {table} WHERE case_id = %s", [story.id])
        return {number for (number,) in cursor.fetchall()}
