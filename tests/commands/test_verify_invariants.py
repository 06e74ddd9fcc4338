"""Each promise goes red when a row breaks it, and is green for everything that really happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql

from caseflow.domain.lifecycle import Event
from caseflow.invariants.outside import ledger_agrees
from caseflow.invariants.running import INVARIANTS, LEDGER
from tests.commands.conftest import Ran, Run
from tests.driving import Engine, Story


@pytest.fixture
def verify(run: Run) -> Callable[..., Ran]:
    return lambda *more: run("verify_invariants", "--json", *more)


def red(done: Ran) -> dict[str, list[dict[str, str]]]:
    """Invariant → the violations it names."""
    return {one["name"]: one["examples"] for one in done.json()["invariants"] if one["violations"]}


def corrupt(owner: psycopg.Connection[Any], table: str, statement: str, values: Sequence[Any] = ()) -> None:
    """As the owner, with every trigger of the table set aside and put back in its mode."""
    with owner.transaction(), owner.cursor() as cursor:
        cursor.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal", [table])
        triggers = [sql.Identifier(name) for (name,) in cursor.fetchall()]
        for trigger in triggers:
            cursor.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER {}").format(sql.Identifier(table), trigger))
        cursor.execute(statement, values)  # type: ignore[arg-type]
        for trigger in triggers:
            cursor.execute(sql.SQL("ALTER TABLE {} ENABLE ALWAYS TRIGGER {}").format(sql.Identifier(table), trigger))


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


def test_an_empty_installation_is_clean(verify: Callable[..., Ran], committing_database: None) -> None:
    done = verify()

    assert (done.code, done.json()["clean"]) == (0, True)
    assert [one["name"] for one in done.json()["invariants"]] == [*(one.name for one in INVARIANTS), LEDGER]


def test_everything_that_really_happens_is_clean(engine: Engine, verify: Callable[..., Ran]) -> None:
    completed(engine)
    in_doubt(engine)
    waiting(engine)
    exhausted(engine)
    repeated(engine)
    for payment in ({"status": "pending"}, {"status": "refunded"}, {"amount": "1.00"}):
        engine.open(payment=payment).run()
    engine.open(missing=["customers"]).run()
    changed = engine.approved()
    changed.change("payments", status="refunded")
    changed.run_later()
    returned = engine.proposed()
    returned.decide("return")
    returned.run()
    rejected = engine.proposed()
    rejected.decide("reject", next="close")
    engine.open()  # received, and nobody worked on it yet

    done = verify("--ledger", engine.outside.url)

    assert red(done) == {}
    assert (done.code, done.json()["violations"]) == (0, 0)
    checked = {one["name"]: one["checked"] for one in done.json()["invariants"]}
    assert checked["one_case_per_ticket"] == 13
    assert checked["results_are_confirmed"] == 2
    assert all(checked.values())


def test_a_withdrawn_and_approved_plan_is_clean(engine: Engine, verify: Callable[..., Ran], settings: Any) -> None:
    from actions.withdrawing import withdraw

    settings.CASEFLOW_UNDO_SECONDS = 60
    story = engine.approved()
    withdraw(proposal=story.proposal, person=engine.approver)
    assert red(verify()) == {}
    story.decide()
    assert red(verify()) == {}
    story.run_later()
    assert story.state == "COMPLETED"
    assert red(verify()) == {}


def test_text_names_the_case_and_the_run_ends_with_3(engine: Engine, run: Run) -> None:
    story = waiting(engine)
    corrupt(engine.owner, "cases_case", "UPDATE cases_case SET effects_done = 7 WHERE id = %s", [story.id])

    done = run("verify_invariants")

    assert (done.code, done.failure) == (3, "1 violations")
    assert f"{story.case.public_id:<14} effects_done is 7, the rows say 0" in done.out
    assert " 4 ledger_agrees" in done.out and "no ledger was named" in done.out


def test_many_violations_are_counted_and_twenty_are_named(engine: Engine, verify: Callable[..., Ran]) -> None:
    for _ in range(22):
        engine.open()
    corrupt(engine.owner, "cases_case", "UPDATE cases_case SET effects_done = 7")

    (guards,) = [one for one in verify().json()["invariants"] if one["violations"]]

    assert (guards["violations"], len(guards["examples"])) == (22, 20)


def test_a_ledger_that_does_not_answer_is_a_failed_run_and_no_verdict(run: Run, committing_database: None) -> None:
    assert run("verify_invariants", "--ledger=http://127.0.0.1:9").code == 1


Make = Callable[[Engine], Story]

#: what is broken → (invariant, story, table, statement with %(case)s)
BROKEN: dict[str, tuple[str, Make, str, str]] = {
    "two spellings of one id": (
        "one_case_per_ticket",
        waiting,
        "cases_case",
        "UPDATE cases_case SET external_id = external_id || chr(8203), external_id_normal = external_id_normal || chr(8203)"
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
        "DELETE FROM approvals_decision WHERE proposal_id IN (SELECT id FROM approvals_proposal WHERE case_id = %(case)s)",
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
        "INSERT INTO approvals_decision (proposal_id, person_id, kind, digest, case_version, decisive, next, reason_field, at)"
        " SELECT d.proposal_id, person_id, 'withdraw', digest, case_version, true, '', '', d.at FROM approvals_decision d"
        " JOIN approvals_proposal p ON p.id = d.proposal_id WHERE p.case_id = %(case)s",
    ),
    "sent during a pause of its system": (
        "sends_follow_decisions",
        completed,
        "cases_pause",
        "INSERT INTO cases_pause (kind, key, reason, at, ended_at) SELECT 'system', 'subscriptions', '',"
        " now() - interval '1 day', now() + interval '1 day'",
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
        "UPDATE audit_auditevent SET body = convert_to(replace(convert_from(body, 'UTF8'), 'approver', 'somebody'), 'UTF8')"
        ", kind = 'facts.observed' WHERE case_id = %(case)s AND seq = 3",
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
        "UPDATE actions_action SET settled_at = settled_at + interval '1 day' WHERE case_id = %(case)s AND kind = 'effect'",
    ),
    "a wait for a decision in doubt": (
        "nothing_is_planned_in_doubt",
        waiting,
        "cases_case",
        "UPDATE cases_case SET effects_open = 1 WHERE id = %(case)s",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_row_turns_its_promise_red_and_names_the_case(
    what: str, engine: Engine, verify: Callable[..., Ran]
) -> None:
    invariant, make, table, statement = BROKEN[what]
    story, bystander = make(engine), completed(engine)
    name, innocent = story.case.public_id, bystander.case.public_id
    assert red(verify()) == {}

    for part in statement.split(";"):
        corrupt(engine.owner, table, part, {"case": story.id})  # type: ignore[arg-type]

    done = verify()
    assert done.code == 3
    named = red(done).get(invariant, [])
    assert name in {one["case"] for one in named}
    if table != "cases_pause":
        assert innocent not in {one["case"] for examples in red(done).values() for one in examples}


def test_each_invariant_has_been_seen_red() -> None:
    assert {invariant for invariant, _, _, _ in BROKEN.values()} == {one.name for one in INVARIANTS}


def test_the_ledger_outside_has_exactly_one_effect_for_each_confirmed_key(engine: Engine) -> None:
    story = completed(engine)
    effects = [
        one for one in engine.outside.ask("GET", "/ledger").json()["effects"] if one["key"].startswith("restore")
    ]
    ours = [one for one in effects if one["key"] in {one["key"] for one in [*story.activations(), *story.letters()]}]
    effect = story.activations()[0]

    assert ledger_agrees(ours).violations == 0
    assert ledger_agrees([*ours, effect]).shown[0].problem == f"{effect['key']} had 2 effects"
    assert ledger_agrees([one for one in ours if one != effect]).shown[0].case == story.case.public_id
    assert ledger_agrees([*ours, {"key": "a stranger's"}]).violations == 0
    assert ledger_agrees([*ours, *[{"key": "a stranger's"}] * 2]).violations == 1


def test_an_effect_outside_of_what_was_refused_is_found(engine: Engine) -> None:
    story = exhausted(engine)

    assert ledger_agrees([]).violations == 0
    assert (
        ledger_agrees([{"key": story.effect.key}]).shown[0].problem
        == f"{story.effect.key} is REFUSED and had an effect"
    )


def test_the_whole_runs_on_one_moment_beside_writers(engine: Engine, verify: Callable[..., Ran]) -> None:
    """What a worker writes while the promises are asked does not tear the picture."""
    from caseflow.invariants.running import ask_all

    story = engine.approved()
    asked = ask_all()
    first, _ = next(asked)
    engine.owner.execute("UPDATE cases_task SET available_at = available_at - %s", [timedelta(seconds=1)])
    corrupt(engine.owner, "cases_case", "UPDATE cases_case SET effects_done = 7 WHERE id = %s", [story.id])

    assert first is INVARIANTS[0]
    assert [finding.violations for _, finding in asked] == [0] * len(INVARIANTS)
    assert verify().code == 3


def test_events_of_the_table_are_named_as_the_history_names_them() -> None:
    assert f"case.{Event.CHECK_STARTED}" == "case.check_started"
