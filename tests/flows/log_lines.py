"""The log of every process as what it is: lines of JSON, which ids tie together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.flows.running import Running

Line = dict[str, Any]


def lines_of(logs: Mapping[str, str]) -> dict[str, list[Line]]:
    """Process → its lines; what Dramatiq's own supervisor and an access log write is none."""
    return {
        name: [json.loads(line) for line in text.splitlines() if line.startswith("{")] for name, text in logs.items()
    }


def told(lines: Mapping[str, list[Line]], process: str, message: str) -> list[Line]:
    return [
        line for name, those in lines.items() if name.startswith(process) for line in those
        if line["message"] == message
    ]  # fmt: skip


def require_tied(running: Running, logs: Mapping[str, str], case: str) -> None:
    """From the ticket's request over every task, action and call to the outside world's own list, by ids alone."""
    lines = lines_of(logs)
    requests = [line for line in told(lines, "web", "request") if line.get("case_id") == case]
    (opened,) = [line for line in requests if (line["route"], line["status"]) == ("api/v1/cases/", 201)]
    assert opened["request_id"] and opened["ms"] > 0
    decided = [line for line in requests if "proposal_id" in line and line["method"] == "POST"]
    rows = running.ask(
        "SELECT p.public_id FROM approvals_decision d JOIN approvals_proposal p ON p.id = d.proposal_id"
        " JOIN cases_case c ON c.id = p.case_id WHERE c.public_id = %s",
        case,
    )
    assert {line["proposal_id"] for line in decided} == {row["public_id"] for row in rows} and len(rows) == 2

    stages = [line for line in told(lines, "worker", "stage") if line.get("case_id") == case]
    tried = running.ask(
        "SELECT t.id, t.stage, a.number FROM cases_attempt a JOIN cases_task t ON t.id = a.task_id"
        " JOIN cases_case c ON c.id = t.case_id WHERE c.public_id = %s",
        case,
    )
    assert {(line["task_id"], line["stage"], line["attempt"]) for line in stages} == {
        (row["id"], row["stage"], row["number"]) for row in tried
    }
    assert len(stages) == len(tried) > 6, "one line a stage, and no other"
    # Each was rung by the dispatcher, or taken over from the stage before.
    rung = {task for line in told(lines, "dispatcher", "rung") for task in line["task_ids"]}
    assert {line["task_id"] for line in stages} <= rung | {line["next"] for line in stages if "next" in line}

    actions = running.ask(
        "SELECT a.public_id FROM actions_action a JOIN cases_case c ON c.id = a.case_id WHERE c.public_id = %s", case
    )
    assert {line["action_id"] for line in stages if "action_id" in line} == {row["public_id"] for row in actions}
    calls = {call["call_id"]: call for line in stages for call in line.get("calls", [])}
    stored = running.ask(
        "SELECT x.call_id FROM actions_externalcall x JOIN actions_action a ON a.id = x.action_id"
        " JOIN cases_case c ON c.id = a.case_id WHERE c.public_id = %(case)s"
        " UNION SELECT o.call_id FROM cases_observation o JOIN cases_case c ON c.id = o.case_id"
        " WHERE c.public_id = %(case)s".replace("%(case)s", "%s"),
        case,
        case,
    )
    assert calls.keys() >= {row["call_id"] for row in stored} and len(stored) > 8
    heard = {row["request_id"] for row in running.outside.get("/ledger").json()["requests"]}
    assert calls.keys() <= heard, "the other side was sent other ids"
    assert {call["outcome"] for call in calls.values()} >= {"read", "confirmed", "unknown"}
