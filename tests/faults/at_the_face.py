"""The web server dies while a client waits for it (C01–C03, C18, C19)."""

from __future__ import annotations

from typing import Any

from tests.faults.approver import WAITING
from tests.faults.harness import Harness
from tests.faults.proxy import Rule
from tests.faults.result import Result
from tests.faults.scenario import death_of, done_once, note_hit, note_recovery, scenario
from tests.flows.running import Ticket


def cases_of(harness: Harness, ticket: Ticket) -> list[str]:
    rows = harness.ask("SELECT public_id FROM cases_case WHERE external_id = %s", ticket.external_id)
    return [row["public_id"] for row in rows]


@scenario("C01", "the web server dies before COMMIT", "intake.before_commit")
def before_commit(harness: Harness, result: Result) -> None:
    ticket = harness.ticket("restore_access")
    armed = harness.armed.arm("intake.before_commit", ticket.external_id, action="exit")
    assert harness.client.open_once(ticket.body) is None, "it was answered"
    note_hit(harness, result, armed)
    death_of(harness, result)
    assert cases_of(harness, ticket) == [], "something was stored"
    harness.client.open(ticket.body)
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)


@scenario("C02", "the connection to PostgreSQL is cut before the reply to COMMIT")
def commit_in_doubt(harness: Harness, result: Result) -> None:
    ticket = harness.ticket("restore_access")
    rule = harness.doors.database_of_web.add(Rule(ticket.external_id.encode(), b"COMMIT"))
    answer = harness.client.open_once(ticket.body)
    assert rule.fired.is_set(), "the connection was not cut"
    assert answer is None or answer.status_code >= 500, f"a promise was made in doubt: {answer}"
    result.exit_status = "connection cut"
    stored = cases_of(harness, ticket)
    assert len(stored) == 1, "the commit did not reach the server"
    assert harness.client.open(ticket.body) == stored[0], "the repeat returned another case"
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)


@scenario("C03", "the web server dies after COMMIT, before its answer", "intake.after_commit")
def before_the_answer(harness: Harness, result: Result) -> None:
    ticket = harness.ticket("restore_access")
    armed = harness.armed.arm("intake.after_commit", ticket.external_id, action="exit")
    assert harness.client.open_once(ticket.body) is None, "it was answered"
    note_hit(harness, result, armed)
    death_of(harness, result)
    stored = cases_of(harness, ticket)
    assert len(stored) == 1, f"{len(stored)} cases"
    tasks = harness.ask(
        "SELECT 1 FROM cases_task t JOIN cases_case c ON c.id = t.case_id"
        " WHERE c.external_id = %s AND t.stage = 'check'",
        ticket.external_id,
    )
    assert len(tasks) == 1, f"{len(tasks)} first tasks"
    assert harness.client.open(ticket.body) == stored[0], "the repeat returned another case"
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)


def waiting_plan(harness: Harness, ticket: Ticket) -> dict[str, Any]:
    harness.client.open(ticket.body)
    found: list[dict[str, Any]] = harness.wait_for(
        lambda: [row for row in harness.ask(WAITING) if row["external_id"] == ticket.external_id]
    )
    return found[0]


def decisions(harness: Harness, ticket: Ticket) -> int:
    return int(
        harness.one(
            "SELECT count(*) FROM approvals_decision d JOIN approvals_proposal p ON p.id = d.proposal_id"
            " JOIN cases_case c ON c.id = p.case_id WHERE c.external_id = %s",
            ticket.external_id,
        )
    )


@scenario("C18", "the web server dies inside the decision's transaction", "decide.before_commit")
def deciding(harness: Harness, result: Result) -> None:
    ticket = harness.ticket("restore_access", by_hand=True)
    plan = waiting_plan(harness, ticket)
    armed = harness.armed.arm("decide.before_commit", plan["case"], action="exit")
    assert harness.approver.decide(plan) is None, "it was answered"
    note_hit(harness, result, armed)
    death_of(harness, result)
    assert decisions(harness, ticket) == 0, "something was decided"
    assert harness.state(ticket.external_id) == "WAITING_APPROVAL"
    harness.approver.kept.discard(ticket.external_id)
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)


@scenario("C19", "the web server dies after the decision was committed", "decide.committed")
def decided(harness: Harness, result: Result) -> None:
    ticket = harness.ticket("restore_access", by_hand=True)
    plan = waiting_plan(harness, ticket)
    armed = harness.armed.arm("decide.committed", plan["case"], action="exit")
    assert harness.approver.decide(plan) is None, "it was answered"
    note_hit(harness, result, armed)
    death_of(harness, result)
    assert decisions(harness, ticket) == 1, "the decision is gone"
    again = harness.wait_for(lambda: harness.approver.decide(plan), 20)
    assert again.status_code in (200, 201), f"the second click was told {again.status_code} {again.text}"
    assert decisions(harness, ticket) == 1, "the second click decided again"
    done_once(harness, ticket)
    note_recovery(harness, result, ticket)
