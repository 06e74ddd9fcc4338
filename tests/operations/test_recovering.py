"""Recoveries from the order to what came of it: nothing twice, nothing by one person that needs two."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.db.utils import InternalError, ProgrammingError

from accounts.principal import SYSTEM
from accounts.services import revoke_role
from actions.models import Action
from approvals.models import Proposal
from approvals.snapshots import actions_of, opened
from audit.models import AuditEvent
from caseflow.domain.errors import (
    BadInput,
    CauserMayNotDecide,
    ForbiddenTransition,
    LeaseLost,
    NotPermitted,
    RecoveryEnded,
    RecoveryNotPossible,
    RecoveryWaits,
    SecondPersonNeeded,
    VersionMoved,
)
from caseflow.domain.roles import Role
from caseflow.invariants.running import ask_all
from cases.models import IntakeRevision
from cases.personal import read_texts
from operations.authorising import authorise_recovery, take_back_recovery
from operations.models import Recovery
from tests.driving import Engine, Story, claimed, fingerprint, hooks
from tests.operations import standings as at
from tests.operations.standings import mail_fault, more_processes, stand


def clean() -> None:
    broken = {invariant.name: finding.shown for invariant, finding in ask_all("") if finding.violations}
    assert broken == {}


def the_order(story: Story) -> Recovery:
    return Recovery.objects.filter(case_id=story.id).latest("id")


# Find out, repeat, accept


def test_a_result_that_stayed_unknown_is_looked_up_on_order_and_the_case_completes(
    engine: Engine, settings: Any
) -> None:
    story = stand(at.unknown, engine, settings)
    story.order("reconcile")
    story.run()
    assert (story.state, story.effect.confirmed_by) == ("COMPLETED", "lookup")
    assert (len(story.writes()), the_order(story).outcome) == (1, "EXECUTING")
    clean()


def test_while_the_machines_still_look_the_order_makes_the_next_look_due_now(engine: Engine, settings: Any) -> None:
    story = stand(at.sent_and_unanswered, engine, settings)
    engine.owner.execute("UPDATE cases_task SET available_at = available_at + interval '1 hour' WHERE status = 'due'")
    story.run()
    assert story.effect.status == "UNKNOWN"
    story.order("reconcile")
    assert story.history()[-1] == "recovery.reconcile_ordered"
    story.run()
    assert (story.state, len(story.writes())) == ("COMPLETED", 1)
    clean()


def test_while_the_machines_still_look_and_their_task_was_lost_the_order_makes_a_new_one(
    engine: Engine, settings: Any
) -> None:
    story = stand(at.sent_and_unanswered, engine, settings)
    engine.owner.execute(
        "UPDATE cases_task SET status = 'cancelled', ended_at = clock_timestamp() WHERE stage = 'reconcile'"
    )
    story.order("reconcile")
    story.run()
    assert (story.state, len(story.writes())) == ("COMPLETED", 1)


def test_a_repeat_uses_the_same_key_after_it_looked_once_more(engine: Engine, settings: Any) -> None:
    story = stand(at.denied_with_a_living_key, engine, settings)
    story.order("repeat")
    story.run_later()
    assert (story.state, story.effect.status) == ("COMPLETED", "CONFIRMED")
    assert story.writes() == [story.effect.key] * 2
    assert len(story.activations()) == 1
    assert [kind for kind, _, _ in story.calls()] == ["perform", "lookup", "lookup", "perform"]
    clean()


def test_a_repeat_without_evidence_is_refused_and_says_what_is_missing(engine: Engine, settings: Any) -> None:
    story = stand(at.unknown, engine, settings)
    with pytest.raises(RecoveryNotPossible) as refused:
        story.order("repeat")
    assert refused.value.params["reason"] == "no_evidence"
    assert story.told("recovery.refused")["why"] == "no_evidence"
    assert story.state == "NEEDS_ATTENTION"


def test_a_repeat_after_the_life_of_the_key_is_refused(engine: Engine, settings: Any) -> None:
    story = stand(at.denied_with_a_living_key, engine, settings)
    engine.owner.execute("UPDATE actions_action SET first_sent_at = first_sent_at - interval '23 hours'")
    with pytest.raises(RecoveryNotPossible) as refused:
        story.order("repeat")
    assert refused.value.params["reason"] == "key_not_alive"


def test_not_applied_is_accepted_on_the_look_up_and_only_a_new_approval_sends_again(
    engine: Engine, settings: Any
) -> None:
    story = stand(at.not_applied, engine, settings)
    first = story.effect
    story.order("accept_not_applied", "recoverer")
    assert story.standing == ("NEEDS_ATTENTION", "accepted_not_applied")
    action = Action.objects.get(pk=first.pk)
    assert (action.status, action.code, story.case.effects_open) == ("REFUSED", "accepted_not_applied", 0)
    call = the_order(story).evidence_call
    assert action.calls.get(call_id=call).outcome == "not_applied"
    clean()
    story.order("observe_again")
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert len(old_writes(story)) == 1
    story.decide()
    story.run()
    assert (story.state, len(story.activations())) == ("COMPLETED", 1)
    assert story.effect.key != first.key
    clean()


def test_not_applied_is_not_accepted_while_the_request_may_still_land(engine: Engine, settings: Any) -> None:
    """The look-up was asked a moment after the request: at this system it may land for 70 seconds."""
    story = stand(at.denied_with_a_living_key, engine, settings)
    with pytest.raises(RecoveryNotPossible) as refused:
        story.order("accept_not_applied")
    assert refused.value.params["reason"] == "no_final_evidence"
    assert story.effect.status == "UNKNOWN"


def old_writes(story: Story) -> list[str]:
    requests = story.engine.outside.ask("GET", "/ledger").json()["requests"]
    return [one["key"] for one in requests if one["path"].endswith(f"/subscriptions/{story.subscription}/activate")]


# By hand


def test_a_result_by_hand_needs_two_people_and_the_case_goes_on_to_the_customers_letter(
    engine: Engine, settings: Any
) -> None:
    story = stand(at.unknown, engine, settings)
    ordered = story.order("result_by_hand").recovery
    assert (ordered.status, story.effect.status, story.state) == ("waiting", "UNKNOWN", "NEEDS_ATTENTION")
    assert story.history()[-1] == "recovery.waiting"
    story.sign()
    action = story.effect
    assert (action.status, action.confirmed_by) == ("CONFIRMED", "hand")
    assert (story.case.effects_open, story.case.effects_done) == (0, 1)
    story.run()
    assert (story.state, story.case.outcome) == ("COMPLETED", "done")
    assert (len(story.writes()), len(story.letters())) == (1, 1)
    row = the_order(story)
    assert (row.asked_by.username, row.authorised_by.username) == ("operator", "approver")  # type: ignore[union-attr]
    assert (row.status, row.outcome, row.stage, row.result) == ("done", "EXECUTING", "execute", "done")
    clean()


def test_of_two_changes_the_second_follows_when_the_first_was_confirmed_by_hand(engine: Engine, settings: Any) -> None:
    with more_processes(settings):
        other = engine.open()
        story = engine.approved(process="two_effects", more={"second_subscription_id": other.subscription})
        story.fault("drop_after")
        engine.outside.script("error_before", method="GET", path="/operations/*", times=1)
        story.run()
        at.patience_ends(story)
        story.run_later()
        assert story.standing == ("NEEDS_ATTENTION", "unknown_too_long")
        story.order("result_by_hand")
        story.sign()
        story.run()
        assert (story.state, story.case.effects_done) == ("COMPLETED", 2)
        assert len(other.activations()) == 1
        clean()


def test_a_change_that_two_people_found_not_done_is_refused_and_may_be_proposed_anew(
    engine: Engine, settings: Any
) -> None:
    story = stand(at.unknown_without_look_up, engine, settings)
    story.order("result_by_hand", result="not_done")
    story.sign()
    assert (story.effect.status, story.effect.code) == ("REFUSED", "found_not_done")
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "found_not_done")
    clean()
    story.order("observe_again")
    story.run()
    assert story.state == "WAITING_APPROVAL"


def test_nobody_may_say_not_done_while_the_request_may_still_land(engine: Engine, settings: Any) -> None:
    story = stand(at.unknown, engine, settings)
    with pytest.raises(RecoveryNotPossible) as refused:
        story.order("result_by_hand", result="not_done")
    assert refused.value.params["reason"] == "may_still_land"


@pytest.mark.parametrize("kind", ["result_by_hand", "finish_by_hand"])
def test_who_ordered_it_does_not_sign_it(kind: str, engine: Engine, settings: Any) -> None:
    story = stand(at.unknown if kind == "result_by_hand" else at.rejected_to_hand, engine, settings)
    story.order(kind)
    with pytest.raises(SecondPersonNeeded):
        story.sign("operator")
    assert (the_order(story).status, story.state) == ("waiting", "NEEDS_ATTENTION")
    assert story.told("recovery.refused")["code"] == "second_person_needed"
    story.sign("approver")
    assert the_order(story).status == "done"


@pytest.mark.parametrize("who", ["viewer", "recoverer"])
def test_to_sign_needs_the_right_to_authorise(who: str, engine: Engine, settings: Any) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    story.order("finish_by_hand")
    with pytest.raises(NotPermitted):
        story.sign(who)
    assert story.told("recovery.refused")["code"] == "not_permitted"
    assert the_order(story).status == "waiting"


def test_a_signature_under_the_order_of_somebody_who_lost_the_right_counts_for_nothing(
    engine: Engine, settings: Any
) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    story.order("finish_by_hand", "recoverer")
    revoke_role(person=engine.person("recoverer"), organisation=engine.organisation, role=Role.RECOVERER, by=SYSTEM)
    with pytest.raises(RecoveryNotPossible) as refused:
        story.sign()
    assert refused.value.params["reason"] == "asker_lost_right"
    assert story.state == "NEEDS_ATTENTION"


def test_a_signature_under_what_the_case_has_left_behind_is_refused_and_ends_the_order(
    engine: Engine, settings: Any
) -> None:
    """The second person looked before a look-up was ordered; the reconciler found it done (failures.md §6.10)."""
    story = stand(at.unknown, engine, settings)
    story.order("result_by_hand", result="done")
    saw = {"seen_version": story.case.version, "action_status": story.effect.status}
    story.order("reconcile", "recoverer")
    story.run()
    assert story.effect.confirmed_by == "lookup"
    recovery = Recovery.objects.get(kind="result_by_hand")
    with pytest.raises((VersionMoved, RecoveryEnded)):
        authorise_recovery(recovery=recovery, person=engine.approver, **saw)
    recovery.refresh_from_db()
    assert (recovery.status, recovery.outcome, recovery.authorised_by) == ("refused", "version_moved", None)
    assert story.effect.confirmed_by == "lookup"
    clean()


def test_the_signature_carries_the_status_it_saw(engine: Engine, settings: Any) -> None:
    story = stand(at.unknown, engine, settings)
    story.order("result_by_hand")
    with pytest.raises(RecoveryNotPossible) as refused:
        story.sign(action_status="REQUESTED")
    assert refused.value.params["reason"] == "status_changed"
    assert (story.effect.status, the_order(story).status) == ("UNKNOWN", "refused")
    with pytest.raises(RecoveryEnded):
        story.sign()


def test_the_same_is_ordered_once_at_a_time(engine: Engine, settings: Any) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    first = story.order("finish_by_hand").recovery
    with pytest.raises(RecoveryWaits) as refused:
        story.order("finish_by_hand", "recoverer")
    assert refused.value.params["recovery"] == first.public_id
    take_back_recovery(recovery=first, person=engine.person("operator"))
    assert (the_order(story).status, story.history()[-1]) == ("withdrawn", "recovery.withdrawn")
    story.order("finish_by_hand", "recoverer")
    take_back_recovery(recovery=the_order(story), person=engine.approver)
    assert (the_order(story).status, story.history()[-1]) == ("refused", "recovery.declined")
    with pytest.raises(RecoveryEnded):
        take_back_recovery(recovery=first, person=engine.person("operator"))


def test_an_order_that_the_case_overtook_stands_in_nobodys_way(engine: Engine, settings: Any) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    old = story.order("finish_by_hand").recovery
    story.order("observe_again")
    story.run()
    story.decide("reject", next="by_hand", person=engine.person("second"))
    story.order("finish_by_hand")
    old.refresh_from_db()
    assert (old.status, old.outcome) == ("refused", "version_moved")
    story.sign()
    assert (story.state, story.case.outcome) == ("COMPLETED", "by_hand")
    assert story.writes() == []
    clean()


def test_who_ordered_or_signed_a_recovery_does_not_decide_on_what_follows(engine: Engine, settings: Any) -> None:
    story = stand(at.unknown_without_look_up, engine, settings)
    story.order("result_by_hand", result="not_done")
    story.sign("second")
    story.run()
    story.order("observe_again", "recoverer")
    story.run()
    people = {engine.person(who).pk for who in ("operator", "second", "recoverer")}
    assert people <= set(story.proposal.causers)
    with pytest.raises(CauserMayNotDecide):
        story.decide(person=engine.person("second"))


# The message


def test_a_message_sent_again_is_a_new_action_that_names_the_one_before(engine: Engine, settings: Any) -> None:
    story = stand(at.told_nobody, engine, settings)
    first, plan = story.notice, story.proposal
    story.order("send_notice")
    assert story.state == "NOTIFYING"
    story.run()
    again = story.notice
    assert (story.state, story.case.outcome) == ("COMPLETED", "done")
    assert (Action.objects.get(pk=first.pk).status, again.status) == ("REFUSED", "CONFIRMED")
    assert again.key != first.key
    resend = Proposal.objects.filter(case_id=story.id).latest("number")
    assert (resend.has_effects, resend.needs_approval, resend.number) == (False, False, plan.number + 1)
    assert [spec.repeats for spec in actions_of(opened(resend.snapshot))] == [first.public_id]
    assert (len(story.writes()), len(story.letters())) == (1, 1)
    clean()


def test_a_message_may_be_sent_again_and_again_and_the_last_word_counts(engine: Engine, settings: Any) -> None:
    story = stand(at.told_nobody, engine, settings)
    mail_fault(story, "error_before", status=422)
    story.order("send_notice")
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "notice_unconfirmed")
    story.order("send_notice", "recoverer")
    story.run()
    assert (story.state, len(story.letters())) == ("COMPLETED", 1)
    assert Action.objects.filter(case_id=story.id, kind="notice").count() == 3
    clean()


def test_a_closing_message_sent_again_closes_the_case_without_change(engine: Engine, settings: Any) -> None:
    story = stand(at.told_nobody_of_nothing, engine, settings)
    story.order("send_notice")
    story.run()
    assert (story.state, story.case.outcome, len(story.letters())) == ("CLOSED_NO_CHANGE", "no_change", 1)
    clean()


def test_finishing_without_the_message_says_partly_and_sends_nothing(engine: Engine, settings: Any) -> None:
    story = stand(at.told_nobody, engine, settings)
    story.order("finish_without_notice", reason="Клиент знает")
    assert (story.state, story.case.outcome, story.letters()) == ("COMPLETED", "partial", [])
    clean()


# Input, history, form


def test_corrected_input_is_a_new_revision_and_the_facts_are_read_for_it(engine: Engine, settings: Any) -> None:
    story = stand(at.refused, engine, settings)
    other = engine.open(about=story)
    story.order("correct_input", data={"payment_id": other.payment}, reason="Не тот платёж")
    assert story.told("case.input_corrected")["fields"] == ["payment_id"]
    revision = IntakeRevision.objects.filter(case_id=story.id).latest("number")
    assert (revision.number, revision.body["payment_id"]) == (2, other.payment)
    assert revision.told_by_person == engine.person("operator").pk
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert engine.person("operator").pk in story.proposal.causers
    clean()


@pytest.mark.parametrize(
    ("data", "code"),
    [(None, "wrong_data"), ({}, "empty"), ({"refund": "1"}, "unknown_field"), ({"payment_id": 7}, "wrong_type")],
)
def test_a_correction_of_another_form_is_refused(data: Any, code: str, engine: Engine, settings: Any) -> None:
    story = stand(at.refused, engine, settings)
    engine.person("operator")
    before = fingerprint()
    with pytest.raises(BadInput) as refused:
        story.order("correct_input", data=data)
    assert refused.value.code == code
    assert fingerprint() == before


def test_a_correction_that_changes_nothing_is_refused(engine: Engine, settings: Any) -> None:
    story = stand(at.refused, engine, settings)
    with pytest.raises(BadInput) as refused:
        story.order("correct_input", data={"payment_id": story.payment})
    assert refused.value.code == "unchanged"
    assert story.state == "NEEDS_ATTENTION"


def test_correcting_input_also_needs_the_right_to_supply_data(engine: Engine, settings: Any) -> None:
    story = stand(at.refused, engine, settings)
    with pytest.raises(NotPermitted) as refused:
        story.order("correct_input", "recoverer", data={"claim": "Другое"})
    assert refused.value.params["right"] == "supply_data"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"kind": "set_state"}, "unknown_kind"),
    ({"seen_version": "3"}, "wrong_type"),
    ({"seen_version": True}, "wrong_type"),
    ({"reason": "  "}, "empty"),
    ({"reason": "x" * 4001}, "too_long"),
    ({"reason": "a\x00b"}, "nul"),
    ({"kind": "finish_by_hand", "evidence": " "}, "empty"),
    ({"kind": "finish_by_hand", "result": "done"}, "wrong_result"),
    ({"kind": "observe_again", "evidence": "№ 7"}, "not_wanted"),
    ({"kind": "observe_again", "action": "A-1"}, "not_wanted"),
    ({"kind": "observe_again", "data": {"claim": "x"}}, "wrong_data"),
]


@pytest.mark.parametrize(("said", "code"), WRONG, ids=[f"{code}-{number}" for number, (_, code) in enumerate(WRONG)])
def test_an_order_of_another_form_is_refused_before_anything_is_looked_at(
    said: dict[str, Any], code: str, engine: Engine, settings: Any
) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    engine.person("operator")
    before = fingerprint()
    words = {"kind": "observe_again"} | said
    with pytest.raises(BadInput) as refused:
        story.order(words.pop("kind"), **words)
    assert refused.value.code == code
    assert fingerprint() == before


@pytest.mark.parametrize("missing", ["action", "action_status", "result", "evidence"])
def test_a_result_by_hand_names_action_status_result_and_evidence(missing: str, engine: Engine, settings: Any) -> None:
    story = stand(at.unknown, engine, settings)
    with pytest.raises(BadInput):
        story.order("result_by_hand", **{missing: ""})
    assert not Recovery.objects.exists()


@pytest.mark.parametrize("who", ["viewer", "approver"])
def test_ordering_needs_the_right_and_the_refusal_is_recorded(who: str, engine: Engine, settings: Any) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    with pytest.raises(NotPermitted):
        story.order("close", who)
    assert story.told("recovery.refused") == {
        "order": "close",
        "state": "NEEDS_ATTENTION",
        "code": "not_permitted",
        "guards": [],
    }


def test_a_history_cannot_be_buried_under_refusals(engine: Engine, settings: Any) -> None:
    story = stand(at.telling, engine, settings)
    for _ in range(25):
        with pytest.raises(ForbiddenTransition):
            story.order("close")
    assert story.history().count("transition.refused") == 20


def test_what_a_person_writes_is_kept_as_personal_text_and_never_in_the_history(engine: Engine, settings: Any) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    said = {"reason": "Звонил Иван Петрович", "evidence": "Письмо от ivan@example.org"}
    row = story.order("finish_by_hand", **said).recovery
    story.sign()
    texts = read_texts(story.id, [row.reason_field, row.evidence_field])
    assert texts == {row.reason_field: said["reason"], row.evidence_field: said["evidence"]}
    bodies = b"".join(bytes(body) for body in AuditEvent.objects.values_list("body", flat=True))
    assert b"ivan@" not in bodies and "Звонил".encode() not in bodies


def test_closing_an_approved_plan_in_time_sends_nothing_and_frees_its_subject(engine: Engine, settings: Any) -> None:
    story = stand(at.sent_and_turned_away, engine, settings)
    story.order("close", "recoverer")
    story.run_later()
    assert (story.state, story.effect.status, story.activations()) == ("CLOSED_NO_CHANGE", "CANCELLED", [])
    other = engine.approved(about=story)
    other.run()
    assert other.state == "COMPLETED"
    clean()


# What the database itself keeps


def change(**fields: Any) -> None:
    with transaction.atomic():
        Recovery.objects.update(**fields)


def test_the_database_keeps_an_order_as_it_was_given_and_ends_it_once(
    engine: Engine, settings: Any, as_owner: psycopg.Connection[Any]
) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    story.order("finish_by_hand")
    for fields in ({"kind": "close"}, {"case_version": 1}, {"evidence_field": "other"}, {"action_status": "CONFIRMED"}):
        with pytest.raises((InternalError, ProgrammingError)):
            change(**fields)
        column, value = next(iter(fields.items()))
        with pytest.raises(psycopg.Error):
            as_owner.execute(f"UPDATE operations_recovery SET {column} = %s", [value])
    story.sign()
    with pytest.raises((InternalError, ProgrammingError)):
        change(outcome="other")
    with pytest.raises((InternalError, ProgrammingError)), transaction.atomic():
        Recovery.objects.all().delete()
    with pytest.raises(psycopg.Error):
        as_owner.execute("DELETE FROM operations_recovery")


def test_the_database_itself_keeps_one_person_from_being_two(engine: Engine, settings: Any) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    story.order("finish_by_hand")
    operator, now = engine.person("operator"), engine.now()
    with pytest.raises(IntegrityError, match="recovery_two_persons_differ"):
        change(authorised_by=operator, authorised_at=now, status="done", ended_at=now)
    with pytest.raises(IntegrityError, match="recovery_some_need_a_second"):
        change(status="done", ended_at=now)


def test_the_database_itself_keeps_one_open_order_of_a_kind_and_wants_evidence(engine: Engine, settings: Any) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    row = story.order("finish_by_hand").recovery
    row.pk, row.public_id, row._state.adding = None, "R-0000000000", True
    with pytest.raises(IntegrityError, match="recovery_one_open_of_a_kind"), transaction.atomic():
        row.save(force_insert=True)
    row.evidence_field, row.status, row.ended_at = "", Recovery.Status.WITHDRAWN, engine.now()
    with pytest.raises(IntegrityError, match="recovery_has_its_evidence"), transaction.atomic():
        row.save(force_insert=True)
    with connection.cursor() as cursor, pytest.raises(ProgrammingError), transaction.atomic():
        cursor.execute("TRUNCATE operations_recovery")


def test_a_sender_asleep_that_wakes_after_not_done_was_recorded_sends_nothing(engine: Engine, settings: Any) -> None:
    """failures.md §6.8, at a system without keys: the lease ended by the sender's own steady clock."""
    settings.ADAPTERS = settings.ADAPTERS | {"subscriptions": "tests.adapters.PromptKeyless"}
    story = engine.approved()
    task = story.task("execute")
    asleep = replace(claimed(task), taken=time.monotonic() - 60)

    def meanwhile() -> None:
        """Others take over and find nothing out, two people do, and a new plan is approved and sent."""
        engine.lapse_lease(task)
        story.run()
        at.patience_ends(story)
        story.run_later()
        assert story.standing == ("NEEDS_ATTENTION", "unknown_too_long")
        story.order("result_by_hand", result="not_done")
        story.sign()
        story.run()
        story.order("observe_again")
        story.run()
        story.decide(person=engine.person("second"))
        story.run()
        assert (story.state, len(story.activations())) == ("COMPLETED", 1)

    hooks.at("before_perform", meanwhile)
    with pytest.raises(LeaseLost):
        asleep.definition.run(asleep)
    assert len(story.activations()) == len(old_writes(story)) == 1
    statuses = Action.objects.filter(case_id=story.id, kind="effect").order_by("id").values_list("status", flat=True)
    assert list(statuses) == ["REFUSED", "CONFIRMED"]
    clean()
