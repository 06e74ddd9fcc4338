"""Money was taken, access did not open: what the facts allow, and which fact counts first."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from caseflow.domain.process import EndingKind, value_at
from caseflow.processes.restore_access import RestoreAccess

PROCESS = RestoreAccess()
INTAKE = {"customer_id": "U-12", "subscription_id": "S-77", "payment_id": "PAY-31"}
GOOD = {
    "payment": {"status": "confirmed", "amount": "990.00", "currency": "RUB", "customer_id": "U-12"},
    "customer": {"status": "known", "language": "ru", "email": {"personal": "fact.customer.email", "digest": "d"}},
    "subscription": {"status": "inactive", "price": "990.00", "currency": "RUB", "customer_id": "U-12"},
}

#: Every ending but the good one, in the order in which the facts count; each with the change that brings it about.
ENDINGS: list[tuple[str, EndingKind, dict[str, Any]]] = [
    ("payment_not_found", EndingKind.ASK_DATA, {"payment": {"status": "not_found"}}),
    ("customer_unknown", EndingKind.ASK_DATA, {"customer": {"status": "unknown"}}),
    ("subscription_not_found", EndingKind.ASK_DATA, {"subscription": {"status": "not_found"}}),
    ("another_account", EndingKind.PERSON, {"subscription.customer_id": "U-99"}),
    ("payment_refunded", EndingKind.CLOSE, {"payment.status": "refunded"}),
    ("payment_failed", EndingKind.CLOSE, {"payment.status": "failed"}),
    ("already_active", EndingKind.CLOSE, {"subscription.status": "active"}),
    ("payment_pending", EndingKind.WAIT, {"payment.status": "pending"}),
    ("amount_differs", EndingKind.PERSON, {"subscription.price": "1990.00"}),
]


def world(*changes: dict[str, Any]) -> dict[str, Any]:
    facts = copy.deepcopy(GOOD)
    for change in changes:
        for path, value in change.items():
            name, _, key = path.partition(".")
            if key:
                facts[name][key] = value
            else:
                facts[name] = value
    return facts


def decision(facts: dict[str, Any]) -> str:
    return PROCESS.decide(facts=facts, intake=INTAKE).decision


def test_a_confirmed_payment_beside_an_inactive_subscription_is_proposed() -> None:
    assert decision(world()) == "restore_access"
    assert PROCESS.endings["restore_access"].kind is EndingKind.ACT


@pytest.mark.parametrize(("ending", "kind", "change"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_each_ending_has_its_facts_its_kind_and_a_sentence(
    ending: str, kind: EndingKind, change: dict[str, Any]
) -> None:
    facts = world(change)
    said = PROCESS.decide(facts=facts, intake=INTAKE)
    assert (said.decision, said.reason) == (ending, ending)
    assert said.evidence
    assert all(value_at(facts, path) is not None for path in said.evidence)
    assert PROCESS.endings[ending].kind is kind
    assert len(PROCESS.endings[ending].sentence) > 20


@pytest.mark.parametrize("place", range(len(ENDINGS) - 1))
def test_of_two_troubles_the_earlier_one_counts(place: int) -> None:
    ending, _, change = ENDINGS[place]
    for _, _, later in ENDINGS[place + 1 :]:
        # A later trouble may not undo the earlier one by writing the same fact.
        if not ({path.partition(".")[0] for path in later if "." not in path} or set(later) & set(change)):
            clean = {path: value for path, value in later.items() if path.partition(".")[0] not in change}
            assert decision(world(clean, change)) == ending


@pytest.mark.parametrize("field", ["payment.customer_id", "subscription.customer_id"])
@pytest.mark.parametrize("owner", ["U-99", None])
def test_money_or_access_of_somebody_else_is_never_touched(field: str, owner: str | None) -> None:
    assert decision(world({field: owner})) == "another_account"


@pytest.mark.parametrize(
    "change", [{"payment.currency": "EUR"}, {"payment.amount": "989.99"}, {"payment.amount": "990"}]
)
def test_an_amount_that_is_not_the_price_to_the_letter_goes_to_a_person(change: dict[str, str]) -> None:
    assert decision(world(change)) == "amount_differs"


@pytest.mark.parametrize("missing", ["payment", "customer", "subscription"])
def test_too_few_facts_are_never_a_reason_to_act(missing: str) -> None:
    facts = world()
    del facts[missing]
    assert decision(facts) not in ("restore_access", "already_active")


def test_facts_that_fit_no_rule_need_another_check() -> None:
    facts = world({"payment.status": "reversed"})
    assert decision(facts) == "unclear_facts"
    assert PROCESS.endings["unclear_facts"].kind is EndingKind.PERSON


def test_the_plan_is_one_activation_bound_to_every_critical_fact_and_no_refund() -> None:
    plan = PROCESS.plan(decision="restore_access", facts=world(), intake=INTAKE, effects=())
    (effect,) = plan.effects
    assert (effect.system, effect.operation, effect.subject) == ("subscriptions", "activate", "S-77")
    assert set(effect.preconditions) == set(PROCESS.critical)
    assert effect.preconditions["payment.status"] == "confirmed"
    assert effect.confirms == {"subscription.status": "active"}
    assert [notice.template for notice in plan.notices] == ["restore_access/restored"]


@pytest.mark.parametrize(("ending", "kind", "change"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_no_other_ending_changes_anything_outside(ending: str, kind: EndingKind, change: dict[str, Any]) -> None:
    facts = world(change)
    plan = PROCESS.plan(decision=ending, facts=facts, intake=INTAKE, effects=())
    assert list(plan.effects) == []
    told = kind in (EndingKind.CLOSE, EndingKind.ASK_DATA) and ending != "customer_unknown"
    assert len(plan.notices) == told
