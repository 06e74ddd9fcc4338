"""Stories and, for each promise, the rows that break it: what no worker would ever write, and a person with the owner's
password could."""

from __future__ import annotations

from collections.abc import Callable

from accounts.models import Person
from accounts.principal import SYSTEM
from accounts.services import create_departments, grant_role
from caseflow.domain.roles import Role
from operations.reporting import request_report
from tests.driving import Engine, Story

Make = Callable[[Engine], Story]


def completed(engine: Engine) -> Story:
    story = engine.approved()
    story.run_later()
    assert story.state == "COMPLETED"
    return story


def in_doubt(engine: Engine) -> Story:
    story = engine.approved()
    story.fault("drop_after")
    story.run("execute")
    assert story.case.effects_open == 1
    return story


def refused(engine: Engine) -> Story:
    """A proposal that somebody rejects: nothing is changed."""
    story = engine.proposed()
    story.decide("reject", next="close", reason="-")
    story.run()
    assert story.state == "CLOSED_NO_CHANGE"
    return story


def waiting(engine: Engine) -> Story:
    return engine.proposed()


def exhausted(engine: Engine) -> Story:
    """An outside system that says no: the case needs attention."""
    story = engine.approved()
    story.fault("error_before", status=422)
    story.run("execute")
    assert story.state == "NEEDS_ATTENTION"
    return story


def repeated(engine: Engine) -> Story:
    """A request that was lost on the way, looked up, and sent again under its own key."""
    story = engine.approved()
    story.fault("drop_before")
    story.run("execute")
    story.run_later()
    story.run_later()
    assert story.state == "COMPLETED"
    assert [kind for kind, _, _ in story.calls()] == ["perform", "lookup", "perform"]
    return story


def reported(engine: Engine) -> Story:
    """A document that two people were told of."""
    (department,) = create_departments(organisation=engine.organisation, names=[("sales", "Sales")])
    names = ("alpha", "beta")
    for name in names:
        person = engine.person(name)
        Person.objects.filter(pk=person.pk).update(email=f"{name}-{department.pk}@example.org")
        where = {"organisation": engine.organisation, "department": department}
        grant_role(person=person, role=Role.REPORT_READER, by=SYSTEM, **where)
    asked = request_report(
        organisation=engine.organisation,
        department="sales",
        kind="requests",
        period="2024-10-01",
        principal=engine.person("operator"),
        recipients=names,
    )
    story = Story(engine, asked.edition.case_id, payment="", subscription="", customer="", email="")
    story.run()
    assert story.state == "COMPLETED", story.standing
    return story


#: what is broken → (invariant, story, table, statement with %(case)s)
BROKEN: dict[str, tuple[str, Make, str, str]] = {
    "two spellings of one id": (
        "one_case_per_ticket",
        waiting,
        "cases_case",
        "UPDATE cases_case SET external_id = external_id || chr(8203),"
        " external_id_normal = external_id_normal || chr(8203)"
        " WHERE id = %(case)s",
    ),
    "what was told first is gone": (
        "one_case_per_ticket",
        waiting,
        "cases_intakerevision",
        "DELETE FROM cases_intakerevision WHERE case_id = %(case)s",
    ),
    "the first event is gone": (
        "one_case_per_ticket",
        waiting,
        "audit_auditevent",
        "DELETE FROM audit_auditevent WHERE case_id = %(case)s AND seq = 1",
    ),
    "nothing ends a wait": (
        "open_cases_are_driven",
        waiting,
        "cases_task",
        "UPDATE cases_task SET status = 'cancelled', ended_at = now() WHERE case_id = %(case)s AND status = 'due'",
    ),
    "only an obsolete task is left": (
        "open_cases_are_driven",
        waiting,
        "cases_task",
        "UPDATE cases_task SET generation = 1 WHERE case_id = %(case)s AND status = 'due'",
    ),
    "attention without a reason": (
        "open_cases_are_driven",
        exhausted,
        "cases_case",
        "UPDATE cases_case SET reason = '' WHERE id = %(case)s",
    ),
    "a state without a history": (
        "histories_are_paths",
        waiting,
        "cases_case",
        "UPDATE cases_case SET state = 'EXECUTING' WHERE id = %(case)s",
    ),
    "a version without a transition": (
        "histories_are_paths",
        waiting,
        "cases_case",
        "UPDATE cases_case SET version = version + 1 WHERE id = %(case)s",
    ),
    "a step that no table has": (
        "histories_are_paths",
        completed,
        "audit_auditevent",
        "UPDATE audit_auditevent SET kind = 'case.effect_refused' WHERE case_id = %(case)s AND to_state = 'NOTIFYING'",
    ),
    "a step from elsewhere": (
        "histories_are_paths",
        completed,
        "audit_auditevent",
        "UPDATE audit_auditevent SET from_state = 'CHECKING' WHERE case_id = %(case)s AND to_state = 'COMPLETED'",
    ),
    "a step in the middle is gone": (
        "histories_are_paths",
        completed,
        "audit_auditevent",
        "DELETE FROM audit_auditevent WHERE case_id = %(case)s AND version = 3",
    ),
    "effects_open without an effect": (
        "guard_columns_equal_rows",
        in_doubt,
        "cases_case",
        "UPDATE cases_case SET effects_open = 0 WHERE id = %(case)s",
    ),
    "effects_done without an effect": (
        "guard_columns_equal_rows",
        waiting,
        "cases_case",
        "UPDATE cases_case SET effects_done = 1 WHERE id = %(case)s",
    ),
    "plan_begun without a call": (
        "guard_columns_equal_rows",
        waiting,
        "cases_case",
        "UPDATE cases_case SET plan_begun = true WHERE id = %(case)s",
    ),
    "a call without plan_begun": (
        "guard_columns_equal_rows",
        completed,
        "cases_case",
        "UPDATE cases_case SET plan_begun = false WHERE id = %(case)s",
    ),
    "a closed case that is in no count": (
        "counts_equal_rows",
        refused,
        "cases_ended",
        "DELETE FROM cases_ended WHERE what = 'case' AND state = 'CLOSED_NO_CHANGE'",
    ),
    "done with an effect in doubt": (
        "results_are_confirmed",
        completed,
        "actions_action",
        "UPDATE actions_action SET status = 'UNKNOWN' WHERE case_id = %(case)s AND kind = 'effect'",
    ),
    "done with an unconfirmed notice": (
        "results_are_confirmed",
        completed,
        "actions_action",
        "UPDATE actions_action SET status = 'REFUSED' WHERE case_id = %(case)s AND kind = 'notice'",
    ),
    "done without ever sending": (
        "results_are_confirmed",
        completed,
        "actions_externalcall",
        "DELETE FROM actions_externalcall WHERE action_id IN (SELECT id FROM actions_action WHERE case_id = %(case)s)",
    ),
    "done with an outcome that says nothing": (
        "results_are_confirmed",
        completed,
        "cases_case",
        "UPDATE cases_case SET outcome = '' WHERE id = %(case)s",
    ),
    "an outcome before the end": (
        "results_are_confirmed",
        waiting,
        "cases_case",
        "UPDATE cases_case SET outcome = 'done' WHERE id = %(case)s",
    ),
    "confirmed without a later reading": (
        "results_are_confirmed",
        completed,
        "cases_observation",
        "DELETE FROM cases_observation WHERE case_id = %(case)s AND value ->> 'status' = 'active'",
    ),
    "a receipt that nobody gave": (
        "results_are_confirmed",
        completed,
        "actions_externalcall",
        "UPDATE actions_externalcall SET outcome = 'unknown' FROM actions_action a"
        " WHERE a.id = action_id AND a.case_id = %(case)s AND a.kind = 'notice'",
    ),
    "nobody says how it is known": (
        "results_are_confirmed",
        completed,
        "actions_action",
        "UPDATE actions_action SET confirmed_by = '' WHERE case_id = %(case)s",
    ),
    "sent without a decision": (
        "sends_follow_decisions",
        completed,
        "approvals_decision",
        "DELETE FROM approvals_decision WHERE proposal_id IN"
        " (SELECT id FROM approvals_proposal WHERE case_id = %(case)s)",
    ),
    "decided on another digest": (
        "sends_follow_decisions",
        completed,
        "approvals_decision",
        "UPDATE approvals_decision SET digest = repeat('0', 64) WHERE proposal_id IN"
        " (SELECT id FROM approvals_proposal WHERE case_id = %(case)s)",
    ),
    "sent before the decision": (
        "sends_follow_decisions",
        completed,
        "approvals_decision",
        "UPDATE approvals_decision SET at = now() WHERE proposal_id IN"
        " (SELECT id FROM approvals_proposal WHERE case_id = %(case)s)",
    ),
    "sent after the approval had lapsed": (
        "sends_follow_decisions",
        completed,
        "approvals_decision",
        "UPDATE approvals_decision SET execute_by = at WHERE proposal_id IN"
        " (SELECT id FROM approvals_proposal WHERE case_id = %(case)s)",
    ),
    "decided after the proposal had expired": (
        "sends_follow_decisions",
        completed,
        "approvals_proposal",
        "UPDATE approvals_proposal SET valid_until = at WHERE case_id = %(case)s",
    ),
    "decided by a causer": (
        "sends_follow_decisions",
        completed,
        "approvals_proposal",
        "UPDATE approvals_proposal p SET causers = (SELECT array_agg(person_id) FROM approvals_decision d"
        " WHERE d.proposal_id = p.id) WHERE case_id = %(case)s",
    ),
    "a plan that is not what was hashed": (
        "sends_follow_decisions",
        completed,
        "approvals_proposal",
        "UPDATE approvals_proposal SET snapshot = snapshot || ' '::bytea WHERE case_id = %(case)s",
    ),
    "no approval where the process needs one": (
        "sends_follow_decisions",
        completed,
        "approvals_proposal",
        "UPDATE approvals_proposal SET needs_approval = false WHERE case_id = %(case)s",
    ),
    "another subject than the plan's": (
        "sends_follow_decisions",
        completed,
        "actions_action",
        "UPDATE actions_action SET subject = 'S-0' WHERE case_id = %(case)s AND kind = 'effect'",
    ),
    "sent although withdrawn": (
        "sends_follow_decisions",
        completed,
        "approvals_decision",
        "INSERT INTO approvals_decision (proposal_id, person_id, kind, digest, case_version, decisive, next,"
        " reason_field, at) SELECT d.proposal_id, person_id, 'withdraw', d.digest, case_version, true, '', '', d.at"
        " FROM approvals_decision d JOIN approvals_proposal p ON p.id = d.proposal_id WHERE p.case_id = %(case)s",
    ),
    "sent during a pause of its system": (
        "sends_follow_decisions",
        completed,
        "cases_pause",
        "INSERT INTO cases_pause (public_id, kind, key, reason, at, ended_at) SELECT 'S-0000000000', 'system',"
        " 'subscriptions', '', now() - interval '1 day', now() + interval '1 day'",
    ),
    "sent during a pause of its process in its organisation": (
        "sends_follow_decisions",
        completed,
        "cases_pause",
        "INSERT INTO cases_pause (public_id, kind, key, organisation_id, reason, at, ended_at)"
        " SELECT 'S-0000000000', 'process', process, organisation_id, '', now() - interval '1 day', now()"
        " FROM cases_case WHERE id = %(case)s",
    ),
    "tried too often": (
        "attempts_have_limits",
        completed,
        "cases_task",
        "UPDATE cases_task SET attempt = 50 WHERE case_id = %(case)s AND stage = 'execute'",
    ),
    "lost its worker too often": (
        "attempts_have_limits",
        completed,
        "cases_task",
        "UPDATE cases_task SET lost = 6, attempt = 7 WHERE case_id = %(case)s AND stage = 'execute'",
    ),
    "an attempt that was not counted": (
        "attempts_have_limits",
        completed,
        "cases_task",
        "UPDATE cases_task SET attempt = 0 WHERE case_id = %(case)s AND stage = 'execute'",
    ),
    "an attempt that never ended": (
        "attempts_have_limits",
        completed,
        "cases_attempt",
        "UPDATE cases_attempt SET ended_at = NULL FROM cases_task t WHERE t.id = task_id AND t.case_id = %(case)s",
    ),
    "exhausted, and nobody is told": (
        "attempts_have_limits",
        waiting,
        "cases_task",
        "UPDATE cases_task SET status = 'failed', ended_at = now() WHERE case_id = %(case)s AND stage = 'expire'",
    ),
    "sent again without a look-up": (
        "doubt_needs_evidence",
        repeated,
        "actions_externalcall",
        "DELETE FROM actions_externalcall e USING actions_action a WHERE a.id = e.action_id AND a.case_id = %(case)s"
        " AND e.kind = 'lookup'",
    ),
    "sent again although the look-up knew nothing": (
        "doubt_needs_evidence",
        repeated,
        "actions_externalcall",
        "UPDATE actions_externalcall e SET outcome = 'unknown' FROM actions_action a"
        " WHERE a.id = e.action_id AND a.case_id = %(case)s AND e.kind = 'lookup'",
    ),
    "sent again after success": (
        "doubt_needs_evidence",
        repeated,
        "actions_externalcall",
        "UPDATE actions_externalcall SET outcome = 'confirmed' WHERE id ="
        " (SELECT min(e.id) FROM actions_externalcall e JOIN actions_action a ON a.id = e.action_id"
        " WHERE a.case_id = %(case)s)",
    ),
    "sent again with a dead key": (
        "doubt_needs_evidence",
        repeated,
        "actions_externalcall",
        "UPDATE actions_externalcall SET begun_at = begun_at + interval '2 days' WHERE id ="
        " (SELECT max(e.id) FROM actions_externalcall e JOIN actions_action a ON a.id = e.action_id"
        " WHERE a.case_id = %(case)s AND e.kind = 'perform' AND a.kind = 'effect')",
    ),
    "refused in doubt": (
        "doubt_needs_evidence",
        in_doubt,
        "actions_action",
        "UPDATE actions_action SET status = 'REFUSED' WHERE case_id = %(case)s",
    ),
    "cancelled in doubt": (
        "doubt_needs_evidence",
        in_doubt,
        "actions_action",
        "UPDATE actions_action SET status = 'CANCELLED' WHERE case_id = %(case)s",
    ),
    "an event that was changed": (
        "chains_verify",
        completed,
        "audit_auditevent",
        "UPDATE audit_auditevent SET body = convert_to(replace(convert_from(body, 'UTF8'), 'system', 'sistem'), 'UTF8')"
        " WHERE case_id = %(case)s AND seq = 3",
    ),
    "an event that was moved in time": (
        "chains_verify",
        completed,
        "audit_auditevent",
        "UPDATE audit_auditevent SET at_us = at_us + 1 WHERE case_id = %(case)s AND seq = 2",
    ),
    "an event in the middle is gone": (
        "chains_verify",
        completed,
        "audit_auditevent",
        "DELETE FROM audit_auditevent WHERE case_id = %(case)s AND seq = 3",
    ),
    "the last event is gone": (
        "chains_verify",
        completed,
        "audit_auditevent",
        "DELETE FROM audit_auditevent WHERE case_id = %(case)s AND to_state = 'COMPLETED'",
    ),
    "two events changed places": (
        "chains_verify",
        completed,
        "audit_auditevent",
        "UPDATE audit_auditevent SET seq = -seq WHERE case_id = %(case)s AND seq IN (2, 3);"
        "UPDATE audit_auditevent SET seq = 5 + seq WHERE case_id = %(case)s AND seq < 0",
    ),
    "a column that says something else than the hashed body": (
        "chains_verify",
        completed,
        "audit_auditevent",
        "UPDATE audit_auditevent SET from_state = 'CHECKING' WHERE case_id = %(case)s AND to_state = 'COMPLETED'",
    ),
    "a head that is another one": (
        "chains_verify",
        completed,
        "cases_case",
        "UPDATE cases_case SET audit_head = sha256('x') WHERE id = %(case)s",
    ),
    "a plan made in doubt": (
        "nothing_is_planned_in_doubt",
        in_doubt,
        "approvals_proposal",
        "UPDATE approvals_proposal SET at = now() + interval '1 second' WHERE case_id = %(case)s",
    ),
    "a decision taken in doubt": (
        "nothing_is_planned_in_doubt",
        in_doubt,
        "approvals_decision",
        "UPDATE approvals_decision SET at = now() + interval '1 second' WHERE proposal_id IN"
        " (SELECT id FROM approvals_proposal WHERE case_id = %(case)s)",
    ),
    "closed in doubt": (
        "nothing_is_planned_in_doubt",
        completed,
        "actions_action",
        "UPDATE actions_action SET settled_at = settled_at + interval '1 day'"
        " WHERE case_id = %(case)s AND kind = 'effect'",
    ),
    "a wait for a decision in doubt": (
        "nothing_is_planned_in_doubt",
        waiting,
        "cases_case",
        "UPDATE cases_case SET effects_open = 1 WHERE id = %(case)s",
    ),
    "a document that no action made": (
        "one_current_document",
        reported,
        "documents_document",
        "UPDATE documents_document SET action_key = 'department_report:A-0000000000'",
    ),
    "two messages about one document to one person": (
        "one_current_document",
        reported,
        "actions_action",
        "UPDATE actions_action SET subject = 'addresses.p0' WHERE case_id = %(case)s AND kind = 'notice'",
    ),
}
