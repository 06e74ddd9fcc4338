"""How many have to approve is a function of the facts and of nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from caseflow.domain.process import AmountQuorum, ApprovalPolicy

BY_AMOUNT = AmountQuorum("payment.amount", "payment.currency", {"RUB": {"10000": 2, "100000": 3}, "EUR": {"100.00": 2}})


def facts(amount: Any, currency: Any = "RUB") -> dict[str, dict[str, Any]]:
    return {"payment": {"amount": amount, "currency": currency}}


@pytest.mark.parametrize(
    ("amount", "currency", "persons"),
    [
        ("990.00", "RUB", 1),
        ("9999.99", "RUB", 1),
        ("10000", "RUB", 2),
        ("10000.00", "RUB", 2),
        ("99999.99", "RUB", 2),
        ("100000.00", "RUB", 3),
        ("1000000000", "RUB", 3),
        ("99.99", "EUR", 1),
        ("100", "EUR", 2),
    ],
)
def test_more_money_asks_for_more_people(amount: str, currency: str, persons: int) -> None:
    assert ApprovalPolicy(by_amount=BY_AMOUNT).quorum_for(facts(amount, currency)) == persons


@pytest.mark.parametrize(
    "found",
    [facts(None), facts("much"), facts("NaN"), facts("Infinity"), facts(5), facts("1", "USD"), facts("1", None), {}],
)
def test_an_amount_that_cannot_be_compared_asks_for_the_most(found: Any) -> None:
    assert ApprovalPolicy(by_amount=BY_AMOUNT).quorum_for(found) == 3


def test_the_amount_never_asks_for_fewer_than_the_process() -> None:
    assert ApprovalPolicy(quorum=2, by_amount=BY_AMOUNT).quorum_for(facts("1.00")) == 2
    assert ApprovalPolicy(quorum=2).quorum_for(facts("1000000.00")) == 2
    assert ApprovalPolicy().quorum_for({}) == 1
