"""One approved effect: sent once, read back, told to the customer; and what happens when the way is not smooth."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role, revoke_role
from actions.models import Action, ExternalCall
from approvals.models import Proposal
from audit.models import AuditEvent
from caseflow.domain.roles import Role
from cases.models import Installation, Observation, Task
from tests.driving import Engine, Story, hooks
from tests.pauses import pause, pause_work, resume


def guards(story: Story) -> tuple[bool, int, int]:
    case = story.case
    return case.plan_begun, case.effects_open, case.effects_done


def held(story: Story, error: str) -> None:
    """Nothing was sent and nothing is lost: the order to send waits, without an attempt being used up."""
    task = story.task("execute")
    assert (task.status, task.last_error, task.attempt - task.returned) == ("due", error, 0)
    assert 13 < (task.available_at - timezone.now()).total_seconds() <= 19
    assert (story.state, story.writes()) == ("EXECUTING", [])
    assert not ExternalCall.objects.filter(action__case_id=story.id).exists()
    assert story.effect.status == "PLANNED"


def test_an_approved_ticket_is_activated_once_read_back_and_told_to_the_customer(engine: Engine) -> None:
    story = engine.approved()
    story.run()
    assert (story.state, story.case.outcome) == ("COMPLETED", "done")
    (effect,) = story.activations()
    assert effect["key"] == story.effect.key == f"restore_access:{story.effect.public_id}"
    assert effect["id"] == story.effect.external_id
    assert story.calls() == [("perform", "confirmed", "")]
    assert ExternalCall.objects.get(action=story.effect).call_id == effect["request_id"]
    assert (story.effect.status, story.effect.confirmed_by) == ("CONFIRMED", "read")
    assert story.told("case.effects_confirmed")["read_back"] == {"subscription.status": "active"}
    (letter,) = story.letters()
    assert letter["key"] == story.notice.key
    assert (story.notice.status, story.notice.confirmed_by) == ("CONFIRMED", "receipt")
    assert guards(story) == (True, 0, 1)


def test_the_action_is_reserved_and_the_call_recorded_before_the_request_leaves(engine: Engine) -> None:
    story = engine.approved()
    seen: list[Any] = []

    def look() -> None:
        call = ExternalCall.objects.get(action=story.effect)
        seen.append((story.effect.status, call.ended_at, guards(story), story.writes(), connection.in_atomic_block))

    hooks.at("before_perform", look)
    story.run()
    assert seen == [("REQUESTED", None, (True, 1, 0), [], False)]


def test_before_the_send_the_action_is_reserved_before_the_facts_are_read(engine: Engine) -> None:
    story = engine.approved()
    seen: list[str] = []
    hooks.at("after_read", lambda: seen.append(story.effect.status))
    story.run()
    assert seen == ["PLANNED"]


def test_a_requested_effect_is_never_called_done_while_the_read_back_shows_the_old_state(engine: Engine) -> None:
    story = engine.approved()
    story.change("subscriptions", plan="basic+")  # so that "before the last change" is still inactive
    engine.outside.script("stale_read", method="GET", path=f"/subscriptions/{story.subscription}", times=3)
    story.run()
    assert (story.state, story.effect.status, story.letters()) == ("EXECUTING", "REQUESTED", [])
    assert story.calls() == [("perform", "confirmed", "")]
    assert story.history()[-1] == "action.awaiting"
    story.run_later()
    assert (story.state, story.effect.status) == ("EXECUTING", "REQUESTED")
    story.run_later()
    assert (story.state, story.effect.status, story.effect.confirmed_by) == ("COMPLETED", "CONFIRMED", "read")
    assert len(story.writes()) == 1


def test_a_read_back_that_fails_is_repeated_and_the_request_is_not(engine: Engine) -> None:
    story = engine.approved()

    def break_reads() -> None:
        engine.outside.script("drop_before", method="GET", path=f"/subscriptions/{story.subscription}", times=2)

    hooks.at("after_perform", break_reads)
    story.run()
    assert story.effect.status == "REQUESTED"
    story.run_later()
    story.run_later()
    assert story.state == "COMPLETED"
    assert len(story.writes()) == 1


def test_a_read_back_that_never_shows_the_change_goes_to_a_person_as_not_confirmed(engine: Engine) -> None:
    story = engine.approved()
    story.change("subscriptions", plan="basic+")
    engine.outside.script("stale_read", method="GET", path=f"/subscriptions/{story.subscription}", times=None)
    story.run()
    Task.objects.filter(case_id=story.id, stage="reconcile").update(attempt=59)
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "not_confirmed")
    assert (story.effect.status, guards(story)) == ("REQUESTED", (True, 1, 0))
    assert len(story.writes()) == 1


def test_a_service_that_says_no_changed_nothing_and_a_person_is_asked(engine: Engine) -> None:
    story = engine.approved()
    story.fault("error_before", status=403)
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "not_permitted")
    assert (story.effect.status, guards(story)) == ("REFUSED", (True, 0, 0))
    assert (story.activations(), story.letters()) == ([], [])


def test_a_payment_refunded_while_the_case_waited_sends_nothing_and_ends_as_refunded(engine: Engine) -> None:
    story = engine.approved()
    story.change("payments", status="refunded")
    story.run()
    changed = story.told("case.facts_changed")
    assert changed["changed"] == {"payment.status": {"then": "confirmed", "now": "refunded"}}
    assert (story.state, story.case.ending, story.writes()) == ("CLOSED_NO_CHANGE", "payment_refunded", [])
    assert story.effect.status == "CANCELLED"
    assert len(story.letters()) == 1
    newest = Observation.objects.filter(case_id=story.id, name="payment").latest("id")
    assert newest.value["status"] == "refunded"


def test_a_price_changed_while_the_case_waited_sends_nothing_and_goes_to_a_person(engine: Engine) -> None:
    story = engine.approved()
    story.change("subscriptions", price="1990.00")
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "amount_differs")
    assert story.told("case.facts_changed")["changed"] == {"subscription.price": {"then": "990.00", "now": "1990.00"}}
    assert story.writes() == []


def test_a_change_that_alters_the_plan_sends_nothing_and_asks_for_a_new_decision(engine: Engine) -> None:
    story = engine.approved()
    old, action = story.proposal, story.told("case.proposal_ready")["actions"][0]
    story.change("subscriptions", price="1990.00")
    story.change("payments", amount="1990.00")
    story.run()
    assert (story.state, story.writes()) == ("WAITING_APPROVAL", [])
    assert (story.proposal.number, story.proposal.pk != old.pk) == (2, True)
    assert Action.objects.get(public_id=action).status == "CANCELLED"
    story.decide(person=engine.person("second"))
    story.run()
    assert story.state == "COMPLETED"
    (effect,) = story.activations()
    assert effect["key"] != f"restore_access:{action}"


def test_facts_that_change_every_time_do_not_go_round_for_ever(engine: Engine) -> None:
    story = engine.approved()
    for number in range(3):
        story.change("subscriptions", price=f"{number}.00")
        story.change("payments", amount=f"{number}.00")
        story.run()
        if number < 2:
            assert story.state == "WAITING_APPROVAL"
            story.decide()
    assert story.standing == ("NEEDS_ATTENTION", "returned_too_often")
    assert story.writes() == []


def test_an_approval_that_was_not_used_in_time_sends_nothing_and_is_asked_for_again(engine: Engine) -> None:
    story = engine.approved()
    story.age_decision(timedelta(hours=1, seconds=1))
    story.run()
    assert (story.state, story.proposal.number, story.writes()) == ("WAITING_APPROVAL", 2, [])
    assert story.told("case.approval_lapsed")["reason"] == "approval_lapsed"
    story.decide()
    story.run()
    assert (story.state, len(story.activations())) == ("COMPLETED", 1)


def test_an_approver_who_lost_the_right_before_the_send_is_not_counted(engine: Engine) -> None:
    story = engine.approved()
    revoke_role(person=engine.approver, organisation=engine.organisation, role=Role.APPROVER, by=SYSTEM)
    story.run()
    assert (story.state, story.writes()) == ("WAITING_APPROVAL", [])
    assert story.told("case.approval_lapsed")["reason"] == "decider_lost_right"
    grant_role(person=engine.approver, organisation=engine.organisation, role=Role.APPROVER, by=SYSTEM)
    story.decide(person=engine.person("second"))
    story.run()
    assert story.state == "COMPLETED"


def test_one_of_two_approvers_dismissed_before_the_send_is_no_quorum(engine: Engine, test_processes: None) -> None:
    story = engine.proposed(process="two_approvers")
    story.decide()
    second = engine.person("second")
    story.decide(person=second)
    second.is_active = False
    second.save()
    story.run()
    assert (story.state, story.writes()) == ("WAITING_APPROVAL", [])


@pytest.mark.parametrize("kind", ["system", "process", "organisation", "all"])
def test_a_pause_holds_the_request_and_resuming_lets_it_go(kind: str, engine: Engine) -> None:
    story = engine.approved()
    # After the claim and after the re-read: only the check at the point of no return can see it.
    hooks.at("after_read", lambda: pause_work(kind, engine.organisation))
    story.run()
    held(story, "paused")
    resume()
    # What the last moment refused is due as soon as somebody resumes.
    story.run()
    assert (story.state, len(story.activations())) == ("COMPLETED", 1)


def test_a_pause_of_another_system_or_of_another_organisation_holds_nothing(engine: Engine) -> None:
    pause("system", "payments")
    other = create_organisation(slug="globex", name="Globex")
    pause("system", "subscriptions", other)
    pause("process", "restore_access", other)
    pause("organisation", organisation=other)
    story = engine.approved()
    story.run()
    assert story.state == "COMPLETED"


def test_a_long_pause_uses_up_neither_attempts_nor_time(engine: Engine) -> None:
    story = engine.approved()
    pause("system", "subscriptions")
    story.run()
    for _ in range(10):
        engine.owner.execute(
            "UPDATE cases_task SET deadline_at = deadline_at - interval '10 minutes' WHERE case_id = %s", [story.id]
        )
        story.run_later()
    held(story, "paused")
    resume()
    story.run()
    assert story.state == "COMPLETED"


def test_a_copy_of_the_database_under_other_settings_sends_nothing(engine: Engine, settings: Any) -> None:
    story = engine.approved()
    at_home = settings.CASEFLOW_INSTALLATION_ID
    settings.CASEFLOW_INSTALLATION_ID = uuid.uuid4()
    story.run()
    held(story, "installation")
    settings.CASEFLOW_INSTALLATION_ID = at_home
    story.run_later()
    assert story.state == "COMPLETED"


def test_a_restored_database_sends_nothing_until_a_person_resumes(engine: Engine) -> None:
    story = engine.approved()
    Installation.objects.update(restored=True)
    story.run()
    held(story, "installation")
    Installation.objects.update(restored=False)
    story.run_later()
    assert story.state == "COMPLETED"


def test_a_database_that_knows_no_installation_sends_nothing(engine: Engine) -> None:
    story = engine.approved()
    Installation.objects.all().delete()
    story.run()
    held(story, "installation")


def test_a_plan_whose_bytes_were_changed_after_the_approval_is_not_carried_out(engine: Engine) -> None:
    story = engine.approved()
    engine.rewrite(
        "approvals_proposal",
        "UPDATE approvals_proposal SET snapshot = convert_to(replace(convert_from(snapshot, 'UTF8'), 'confirmed',"
        " 'refunded'), 'UTF8') WHERE id = %s",
        [story.proposal.pk],
    )
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "internal_error")
    assert story.writes() == []


def test_a_plan_and_its_digest_changed_together_after_the_approval_are_not_carried_out(engine: Engine) -> None:
    story = engine.approved()
    engine.rewrite(
        "approvals_proposal",
        "UPDATE approvals_proposal SET snapshot = s.bytes, digest = encode(sha256(s.bytes), 'hex')"
        " FROM (SELECT id AS of,"
        " convert_to(replace(convert_from(snapshot, 'UTF8'), 'restored', 'deleted'), 'UTF8') AS bytes"
        " FROM approvals_proposal) s WHERE of = id AND id = %s",
        [story.proposal.pk],
    )
    story.run()
    assert (story.state, story.writes()) == ("WAITING_APPROVAL", [])


def test_a_second_ticket_about_one_subscription_waits_and_then_activates_nothing_again(engine: Engine) -> None:
    first = engine.proposed()
    second = engine.proposed(about=first)  # its facts are read before the first is confirmed
    first.decide()
    second.decide()
    first.fault("drop_after")
    first.run()
    assert first.effect.status == "UNKNOWN"
    second.run()
    task = second.task("execute")
    assert (second.state, task.last_error, task.attempt - task.returned) == ("EXECUTING", "subject_busy", 0)
    assert second.told("action.busy")["reason"] == "subject_busy"
    assert not Action.objects.filter(case_id=second.id).exists()
    second.run_later()
    assert second.history().count("action.busy") == 1
    first.run_later()
    assert first.state == "COMPLETED"
    second.run_later()
    assert second.told("case.facts_changed")["changed"] == {
        "subscription.status": {"then": "inactive", "now": "active"}
    }
    assert (second.state, second.case.ending) == ("CLOSED_NO_CHANGE", "already_active")
    assert len(first.activations()) == len(first.writes()) == 1


def test_a_ticket_that_waits_for_another_gives_up_when_its_approval_lapses(engine: Engine) -> None:
    first = engine.proposed()
    second = engine.proposed(about=first)
    first.decide()
    second.decide()
    first.fault("drop_after")
    first.run()
    second.run()
    second.age_decision(timedelta(hours=2))
    second.run_later()
    assert second.told("case.approval_lapsed")["reason"] == "approval_lapsed"


def test_a_ticket_of_another_organisation_does_not_wait_for_ours(engine: Engine) -> None:
    globex = create_organisation(slug="globex", name="Globex")
    theirs_approver = engine.person("stranger")
    grant_role(person=theirs_approver, organisation=globex, role=Role.APPROVER, by=SYSTEM)
    ours = engine.proposed()
    theirs = engine.proposed(organisation=globex, about=ours)
    ours.decide()
    theirs.decide(person=theirs_approver)
    ours.fault("drop_before")
    ours.run()
    assert ours.effect.status == "UNKNOWN"
    theirs.run()
    assert theirs.state == "COMPLETED"


def test_two_effects_are_done_one_after_the_other_and_then_the_customer_is_told_once(
    engine: Engine, test_processes: None
) -> None:
    other = engine.open()
    story = engine.proposed(process="two_effects", more={"second_subscription_id": other.subscription})
    story.decide()
    story.run()
    assert story.state == "COMPLETED"
    assert (len(story.activations()), len(other.activations()), len(story.letters())) == (1, 1, 1)
    assert story.activations()[0]["applied_at"] < other.activations()[0]["applied_at"]
    assert guards(story) == (True, 0, 2)


def test_when_the_second_effect_may_not_be_done_the_first_stays_confirmed_and_a_person_is_asked(
    engine: Engine, test_processes: None
) -> None:
    other = engine.open()
    story = engine.proposed(process="two_effects", more={"second_subscription_id": other.subscription})
    story.decide()
    hooks.at("after_perform", lambda: story.change("payments", status="refunded"))
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "partly_done")
    assert guards(story) == (True, 0, 1)
    statuses = Action.objects.filter(case_id=story.id).order_by("position").values_list("position", "status")
    assert list(statuses) == [(1, "CONFIRMED"), (2, "CANCELLED")]
    assert (other.writes(), story.letters()) == ([], [])


def test_the_key_of_an_action_never_changes(engine: Engine) -> None:
    story = engine.approved()
    story.run()
    for change in ("key = 'restore_access:A-0000000000'", "subject = 'S-1'", "operation = 'deactivate'", "case_id = 0"):
        with pytest.raises(ProgrammingError, match="Cannot update of"), transaction.atomic():
            connection.cursor().execute(f"UPDATE actions_action SET {change} WHERE kind = 'effect'")


@pytest.mark.parametrize(
    ("now", "never"),
    [
        ("CONFIRMED", ["PLANNED", "REQUESTED", "UNKNOWN", "REFUSED", "CANCELLED"]),
        ("UNKNOWN", ["PLANNED", "CANCELLED"]),
        ("PLANNED", ["CONFIRMED", "UNKNOWN"]),
    ],
)
def test_an_action_moves_only_along_its_own_table(now: str, never: list[str], engine: Engine) -> None:
    story = engine.approved()
    if now == "UNKNOWN":
        story.fault("drop_after")
    if now == "PLANNED":
        pause("system", "subscriptions")
    story.run()
    assert story.effect.status == now
    for status in never:
        with pytest.raises(ProgrammingError, match="Cannot update of"), transaction.atomic():
            connection.cursor().execute("UPDATE actions_action SET status = %s WHERE kind = 'effect'", [status])


def test_every_send_names_who_approved_it_and_what_was_read_before(engine: Engine) -> None:
    story = engine.approved()
    story.run()
    kinds = story.history()
    assert kinds.index("case.quorum_reached") < kinds.index("action.requested") < kinds.index("case.effects_confirmed")
    requested = AuditEvent.objects.get(
        case_id=story.id, kind="action.requested", seq=kinds.index("action.requested") + 1
    )
    assert story.effect.public_id.encode() in bytes(requested.body)
    assert Proposal.objects.filter(case_id=story.id).count() == 1
    readings = Observation.objects.filter(case_id=story.id).order_by("id").values_list("name", flat=True)
    first = ["payment", "customer", "subscription"]
    assert list(readings) == [*first, *first, "subscription"]
