"""Where rules propose, a plan is stored with its facts; whatever is not usual is planned by itself (ADR 16)."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.principal import SYSTEM
from approvals.answers import Answer
from approvals.models import Proposal
from approvals.proposers import _PROPOSERS, Rules
from cases.models import Attempt, Observation, Task
from cases.supplying import supply_data
from tests.cases.test_moments import at
from tests.driving import Engine, Story


def test_a_plan_of_the_rules_is_stored_in_the_transaction_of_its_facts(engine: Engine) -> None:
    story = engine.proposed()
    assert history(story) == ["case.opened", "case.check_started", "facts.observed", "case.proposal_ready"]
    assert len(transactions("approvals_proposal", story) | transactions("cases_observation", story)) == 1
    assert stages(story) == ["observe", "expire"]
    readings = Observation.objects.filter(case_id=story.id).order_by("name")
    assert story.proposal.observations == list(readings.values_list("pk", flat=True))


class FailsOnce(Rules):
    """A rule that is out of luck the first time."""

    def __init__(self) -> None:
        self.name, self._errors = "teller", [RuntimeError("no such luck")]

    def propose(self, **asked: Any) -> Answer:
        if self._errors:
            raise self._errors.pop()
        return super().propose(**asked)


class Meddles(Rules):
    """A rule that writes into what it is given."""

    name = "teller"

    def propose(self, **asked: Any) -> Answer:
        answer = super().propose(**asked)
        asked["facts"]["payment"]["currency"] = "EUR"
        return answer


def test_a_plan_that_could_not_be_made_with_its_facts_is_made_by_itself(
    engine: Engine, test_processes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_PROPOSERS, "teller", FailsOnce())
    story = engine.open(process="told")
    story.run()
    assert planned_by_itself(story)
    assert history(story).count("facts.observed") == 1


def test_a_rule_that_changes_the_facts_it_is_given_changes_no_reading(
    engine: Engine, test_processes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_PROPOSERS, "teller", Meddles())
    story = engine.open(process="told")
    story.run()
    assert Observation.objects.get(case_id=story.id, name="payment").value["currency"] == "RUB"


def test_facts_whose_plan_cannot_be_stored_are_kept_and_the_plan_is_tried_by_itself(engine: Engine) -> None:
    story = engine.open()
    with at("observe.before_commit", RuntimeError("no such luck")):
        story.run()
    assert planned_by_itself(story)
    assert Observation.objects.filter(case_id=story.id).count() == 3
    assert [attempt.outcome for attempt in Attempt.objects.filter(task=story.task("observe"))] == ["done"]


def test_facts_that_only_another_version_of_the_process_reads_count_no_more(engine: Engine) -> None:
    """Nobody reads them again: compared with newer data they would never be fresh."""
    story = engine.open(missing=["payments"])
    story.run()
    assert story.state == "WAITING_DATA"
    Observation.objects.create(
        case_id=story.id,
        name="contract",
        value={"status": "signed"},
        source="payments",
        observed_at=timezone.now(),
        call_id="11111111-1111-4111-8111-111111111111",
        intake_revision=1,
    )
    other = engine.open()
    named = {"customer_id": other.customer, "payment_id": other.payment, "subscription_id": other.subscription}
    supply_data(case_id=story.id, data=named, actor=SYSTEM)
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert stages(story).count("observe") == 2
    assert len(story.proposal.observations) == 3


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
