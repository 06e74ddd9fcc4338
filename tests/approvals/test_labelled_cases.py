"""The labelled tickets: what they are made of, that their labels are what the rules say, and how a bad file fails."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from approvals.labelled import BadLine, LabelledCase, read_labelled, spread
from caseflow.processes.restore_access import RestoreAccess

FILE = Path(__file__).resolve().parents[2] / "approvals" / "evaluation" / "restore_access.jsonl"
#: Kind → at least so many tickets of the 200.
AT_LEAST = {
    "plain": 60,
    "contradictory": 40,
    "injection": 60,
    "missing_facts": 10,
    "unknown_status": 5,
    "hidden_unicode": 4,
    "long": 3,
    "short": 15,
    "personal_data": 6,
}


@pytest.fixture(scope="module")
def tickets() -> list[LabelledCase]:
    with FILE.open("rb") as stream:
        return read_labelled(stream)


def test_two_hundred_tickets_hold_every_ending_in_both_languages(tickets: list[LabelledCase]) -> None:
    assert len(tickets) == len({one.id for one in tickets}) == 200
    endings = Counter((one.expected, one.language) for one in tickets)
    assert {ending for ending, _ in endings} == set(RestoreAccess.endings)
    assert all(endings[ending, language] >= 5 for ending in RestoreAccess.endings for language in ("ru", "en"))
    languages = Counter(one.language for one in tickets)
    assert min(languages.values()) >= 95
    kinds = Counter(kind for one in tickets for kind in one.kinds)
    assert {kind: kinds[kind] for kind, number in AT_LEAST.items() if kinds[kind] < number} == {}


def test_no_two_tickets_are_the_same_words_with_other_numbers(tickets: list[LabelledCase]) -> None:
    words = ["".join(filter(str.isalpha, one.intake["claim"])).casefold() for one in tickets]
    assert len(set(words)) == 200
    for field in ("customer_id", "subscription_id", "payment_id"):
        assert len({one.intake[field] for one in tickets}) == 200
    assert all(len(one.intake["claim"]) > 1500 for one in tickets if "long" in one.kinds)


def test_injections_wish_for_everything_that_must_not_come_through(tickets: list[LabelledCase]) -> None:
    injections = [one.injection for one in tickets if one.injection]
    assert len({one.technique for one in injections}) >= 15
    wishes = Counter(name for one in injections for name in one.wants.model_dump(exclude_none=True))
    assert set(wishes) == {"decision", "requires_approval", "subject", "amount", "operation", "evidence", "says"}
    for language in ("ru", "en"):
        assert sum(one.injection is not None for one in tickets if one.language == language) >= 25
    # What nobody sees stands there all the same.
    hidden = [one for one in tickets if "hidden_unicode" in one.kinds]
    assert all(not one.intake["claim"].isascii() for one in hidden)


def test_the_labels_of_a_person_are_what_the_rules_say(tickets: list[LabelledCase]) -> None:
    said = {one.id: one.process.decide(facts=one.facts, intake=one.intake).decision for one in tickets}
    assert said == {one.id: one.expected for one in tickets}


def test_a_sample_is_always_the_same_and_from_all_over_the_file(tickets: list[LabelledCase]) -> None:
    some = spread(tickets, 40)
    assert [one.id for one in some] == [one.id for one in spread(tickets, 40)]
    assert len(some) == 40 and {one.expected for one in some} == set(RestoreAccess.endings)
    assert spread(tickets, 999) == tickets


def good_line() -> dict[str, Any]:
    with FILE.open("rb") as stream:
        found: dict[str, Any] = json.loads(next(iter(stream)))
    return found


@pytest.mark.parametrize(
    ("change", "path", "problem"),
    [
        ({"id": None}, "$.id", "valid string"),
        ({"language": "de"}, "$.language", "'ru' or 'en'"),
        ({"kinds": ["odd"]}, "$.kinds", "'odd' is none of"),
        ({"process": "refund"}, "$.process", "there is no process 'refund'"),
        ({"expected": "refund"}, "$.expected", "no ending of restore_access"),
        ({"facts": {"weather": {}}}, "$.facts.weather", "reads no such fact"),
        ({"intake": {"claim": "x"}}, "$.intake.customer_id", "Field required"),
        ({"injection": {"technique": "x", "wants": {"decision": "payment_failed"}}}, "$.injection", "exactly where"),
        (
            {"kinds": ["injection"], "injection": {"technique": "x", "wants": {"decision": "restore_access"}}},
            "$.injection.wants.decision",
            "right anyway",
        ),
        ({"kinds": ["injection"], "injection": {"technique": "x", "wants": {}}}, "$.injection.wants", "something"),
        ({"more": 1}, "$.more", "Extra inputs"),
    ],
)
def test_a_line_that_is_no_ticket_is_named_with_its_place(change: dict[str, Any], path: str, problem: str) -> None:
    lines = [json.dumps(good_line()).encode(), b"", json.dumps(good_line() | {"id": "second"} | change).encode()]
    with pytest.raises(BadLine) as bad:
        read_labelled(lines)
    assert (bad.value.line, bad.value.path) == (3, path)
    assert problem in bad.value.problem


def test_broken_and_repeated_and_missing_lines_are_refused() -> None:
    line = json.dumps(good_line()).encode()
    for lines, where, problem in (
        ([b"{"], 1, "not JSON"),
        ([line, line], 2, "stands there twice"),
        ([b"\n", b" "], 0, "no case"),
        ([b'{"id": "\xff"}'], 1, "not UTF-8"),
    ):
        with pytest.raises(BadLine) as bad:
            read_labelled(lines)
        assert bad.value.line == where and problem in str(bad.value)
