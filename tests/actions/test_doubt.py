"""An answer that was lost: nobody guesses, nobody sends again without evidence, and the key stays the same."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from actions.models import ExternalCall
from caseflow.domain.errors import LeaseLost
from cases.models import Task
from cases.working import work_on
from tests.driving import Engine, Killed, Story, hooks

QUICK_DEADLINE = {"subscriptions": {"deadline": timedelta(milliseconds=300)}}


def key(story: Story) -> str:
    return f"restore_access:{story.told('case.proposal_ready')['actions'][0]}"


def one_effect_under_one_key(story: Story) -> None:
    assert [effect["key"] for effect in story.activations()] == [key(story)]
    assert set(story.writes()) == {key(story)}


@pytest.mark.parametrize("kind", ["drop_after", "reset_after", "error_after", "garbage"])
def test_a_lost_answer_is_unknown_and_settled_by_look_up_under_the_same_key_without_another_write(
    kind: str, engine: Engine
) -> None:
    story = engine.approved()
    story.fault(kind)
    story.run()
    assert (story.state, story.effect.status) == ("EXECUTING", "UNKNOWN")
    assert story.history()[-1] == "action.unknown"
    assert story.letters() == []
    story.run_later()
    assert (story.state, story.effect.status, story.effect.confirmed_by) == ("COMPLETED", "CONFIRMED", "lookup")
    assert [(call, outcome) for call, outcome, _ in story.calls()] == [("perform", "unknown"), ("lookup", "confirmed")]
    one_effect_under_one_key(story)
    assert len(story.writes()) == 1


def test_an_answer_that_takes_too_long_is_unknown_even_when_it_is_applied_later(engine: Engine, settings: Any) -> None:
    settings.ADAPTER_OPTIONS = QUICK_DEADLINE
    story = engine.approved()
    story.fault("delay_after", seconds=0.6)
    story.run()
    assert story.effect.status == "UNKNOWN"
    story.run_later()
    while story.state == "EXECUTING":
        story.run_later()
    assert story.state == "COMPLETED"
    one_effect_under_one_key(story)


def test_a_refused_connection_is_provably_nothing_and_the_same_key_is_sent_later(engine: Engine) -> None:
    story = engine.approved()
    hooks.at("before_perform", lambda: engine.outside.go_down(0.3))
    story.run()
    engine.outside.wait_until_up()
    assert (story.effect.status, story.case.effects_open) == ("PLANNED", 0)
    assert story.calls() == [("perform", "not_applied", "connection_refused")]
    assert (story.state, story.task("execute").status) == ("EXECUTING", "due")
    story.run_later()
    assert story.state == "COMPLETED"
    assert [outcome for _, outcome, _ in story.calls()] == ["not_applied", "confirmed"]
    one_effect_under_one_key(story)


def test_a_request_dropped_before_it_was_applied_is_looked_up_and_sent_again_under_the_same_key(engine: Engine) -> None:
    story = engine.approved()
    story.fault("drop_before")
    story.run()
    assert story.effect.status == "UNKNOWN"
    story.run_later()
    assert story.state == "COMPLETED"
    assert [(call, outcome) for call, outcome, _ in story.calls()] == [
        ("perform", "unknown"),
        ("lookup", "not_applied"),
        ("perform", "confirmed"),
    ]
    one_effect_under_one_key(story)
    assert len(story.writes()) == 2


def test_a_busy_service_is_asked_again_after_the_time_it_names(engine: Engine) -> None:
    story = engine.approved()
    story.fault("too_many", retry_after=30)
    story.run()
    task = story.task("execute")
    assert (story.effect.status, task.last_error) == ("PLANNED", "too_many_requests")
    assert 29 < (task.available_at - engine.now()).total_seconds() <= 31
    story.run_later()
    assert story.state == "COMPLETED"
    one_effect_under_one_key(story)


def test_a_service_that_is_never_ready_gives_up_without_any_effect(engine: Engine) -> None:
    story = engine.approved()
    story.fault("too_many", times=None)
    story.run()
    for _ in range(10):
        if story.state != "EXECUTING":
            break
        story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "gave_up")
    assert (story.effect.status, story.case.effects_open) == ("REFUSED", 0)
    assert len(story.writes()) == 6
    assert story.activations() == []


def test_a_conflict_with_our_own_request_in_progress_is_doubt_and_no_refusal(engine: Engine) -> None:
    story = engine.approved()
    story.fault("conflict")
    story.run()
    assert story.effect.status == "UNKNOWN"
    story.run_later()
    assert story.state == "COMPLETED"
    one_effect_under_one_key(story)


def test_while_the_look_up_gives_no_answer_the_effect_stays_unknown_and_nothing_is_written(engine: Engine) -> None:
    story = engine.approved()
    story.fault("drop_after")
    engine.outside.script("error_before", method="GET", path=f"/operations/{key(story)}", times=3)
    story.run()
    for _ in range(3):
        story.run_later()
        assert (story.state, story.effect.status) == ("EXECUTING", "UNKNOWN")
    story.run_later()
    assert story.state == "COMPLETED"
    assert len(story.writes()) == 1


def test_a_doubt_that_no_look_up_settles_goes_to_a_person_and_stays_a_doubt(engine: Engine) -> None:
    story = engine.approved()
    story.fault("drop_after")
    engine.outside.script("error_before", method="GET", path=f"/operations/{key(story)}", times=None)
    story.run()
    Task.objects.filter(case_id=story.id, stage="reconcile").update(attempt=59)
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "unknown_too_long")
    assert (story.effect.status, story.case.effects_open, len(story.writes())) == ("UNKNOWN", 1, 1)


def test_a_key_past_its_life_is_not_sent_again_by_itself(engine: Engine) -> None:
    story = engine.approved()
    story.fault("drop_before")
    story.run()
    engine.owner.execute("UPDATE actions_action SET first_sent_at = first_sent_at - interval '23 hours'")
    calls = "begun_at = begun_at - interval '23 hours', ended_at = ended_at - interval '23 hours'"
    engine.rewrite("actions_externalcall", f"UPDATE actions_externalcall SET {calls}", [])
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "not_applied")
    assert (story.effect.status, len(story.writes())) == ("UNKNOWN", 1)


def test_an_expired_key_proves_nothing_while_the_subject_cannot_be_read(engine: Engine) -> None:
    story = engine.approved()
    story.fault("drop_before")
    story.run()
    engine.owner.execute("UPDATE actions_action SET first_sent_at = first_sent_at - interval '23 hours'")
    calls = "begun_at = begun_at - interval '23 hours', ended_at = ended_at - interval '23 hours'"
    engine.rewrite("actions_externalcall", f"UPDATE actions_externalcall SET {calls}", [])
    engine.outside.script("error_before", method="GET", path=f"/subscriptions/{story.subscription}")
    story.run_later()
    assert (story.effect.status, story.state) == ("UNKNOWN", "EXECUTING")
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "not_applied")


def test_a_refused_repeat_does_not_settle_an_earlier_request_that_may_still_land(engine: Engine, settings: Any) -> None:
    settings.ADAPTER_OPTIONS = QUICK_DEADLINE
    story = engine.approved()
    story.fault("delay", seconds=1)  # the first request: no answer in time, applied later
    story.fault("error_before", status=422)  # the second one is refused
    story.run()
    story.run_later()
    assert [outcome for _, outcome, _ in story.calls()] == ["unknown", "not_applied", "refused"]
    assert (story.effect.status, story.case.effects_open) == ("UNKNOWN", 1)
    while not story.activations():
        assert story.case.state == "EXECUTING"
    for _ in range(5):
        story.run_later()
    assert (story.effect.status, story.state) == ("CONFIRMED", "COMPLETED")
    one_effect_under_one_key(story)


@pytest.mark.parametrize("moment", ["before_perform", "after_perform"])
def test_a_worker_killed_around_its_request_is_replaced_by_one_that_looks_before_it_sends(
    moment: str, engine: Engine
) -> None:
    story = engine.approved()

    def die() -> None:
        raise Killed

    hooks.at(moment, die)
    with pytest.raises(Killed):
        story.run()
    sent = moment == "after_perform"
    assert (story.effect.status, len(story.writes())) == ("REQUESTED", sent)
    story.run()
    assert len(story.writes()) == sent  # its lease is still alive
    engine.lapse_lease(story.task("execute"))
    looked: list[int] = []
    hooks.at("after_lookup", lambda: looked.append(len(story.writes())))

    story.run()

    assert looked == [sent]
    assert story.state == "COMPLETED"
    assert story.calls()[0] == ("perform", "unknown", "worker_lost")
    assert [(call, outcome) for call, outcome, _ in story.calls()[1:]] == (
        [("lookup", "confirmed")] if sent else [("lookup", "not_applied"), ("perform", "confirmed")]
    )
    one_effect_under_one_key(story)


def test_a_worker_killed_between_reserving_and_the_point_of_no_return_sent_nothing(engine: Engine) -> None:
    story = engine.approved()

    def die() -> None:
        raise Killed

    hooks.at("after_read", die)
    with pytest.raises(Killed):
        story.run()
    assert (story.effect.status, story.case.plan_begun) == ("PLANNED", False)
    engine.lapse_lease(story.task("execute"))
    story.run()
    assert story.state == "COMPLETED"
    assert story.calls() == [("perform", "confirmed", "")]
    assert len(story.writes()) == 1


def test_a_worker_that_was_thought_dead_ends_only_its_own_call(engine: Engine) -> None:
    story = engine.approved()

    def be_overtaken() -> None:
        task = story.task("execute")
        engine.lapse_lease(task)
        work_on(task.pk, worker="second")
        assert (story.state, story.effect.confirmed_by) == ("COMPLETED", "lookup")

    hooks.at("after_perform", be_overtaken)
    story.run()
    assert (story.state, story.effect.status, story.effect.confirmed_by) == ("COMPLETED", "CONFIRMED", "lookup")
    assert story.history().count("case.effects_confirmed") == 1
    assert [(call, outcome) for call, outcome, _ in story.calls()] == [("perform", "unknown"), ("lookup", "confirmed")]
    assert not ExternalCall.objects.filter(ended_at=None).exists()
    one_effect_under_one_key(story)


def test_a_worker_that_slept_past_its_lease_before_the_send_sends_nothing(engine: Engine) -> None:
    story = engine.approved()
    hooks.at("after_read", lambda: engine.lapse_lease(story.task("execute")))
    story.run()  # refused at the point of no return, then taken over
    assert story.state == "COMPLETED"
    assert len(story.writes()) == 1
    attempts = story.task("execute").attempts.order_by("number").values_list("outcome", flat=True)
    assert list(attempts) == ["worker_lost", "done"]


def test_a_late_request_that_lands_after_the_look_up_is_not_called_cancelled(engine: Engine, settings: Any) -> None:
    """The look-up says "not applied", the repeat is not taken, and only then the first request lands."""
    settings.ADAPTER_OPTIONS = QUICK_DEADLINE
    story = engine.approved()
    story.fault("delay", seconds=1)  # the first request: no answer in time, applied later
    story.fault("too_many")  # the second one
    story.run()
    assert (story.effect.status, story.activations()) == ("UNKNOWN", [])
    story.run_later()
    assert [outcome for _, outcome, _ in story.calls()] == ["unknown", "not_applied", "not_applied"]
    while not story.activations():
        assert story.case.state == "EXECUTING"
    for _ in range(5):
        story.run_later()
    assert story.effect.status == "CONFIRMED", (story.standing, story.effect.status)
    assert story.state == "COMPLETED"
    one_effect_under_one_key(story)


def test_a_late_request_that_lands_between_look_up_and_repeat_is_found(engine: Engine) -> None:
    story = engine.approved()
    story.fault("drop_before")
    story.run()

    def land() -> None:
        engine.outside.ask(
            "POST",
            f"/subscriptions/{story.subscription}/activate",
            {"payment_id": story.payment, "customer_id": story.customer},
            Idempotency_Key=key(story),
        ).raise_for_status()

    hooks.at("after_lookup", land)
    for _ in range(4):
        story.run_later()
    assert (story.state, story.effect.status) == ("COMPLETED", "CONFIRMED")
    one_effect_under_one_key(story)


def test_facts_that_somebody_else_changed_while_the_result_was_unknown_go_to_a_person_with_the_doubt(
    engine: Engine,
) -> None:
    story = engine.approved()
    story.fault("drop_before")
    story.run()
    story.change("payments", status="refunded")
    story.run_later()
    assert (story.state, story.effect.status) == ("EXECUTING", "UNKNOWN")  # the first request may still land
    calls = "begun_at = begun_at - interval '71 seconds', ended_at = ended_at - interval '71 seconds'"
    engine.rewrite("actions_externalcall", f"UPDATE actions_externalcall SET {calls}", [])
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "partly_done")
    assert (story.effect.status, story.case.effects_open, len(story.writes())) == ("UNKNOWN", 1, 1)
    changed = {"payment.status": {"then": "confirmed", "now": "refunded"}}
    assert story.told("case.partly_done")["changed"] == changed


def test_a_lost_lease_is_an_error_with_the_task_in_it() -> None:
    assert "task 7" in str(LeaseLost(task=7))
