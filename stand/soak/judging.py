"""The verdict: what the clients were told, what the database says and what really happened outside, side by side."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from stand.soak.clients import moment
from stand.soak.journal import Journal
from stand.soak.plan import Arrival

#: Reasons by which a fault explains that a person has to look: nothing was lost, nothing was claimed.
EXPLAINED = frozenset(
    {
        *("attempts_exhausted", "deadline_passed", "worker_lost", "unknown_too_long", "gave_up"),
        *("not_confirmed", "notice_unconfirmed"),
    }
)
SHOWN = 20  #: findings of one kind that are named; all are counted


@dataclass(slots=True)
class Verdict:
    """Each list names what is wrong, in words; `attention` counts cases that faults left to a person, by reason."""

    accepted: int = 0
    unanswered: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    attention: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    effects: Counter[str] = field(default_factory=Counter)  #: system → effects in the outside ledger

    @property
    def is_clean(self) -> bool:
        return not (self.unanswered or self.lost or self.doubled or self.early or self.unexpected)


@dataclass(frozen=True, slots=True)
class Outside:
    """The outside systems' own file, read behind their back."""

    effects: list[dict[str, Any]]
    reads: dict[str, list[float]]  #: subscription → moments at which it was read with success, in order

    @classmethod
    def read(cls, file: Path) -> Outside:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as ledger:
            ledger.row_factory = sqlite3.Row
            effects = [dict(row) for row in ledger.execute("SELECT * FROM effects ORDER BY rowid")]
            reads: dict[str, list[float]] = defaultdict(list)
            rows = ledger.execute(
                "SELECT path, received_at FROM requests WHERE method = 'GET' AND status = 200"
                " AND path LIKE '/subscriptions/%' ORDER BY id"
            )
            for row in rows:
                reads[row["path"].rpartition("/")[2]].append(moment(row["received_at"]))
        return cls(effects, reads)

    def was_read(self, subscription: str, after: float, until: float) -> bool:
        moments = self.reads.get(subscription, [])
        at = bisect_left(moments, after)
        return at < len(moments) and moments[at] <= until


def judge(database_url: str, outside: Outside, arrivals: Sequence[Arrival], journal: Journal) -> Verdict:
    """Everything from one consistent moment of the database."""
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cases = connection.execute(_CASES).fetchall()
        actions = connection.execute(_ACTIONS).fetchall()
        decisions = connection.execute(_DECISIONS).fetchall()
    return compare(cases, actions, decisions, outside, arrivals, journal)


def compare(
    cases: list[dict[str, Any]],
    actions: list[dict[str, Any]],
    decisions: list[dict[str, Any]],
    outside: Outside,
    arrivals: Sequence[Arrival],
    journal: Journal,
) -> Verdict:
    """The rows of the database against the journal of the clients and the ledger outside."""
    verdict = Verdict(accepted=len(journal.told))
    _find_lost(verdict, cases, arrivals, journal)
    _find_lost_decisions(verdict, decisions, journal)
    applied = _find_doubled(verdict, outside)
    _find_early(verdict, cases, actions, outside, applied, journal)
    _compare_ends(verdict, cases, outside, {arrival.external_id: arrival for arrival in arrivals}, journal)
    return verdict


def _find_lost(verdict: Verdict, cases: list[dict[str, Any]], arrivals: Sequence[Arrival], journal: Journal) -> None:
    stored: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        stored[case["external_id"]].append(case["public_id"])
    for ticket, told in journal.told.items():
        if told not in stored[ticket]:
            verdict.lost.append(f"{ticket} was accepted as {told} and is not there")
    for ticket, found in stored.items():
        if len(found) > 1:
            verdict.doubled.append(f"{ticket} has {len(found)} cases")
    verdict.unanswered = [one.external_id for one in arrivals if one.external_id not in journal.told]


def _find_lost_decisions(verdict: Verdict, decisions: list[dict[str, Any]], journal: Journal) -> None:
    stored = {(decision["case"], decision["kind"]) for decision in decisions}
    for case, told in journal.decided.items():
        if (case, "reject" if told.startswith("reject") else "approve") not in stored:
            verdict.lost.append(f"a decision on {case} ({told}) was recorded, as we were told, and is not there")


def _find_doubled(verdict: Verdict, outside: Outside) -> dict[str, float]:
    """When each key's effect was applied."""
    keys = Counter(effect["key"] for effect in outside.effects)
    verdict.doubled += [f"{key} had {times} effects" for key, times in keys.items() if times > 1]
    # Each ticket has a subscription and a customer of its own, who is told one thing once.
    subjects = Counter((effect["system"], effect["operation"], effect["subject"]) for effect in outside.effects)
    verdict.doubled += [f"{' '.join(what)} happened {times} times" for what, times in subjects.items() if times > 1]
    verdict.effects = Counter(effect["system"] for effect in outside.effects)
    return {effect["key"]: moment(effect["applied_at"]) for effect in reversed(outside.effects)}


def _find_early(
    verdict: Verdict,
    cases: list[dict[str, Any]],
    actions: list[dict[str, Any]],
    outside: Outside,
    applied: dict[str, float],
    journal: Journal,
) -> None:
    """Whatever was called done must have happened before it was called so; an effect must have been read, too."""
    done_at: dict[str, list[float]] = defaultdict(list)
    for action in actions:
        at, name = applied.get(action["key"]), f"{action['public_id']} of {action['case']}"
        shown = journal.shown_confirmed.get(action["public_id"])
        if action["kind"] == "effect":
            done_at[action["case"]].append(at if at is not None else float("inf"))
        if shown is not None and (at is None or shown < at):
            verdict.early.append(f"{name} was shown CONFIRMED before it happened")
        if action["status"] != "CONFIRMED":
            continue
        settled = _seconds(action["settled_at"])
        if at is None:
            verdict.early.append(f"{name} is CONFIRMED and never happened")
        elif settled < at:
            verdict.early.append(f"{name} was CONFIRMED {at - settled:.3f} s before it happened")
        elif action["kind"] == "effect" and not outside.was_read(action["subject"], at, settled):
            verdict.early.append(f"{name} was CONFIRMED without a reading after it happened")
    for case in cases:
        if case["state"] != "COMPLETED":
            continue
        moments = done_at.get(case["public_id"], [])
        if not moments or max(moments) > _seconds(case["state_since"]):
            verdict.early.append(f"{case['public_id']} was COMPLETED before its effect happened")
        shown = journal.shown_done.get(case["public_id"])
        if shown is not None and moments and shown < max(moments):
            verdict.early.append(f"{case['public_id']} was shown COMPLETED before its effect happened")


def _compare_ends(
    verdict: Verdict,
    cases: list[dict[str, Any]],
    outside: Outside,
    arrivals: dict[str, Arrival],
    journal: Journal,
) -> None:
    activated = Counter(effect["subject"] for effect in outside.effects if effect["system"] == "subscriptions")
    for case in cases:
        arrival = arrivals[case["external_id"]]
        times = activated[arrival.subscription]
        found = (case["state"], case["ending"], case["outcome"], times)
        verdict.ends[f"{case['state']} {case['ending'] or case['reason']}"] += 1
        if found == tuple(arrival.expected):
            continue
        if case["state"] == "NEEDS_ATTENTION" and case["reason"] in EXPLAINED and times <= arrival.expected.activations:
            verdict.attention[case["reason"]] += 1
            continue
        verdict.unexpected.append(
            f"{case['public_id']} ({case['external_id']}, {arrival.verdict or '-'}, told"
            f" {journal.decided.get(case['public_id'], '-')}): {found}, {case['reason'] or '-'},"
            f" expected {tuple(arrival.expected)}"
        )


def _seconds(at: datetime) -> float:
    return at.timestamp()


_CASES = "SELECT public_id, external_id, state, ending, outcome, reason, state_since FROM cases_case"
_DECISIONS = """
SELECT c.public_id AS case, d.kind FROM approvals_decision d
JOIN approvals_proposal p ON p.id = d.proposal_id JOIN cases_case c ON c.id = p.case_id
"""
_ACTIONS = """
SELECT a.public_id, c.public_id AS case, a.kind, a.status, a.key, a.subject, a.confirmed_by, a.settled_at
FROM actions_action a JOIN cases_case c ON c.id = a.case_id
"""
