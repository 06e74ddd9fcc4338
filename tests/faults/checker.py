"""The history checker: PostgreSQL, the outside world's own ledger and the client's journal tell one story."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from tests.faults.harness import Harness


@dataclass
class Verdict:
    """What was counted, and every counter-example: (case or external id, what is wrong)."""

    cases: int = 0
    effects: int = 0
    promises: int = 0
    lost: int = 0
    doubled: int = 0
    invariants: list[dict[str, Any]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return all(one["violations"] == 0 for one in self.invariants) and bool(self.invariants)

    def shown(self) -> dict[str, Any]:
        return {
            "cases": self.cases,
            "effects": self.effects,
            "promises": self.promises,
            "lost": self.lost,
            "doubled": self.doubled,
            "invariants": self.invariants,
            "problems": [{"case": case, "problem": problem} for case, problem in self.problems],
        }


def check_history(harness: Harness) -> Verdict:
    """Everything that can be said after the faults. Reads only."""
    verdict = Verdict()
    _invariants(harness, verdict)
    _promises(harness, verdict)
    _ends(harness, verdict)
    _outside(harness, verdict)
    _nobody_is_stuck(harness, verdict)
    return verdict


def explain(harness: Harness, verdict: Verdict) -> str:
    """The first counter-example with its case's whole timeline."""
    if not verdict.problems:
        return ""
    case, problem = verdict.problems[0]
    lines = [f"first counter-example: {case}: {problem}"]
    if case:
        told = harness.system.manage("explain_case", case, "--as", "viewer", "--language", "en", check=False)
        lines += [
            told.stdout or told.stderr,
            harness.story_of(case) if not case.startswith("C-") else harness.story(case),
        ]
    return "\n".join(lines)


def _invariants(harness: Harness, verdict: Verdict) -> None:
    done = harness.system.manage("verify_invariants", "--json", "--ledger", harness.system.simulator_url, check=False)
    try:
        verdict.invariants = json.loads(done.stdout)["invariants"]
    except ValueError:
        verdict.problems.append(("", f"verify_invariants ended with {done.returncode}: {done.stderr}"))
        return
    for one in verdict.invariants:
        verdict.problems += [(found["case"], f"{one['name']}: {found['problem']}") for found in one["examples"]]


def _promises(harness: Harness, verdict: Verdict) -> None:
    """What the client was told with a 2xx is true, and stays the same however often it asks."""
    told: dict[str, str] = {}
    for line in harness.journal.read():
        verdict.promises += 1
        if line["told"] == "decided":
            kept = harness.ask(
                "SELECT 1 FROM approvals_decision d JOIN approvals_proposal p ON p.id = d.proposal_id"
                " WHERE p.public_id = %s AND d.kind = %s",
                line["proposal"],
                line["decision"],
            )
            if len(kept) != 1:
                verdict.lost += not kept
                verdict.problems.append((line["case"], f"a decision that was confirmed is stored {len(kept)} times"))
            continue
        external_id, case = line["external_id"], line["case"]
        if told.setdefault(external_id, case) != case:
            verdict.doubled += 1
            verdict.problems.append((case, f"{external_id} was called {told[external_id]} before"))
    stored = {
        row["external_id"]: row["names"]
        for row in harness.ask("SELECT external_id, array_agg(public_id) AS names FROM cases_case GROUP BY 1")
    }
    verdict.cases = len(stored)
    for external_id, case in told.items():
        names = stored.get(external_id, [])
        if case not in names:
            verdict.lost += 1
            verdict.problems.append((external_id, f"{case} was promised and is not stored"))
        elif len(names) > 1:
            verdict.doubled += 1
            verdict.problems.append((case, f"several cases of one ticket: {names}"))


def _ends(harness: Harness, verdict: Verdict) -> None:
    """Every accepted ticket came to an end that its scenario allows: nothing lies about."""
    for row in harness.ask("SELECT external_id, public_id, state, reason FROM cases_case"):
        ends = harness.expected.get(row["external_id"])
        if ends and row["state"] not in ends:
            verdict.lost += 1
            verdict.problems.append((row["public_id"], f"is {row['state']} {row['reason']}, not {' or '.join(ends)}"))


def _outside(harness: Harness, verdict: Verdict) -> None:
    """At most one effect and one message for each subject: every ticket has a subject and an address of its own."""
    with closing(sqlite3.connect(f"file:{harness.system.folder / 'simulator-ledger'}?mode=ro", uri=True)) as ledger:
        effects = ledger.execute("SELECT system, operation, subject, key FROM effects").fetchall()
    verdict.effects = len(effects)
    cases = {
        row["key"]: row["public_id"]
        for row in harness.ask("SELECT a.key, c.public_id FROM actions_action a JOIN cases_case c ON c.id = a.case_id")
    }
    for (system, operation, subject), times in Counter(effect[:3] for effect in effects).items():
        if times > 1:
            verdict.doubled += times - 1
            key = next(effect[3] for effect in effects if effect[:3] == (system, operation, subject))
            verdict.problems.append(
                (cases.get(key, ""), f"{operation} of {subject} at {system} happened {times} times")
            )
    unknown = [key for _system, _operation, _subject, key in effects if key not in cases]
    verdict.problems += [("", f"{key} had an effect and belongs to no action") for key in unknown]


def _nobody_is_stuck(harness: Harness, verdict: Verdict) -> None:
    """No lease outlives its end by more than a sweep; no call is open in a case that came to its end."""
    for row in harness.ask(
        "SELECT c.public_id, t.stage FROM cases_task t JOIN cases_case c ON c.id = t.case_id"
        " WHERE t.status = 'leased' AND t.leased_until < clock_timestamp() - interval '15 seconds'"
    ):
        verdict.problems.append((row["public_id"], f"the lease of {row['stage']} lapsed and nobody took it over"))
    for row in harness.ask(
        "SELECT c.public_id FROM actions_externalcall e JOIN actions_action a ON a.id = e.action_id"
        " JOIN cases_case c ON c.id = a.case_id WHERE e.ended_at IS NULL AND c.closed_at IS NOT NULL"
    ):
        verdict.problems.append((row["public_id"], "a call of a closed case never ended"))
