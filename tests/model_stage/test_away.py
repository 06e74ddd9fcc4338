"""A bad day of the provider: requests are retried, its circuit opens, and the rules take over only where chosen."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from approvals import circuits
from approvals.model_models import ProviderCircuit
from tests.driving import Engine

from .conftest import Oracle, calls_of


def test_every_fault_of_the_provider_is_retried_by_the_tasks_policy_and_costed(engine: Engine, oracle: Oracle) -> None:
    for kind, code, costed in (
        ("delay", "timeout", True),
        ("drop_after", "connection_lost", True),
        ("too_many", "too_many_requests", False),
        ("error_before", "scripted_error", True),
    ):
        oracle.fails(kind, **({"seconds": 2} if kind == "delay" else {}))
        story = engine.open()
        story.run()
        task = story.task("ask_model")
        assert (story.state, task.status, task.last_error) == ("CHECKING", "due", code)
        story.make_due("ask_model")
        story.run()
        assert story.state == "WAITING_APPROVAL"
        failed, answered = calls_of(story)
        assert (failed.outcome, failed.code, answered.outcome) == ("failed", code, "answered")
        # Of a request that may have been worked on nobody knows the costs: the most that it can have cost.
        assert failed.cost == (failed.cost_limit if costed else 0)
        assert answered.cost < answered.cost_limit


def test_a_denied_key_is_its_owners_and_not_tried_again(engine: Engine, oracle: Oracle) -> None:
    oracle.fails("error_before", status=401)
    story = engine.open()
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "not_permitted")
    assert len(calls_of(story)) == 1


def test_without_leave_the_rules_never_take_over_and_the_case_stops_for_a_person(
    engine: Engine, oracle: Oracle
) -> None:
    oracle.fails("error_before", status=503, times=None)
    story = engine.open()
    for _ in range(8):
        story.run()
        story.make_due("ask_model")
        try_again_now(engine)
    assert story.standing == ("NEEDS_ATTENTION", "attempts_exhausted")
    assert "model.rules_took_over" not in story.history()
    assert {call.outcome for call in calls_of(story)} == {"failed"}


def test_three_faults_open_the_circuit_and_rules_take_over_where_the_organisation_chose_so(
    engine: Engine, oracle: Oracle
) -> None:
    oracle.chosen(rules_take_over=True)
    oracle.fails("error_before", status=503, times=3)
    first = engine.open()
    first.run()
    first.run_later("ask_model")
    assert (first.state, len(calls_of(first))) == ("CHECKING", 2)
    assert circuits.list_open() == []
    first.run_later("ask_model")
    assert [one.provider for one in circuits.list_open()] == ["main"]
    assert first.state == "WAITING_APPROVAL"
    assert (first.proposal.proposer, first.proposal.model) == ("rules", "")
    assert (first.proposal.advice.took_over, first.proposal.advice.call) == ("scripted_error", None)
    assert first.told("model.rules_took_over")["code"] == "scripted_error"

    second = engine.proposed()
    assert calls_of(second) == []
    assert (second.proposal.proposer, second.proposal.advice.took_over) == ("rules", "circuit_open")
    assert first.proposal.decision == second.proposal.decision == "restore_access"


def test_rules_take_over_from_a_provider_that_asks_for_more_time_than_the_task_has(
    engine: Engine, oracle: Oracle
) -> None:
    oracle.fails("too_many", retry_after="80000", times=2)
    story = engine.open()
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "deadline_passed")
    oracle.chosen(rules_take_over=True)
    assert engine.proposed().proposal.advice.took_over == "too_many_requests"


def test_an_open_circuit_lets_one_request_try_and_its_answer_closes_it(engine: Engine, oracle: Oracle) -> None:
    for _ in range(circuits.FAULTS):
        circuits.fault_of("main", "timeout")
    story = engine.open()
    story.run()
    task = story.task("ask_model")
    assert (story.state, task.last_error, calls_of(story)) == ("CHECKING", "circuit_open", [])
    assert timedelta(seconds=50) < task.available_at - engine.now() <= timedelta(seconds=67)
    try_again_now(engine)
    story.make_due("ask_model")
    assert circuits.left_alone_for("main") is None, "whoever comes first tries it"
    assert circuits.left_alone_for("main") is not None, "and everybody else waits for what comes of it"
    try_again_now(engine)
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert ProviderCircuit.objects.get(provider="main").failures == 0
    assert circuits.left_alone_for("main") is None


def test_a_request_refused_by_its_status_costs_nothing_whatever_the_answer_says(engine: Engine, oracle: Oracle) -> None:
    for status, free in ((400, True), (403, True), (404, True), (422, True), (409, False), (418, False)):
        oracle.fails("error_before", status=status)
        story = engine.open()
        story.run()
        (call,) = calls_of(story)
        assert (call.status, call.code, call.cost == 0) == (status, "scripted_error", free), status


def test_a_trial_that_is_answered_with_a_refusal_closes_the_circuit(engine: Engine, oracle: Oracle) -> None:
    for status, failures in ((503, circuits.FAULTS + 1), (429, circuits.FAULTS + 2), (422, 0)):
        for _ in range(circuits.FAULTS if status == 503 else 0):
            circuits.fault_of("main", "timeout")
        try_again_now(engine)
        oracle.fails("error_before", status=status)
        engine.open().run()
        assert ProviderCircuit.objects.get(provider="main").failures == failures, status
    assert circuits.list_open() == []


def test_words_of_a_provider_that_is_gone_hold_up_no_decision(engine: Engine, oracle: Oracle, settings: Any) -> None:
    oracle.chosen("explained:main")
    settings.CASEFLOW_MODELS = {"other": {"url": f"{engine.outside.url}/v1", "model": "simulated-1"}}
    story = engine.proposed()
    assert (story.proposal.proposer, story.proposal.advice.took_over) == ("rules", "proposer_not_there")
    assert story.told("model.gave_no_words")["proposer"] == "explained:main"
    settings.CASEFLOW_MODELS = {"main": {"url": f"{engine.outside.url}/v1", "model": "simulated-1"}}
    oracle.chosen("model:main")
    settings.CASEFLOW_MODELS = {"other": {"url": f"{engine.outside.url}/v1", "model": "simulated-1"}}
    stopped = engine.open()
    stopped.run()
    assert stopped.state == "NEEDS_ATTENTION"


def test_a_key_that_no_header_takes_is_its_owners_before_anything_is_sent(
    engine: Engine, oracle: Oracle, settings: Any
) -> None:
    usual, unsent = settings.CASEFLOW_MODEL_KEYS, []
    for key in ("sk-one\nX-Other: two", "k" * 5000):
        settings.CASEFLOW_MODEL_KEYS = {"main": key}
        story = engine.open()
        unsent.append(story.subscription)
        story.run()
        (call,) = calls_of(story)
        assert (story.state, call.outcome, call.code, call.cost) == ("NEEDS_ATTENTION", "failed", "cannot_be_asked", 0)
    settings.CASEFLOW_MODEL_KEYS = usual
    asked = engine.open()
    asked.run()
    # By its subject: a request that an earlier test gave up may arrive late.
    assert asked.subscription in oracle.log()
    assert not [one for one in unsent if one in oracle.log()]


def try_again_now(engine: Engine) -> None:
    engine.owner.execute("UPDATE approvals_providercircuit SET ask_again_at = clock_timestamp()")
