"""The judge of a soak finds what it is there to find: a lost ticket, a second effect, a "done" that was too early."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from stand.soak.journal import Journal
from stand.soak.judging import Outside, Verdict, compare
from stand.soak.plan import Arrival, Expected

TEN = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)


def seconds(number: float) -> datetime:
    return datetime.fromtimestamp(TEN.timestamp() + number, UTC)


def ticket(number: int = 1, verdict: str = "approve") -> Arrival:
    intake = {"subscription_id": f"S-{number}", "payment_id": f"PAY-{number}"}
    body = {"external_id": f"T-{number}", "intake": intake}
    return Arrival(0.0, body, verdict, False, Expected("COMPLETED", "restore_access", "done", 1))


class Run:
    """One ticket that was accepted, approved, applied at second 3, read at 4, confirmed at 5 and completed at 6."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder / "journal.jsonl")
        self.journal.told_case("T-1", "C-1", 201, 0.1)
        self.journal.told_decision("C-1", "approve", 201)
        self.arrivals = [ticket()]
        self.cases: list[dict[str, Any]] = [
            {
                "public_id": "C-1",
                "external_id": "T-1",
                "state": "COMPLETED",
                "ending": "restore_access",
                "outcome": "done",
                "reason": "",
                "state_since": seconds(6),
            }
        ]
        self.actions: list[dict[str, Any]] = [
            {
                "public_id": "A-1",
                "case": "C-1",
                "kind": "effect",
                "status": "CONFIRMED",
                "key": "restore_access:A-1",
                "subject": "S-1",
                "confirmed_by": "read",
                "settled_at": seconds(5),
            }
        ]
        self.decisions = [{"case": "C-1", "kind": "approve"}]
        self.effects = [self.effect("restore_access:A-1")]
        self.reads = {"S-1": [seconds(1).timestamp(), seconds(4).timestamp()]}

    def effect(self, key: str) -> dict[str, Any]:
        return {
            "system": "subscriptions",
            "operation": "activate",
            "subject": "S-1",
            "key": key,
            "applied_at": seconds(3).isoformat(),
        }

    def judged(self) -> Verdict:
        outside = Outside(self.effects, self.reads)
        return compare(self.cases, self.actions, self.decisions, outside, self.arrivals, self.journal)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_a_run_in_which_all_went_well_is_clean(run: Run) -> None:
    assert run.judged().is_clean


def test_an_accepted_ticket_without_its_case_is_lost(run: Run) -> None:
    run.cases[0]["public_id"] = "C-2"
    assert len(run.judged().lost) == 1


def test_a_decision_that_was_told_and_is_not_there_is_lost(run: Run) -> None:
    run.decisions = []
    assert len(run.judged().lost) == 1


def test_two_cases_of_a_ticket_are_doubled(run: Run) -> None:
    run.cases.append({**run.cases[0], "public_id": "C-2"})
    assert len(run.judged().doubled) == 1


def test_two_effects_under_one_key_are_doubled(run: Run) -> None:
    run.effects.append(run.effect("restore_access:A-1"))
    assert "restore_access:A-1 had 2 effects" in run.judged().doubled


def test_two_effects_on_one_subscription_under_two_keys_are_doubled(run: Run) -> None:
    run.effects.append(run.effect("restore_access:A-2"))
    assert run.judged().doubled == ["subscriptions activate S-1 happened 2 times"]


def test_confirmed_without_an_effect_is_early(run: Run) -> None:
    run.effects = []
    assert "A-1 of C-1 is CONFIRMED and never happened" in run.judged().early


def test_confirmed_before_the_effect_is_early(run: Run) -> None:
    run.actions[0]["settled_at"] = seconds(2)
    assert run.judged().early == ["A-1 of C-1 was CONFIRMED 1.000 s before it happened"]


def test_confirmed_without_a_reading_after_the_effect_is_early(run: Run) -> None:
    run.reads = {"S-1": [seconds(1).timestamp(), seconds(7).timestamp()]}
    assert run.judged().early == ["A-1 of C-1 was CONFIRMED without a reading after it happened"]


def test_completed_before_the_effect_is_early(run: Run) -> None:
    run.cases[0]["state_since"] = seconds(2)
    assert run.judged().early == ["C-1 was COMPLETED before its effect happened"]


def test_a_person_who_was_shown_completed_too_soon_counts_as_well(run: Run) -> None:
    run.journal.saw_done("C-1", seconds(2).timestamp())
    assert run.judged().early == ["C-1 was shown COMPLETED before its effect happened"]


def test_a_ticket_that_nobody_was_told_about_is_named(run: Run) -> None:
    run.arrivals.append(ticket(2))
    assert run.judged().unanswered == ["T-2"]


def test_a_case_that_a_fault_left_to_a_person_is_counted_by_its_reason(run: Run) -> None:
    run.cases[0] |= {"state": "NEEDS_ATTENTION", "outcome": "", "reason": "unknown_too_long"}
    judged = run.judged()
    assert judged.is_clean
    assert judged.attention == {"unknown_too_long": 1}


def test_another_end_than_the_facts_allow_is_unexpected(run: Run) -> None:
    run.cases[0] |= {"state": "NEEDS_ATTENTION", "outcome": "", "reason": "returned_too_often"}
    assert len(run.judged().unexpected) == 1
