"""One active proposal per version of a case, however often a worker dies or a person asks; every request is costed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.principal import SYSTEM
from accounts.services import grant_role
from approvals.models import Advice, Proposal
from caseflow.domain import failpoints
from caseflow.domain.errors import (
    AlreadyDecided,
    CauserMayNotDecide,
    ForbiddenTransition,
    NotPermitted,
    RecoveryNotPossible,
    StaleSnapshot,
)
from caseflow.domain.lifecycle import Event
from caseflow.domain.roles import Role
from cases.advancing import advance_case
from cases.models.task import SLOW
from cases.rows import lock_case
from cases.supplying import supply_data
from cases.working import work_on
from tests.actions.test_protections import somebody_waits_for_us
from tests.cases.test_moments import at, silence_is_noticed
from tests.driving import Engine, Killed, Story, together

from .conftest import Oracle, calls_of


def test_a_worker_lost_with_the_answer_asks_again_and_both_requests_are_costed(engine: Engine, oracle: Oracle) -> None:
    """C16: response received, before the proposal was stored; at each place on the way."""
    for place, first in (
        ("ask_model.begun", "lost"),
        ("ask_model.answered", "lost"),
        ("ask_model.kept", "answered"),
        ("ask_model.checked", "answered"),
        ("ask_model.before_commit", "answered"),
    ):
        story = engine.open()
        with at(place, Killed()), pytest.raises(Killed):
            story.run()
        assert (story.state, Proposal.objects.filter(case_id=story.id).count()) == ("CHECKING", 0), place
        silence_is_noticed(story)
        story.run()
        assert story.state == "WAITING_APPROVAL", place
        assert Proposal.objects.filter(case_id=story.id).count() == 1, place
        assert [call.outcome for call in calls_of(story)] == [first, "answered"], place
        for call in calls_of(story):
            assert call.cost is not None and 0 < call.cost <= call.cost_limit, place
            assert (call.cost == call.cost_limit) == (call.outcome == "lost"), place


def test_the_request_of_the_last_worker_that_was_lost_is_ended_with_the_most_it_can_cost(
    engine: Engine, oracle: Oracle
) -> None:
    story = engine.open()
    for _ in range(5):
        with at("ask_model.begun", Killed()), pytest.raises(Killed):
            story.run()
        silence_is_noticed(story)
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "worker_lost")
    assert [(call.outcome, call.cost == call.cost_limit) for call in calls_of(story)] == [("lost", True)] * 5


def test_proposal_state_and_advice_are_stored_together_or_not_at_all(engine: Engine, oracle: Oracle) -> None:
    """C17: proposal insert and WAITING_APPROVAL are one transaction."""
    story = engine.open()
    with at("ask_model.before_commit", Killed()), pytest.raises(Killed):
        story.run()
    assert (Proposal.objects.count(), Advice.objects.count(), story.state) == (0, 0, "CHECKING")
    silence_is_noticed(story)
    with at("ask_model.committed", Killed()), pytest.raises(Killed):
        story.run()
    assert (Proposal.objects.count(), Advice.objects.count(), story.state) == (1, 1, "WAITING_APPROVAL")
    assert story.task("ask_model").status == "done"


def test_repairs_are_counted_over_workers_that_are_lost(engine: Engine, oracle: Oracle) -> None:
    oracle.says("false_evidence", times=None)
    story = engine.open()
    for _ in range(2):
        with at("ask_model.kept", Killed()), pytest.raises(Killed):
            story.run()
        silence_is_noticed(story)
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "model_answer_invalid")
    assert [call.outcome for call in calls_of(story)] == ["invalid"] * 3


def test_the_same_task_rung_many_times_at_once_asks_once(engine: Engine, oracle: Oracle) -> None:
    oracle.fails("delay", seconds=0.3)
    story = engine.open()
    story.run(stage="check")
    task = story.task("ask_model")
    assert (task.status, task.queue) == ("due", SLOW)
    together(*[lambda: work_on(task.pk)] * 4)
    assert story.state == "WAITING_APPROVAL"
    assert len(calls_of(story)) == len(oracle.asked()) == 1
    assert Proposal.objects.filter(case_id=story.id).count() == 1


def test_a_worker_that_lost_its_lease_asks_nothing_more_and_its_proposal_is_refused(
    engine: Engine, oracle: Oracle
) -> None:
    story = engine.open()
    story.run(stage="check")
    task = story.task("ask_model")

    def taken_over() -> None:
        engine.lapse_lease(task)
        work_on(task.pk, worker="second")

    oracle.says("false_evidence")
    passed: list[str] = []

    def hook(name: str, about: tuple[str, ...]) -> None:
        if name == "ask_model.kept" and not passed:
            passed.append(name)
            taken_over()

    failpoints.arm(hook)
    try:
        work_on(task.pk, worker="first")
    finally:
        failpoints.arm(None)
    assert story.state == "WAITING_APPROVAL"
    assert Proposal.objects.filter(case_id=story.id).count() == 1
    assert [(call.worker, call.outcome) for call in calls_of(story)] == [("first", "invalid"), ("second", "answered")]


@pytest.mark.parametrize(
    ("proposer", "place", "fault"),
    [
        ("rules", "propose.answered", False),
        ("model", "ask_model.checked", False),
        ("explained", "ask_model.kept", True),
    ],
)
def test_data_supplied_while_a_proposer_is_asked_has_the_new_subject_read_before_anything_is_planned(
    proposer: str, place: str, fault: bool, engine: Engine, oracle: Oracle
) -> None:
    oracle.chosen(proposer)
    other = engine.open(subscription={"status": "active"})
    story = engine.open(about=None)
    if fault:
        oracle.fails("error_before")
    with once_at(place, lambda: supply_data(case_id=story.id, data=about(other), actor=SYSTEM)):
        story.run()
    assert story.history().count("facts.observed") == 2
    assert not Proposal.objects.filter(case_id=story.id, snapshot__contains=story.subscription.encode()).exists()
    assert (story.state, story.case.ending) == ("CLOSED_NO_CHANGE", "already_active")
    assert story.case.subject == other.subscription


def test_data_that_is_being_stored_when_the_proposers_answer_comes_is_waited_for_and_seen(
    engine: Engine, oracle: Oracle
) -> None:
    oracle.chosen("rules")
    other = engine.open(subscription={"status": "active"})
    story = engine.open(about=None)
    storing, settled = threading.Event(), threading.Event()
    waited: list[bool] = []

    def supply() -> None:
        with transaction.atomic():
            supply_data(case_id=story.id, data=about(other), actor=SYSTEM)
            storing.set()
            while not somebody_waits_for_us() and not settled.is_set():
                pass
            waited.append(not settled.is_set())
        connection.close()

    thread = threading.Thread(target=supply)

    def begin_to_supply() -> None:
        thread.start()
        assert storing.wait(10)

    with once_at("propose.answered", begin_to_supply):
        story.run()
    settled.set()
    thread.join(10)
    assert waited == [True]
    assert (story.state, story.case.ending) == ("CLOSED_NO_CHANGE", "already_active")


def test_an_answer_that_comes_after_the_case_went_on_adds_nothing_to_the_plan_that_stands(
    engine: Engine, oracle: Oracle
) -> None:
    story = engine.open()
    story.run(stage="check")
    task = story.task("ask_model")

    def planned_by_another() -> None:
        with transaction.atomic():
            advance_case(lock_case(story.id), Event.PERSON_NEEDED, actor=SYSTEM, sets={"reason": "facts_missing"})
        story.order("observe_again")
        story.run()

    with once_at("ask_model.checked", planned_by_another):
        work_on(task.pk)
    task.refresh_from_db()
    assert (story.state, task.status, task.last_error) == ("WAITING_APPROVAL", "done", "")
    assert "settlement.late" in story.history()
    assert Advice.objects.get(proposal__case_id=story.id).call == calls_of(story)[-1]


def test_asking_again_is_an_act_on_record_that_makes_a_new_proposal_and_its_person_a_causer(
    engine: Engine, oracle: Oracle
) -> None:
    story = engine.proposed()
    before = Proposal.objects.filter(pk=story.proposal.pk).values_list().get()
    with pytest.raises(NotPermitted):
        story.order("ask_again", "viewer")
    with pytest.raises(NotPermitted):
        story.order("ask_again", "approver")
    person = engine.person("operator")
    story.order("ask_again")
    assert story.state == "CHECKING"
    assert story.told("case.asked_again")["asked_by"] == person.pk
    story.run()
    assert story.state == "WAITING_APPROVAL"
    first, second = Proposal.objects.filter(case_id=story.id).order_by("number")
    assert Proposal.objects.filter(pk=first.pk).values_list().get() == before
    assert (first.number, second.number, second.causers) == (1, 2, [person.pk])
    assert len(calls_of(story)) == 2
    with pytest.raises(StaleSnapshot):
        story.decide(proposal=first)
    grant_approver(engine, "operator")
    with pytest.raises(CauserMayNotDecide):
        story.decide(person=person)
    story.decide()
    story.run()
    assert story.state == "COMPLETED"


def test_an_approved_proposal_is_not_asked_about_again_and_nobody_asks_without_end(
    engine: Engine, oracle: Oracle
) -> None:
    approved = engine.approved()
    with pytest.raises(ForbiddenTransition):
        approved.order("ask_again")
    approved.run()
    assert (approved.state, len(calls_of(approved))) == ("COMPLETED", 1)
    story = engine.proposed()
    for _ in range(2):
        story.order("ask_again")
        story.run()
    with pytest.raises(RecoveryNotPossible, match="asked_too_often"):
        story.order("ask_again")
    assert story.state == "WAITING_APPROVAL"
    story.decide()
    with pytest.raises(AlreadyDecided):
        story.decide(person=engine.person("second"))


@contextmanager
def once_at(place: str, act: Callable[[], Any]) -> Iterator[None]:
    """The first time a way leads through `place`, this happens there, on a connection of its own."""
    acts = [act]

    def hook(name: str, about: tuple[str, ...]) -> None:
        if name == place and acts:
            (done,) = together(acts.pop())
            assert not isinstance(done, Exception), done

    failpoints.arm(hook)
    try:
        yield
    finally:
        failpoints.arm(None)


def about(other: Story) -> dict[str, str]:
    return {"customer_id": other.customer, "payment_id": other.payment, "subscription_id": other.subscription}


def grant_approver(engine: Engine, username: str) -> None:
    grant_role(person=engine.person(username), organisation=engine.organisation, role=Role.APPROVER, by=SYSTEM)
