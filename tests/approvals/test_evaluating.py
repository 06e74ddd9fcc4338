"""An evaluation counts what came through, and nothing that the checks stopped; its figures are those of the tickets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from approvals.answers import Answer, Journal, NoJournal
from approvals.evaluating import Judged, judge, judge_all
from approvals.labelled import LabelledCase
from approvals.measuring import list_different, measure, percentile
from approvals.proposers import Rules
from caseflow.domain.process import EffectSpec, Facts, IntakeBody, Plan, Process, Proposed
from tests.approvals.test_labelled_cases import tickets

__all__ = ["tickets"]


@dataclass(frozen=True)
class Obedient:
    """Whatever the customer's words wish for is its answer; who wishes for nothing gets what the rules say."""

    tickets: Mapping[str, LabelledCase]
    name: str = "obedient"
    model: str = "obedient-1"
    prompt_version: str = ""

    def propose(
        self,
        *,
        process: Process,
        facts: Facts,
        intake: IntakeBody,
        texts: Mapping[str, str] = {},
        journal: Journal = NoJournal(),  # noqa: B008
    ) -> Answer:
        ruled = process.decide(facts=facts, intake=intake)
        injection = self.tickets[intake["subscription_id"]].injection
        if injection is None:
            return Answer(proposed=ruled)
        wants = injection.wants
        return Answer(
            proposed=replace(
                ruled,
                decision=wants.decision or ruled.decision,
                requires_approval=wants.requires_approval is None,
                evidence=(*ruled.evidence, *([wants.evidence] if wants.evidence else [])),
            ),
            explanation=f"{wants.says or ''} {wants.subject or ''} {wants.amount or ''}",
        )


@pytest.fixture
def obedient(tickets: list[LabelledCase]) -> Obedient:
    return Obedient({one.intake["subscription_id"]: one for one in tickets})


def wishing(tickets: list[LabelledCase], wish: str) -> LabelledCase:
    """The first ticket that wishes for this where the rules would act."""
    return next(
        one
        for one in tickets
        if one.injection and getattr(one.injection.wants, wish) is not None and one.expected == "restore_access"
    )


def let_through(case: LabelledCase, proposed: Proposed) -> Plan:
    """A check that was doctored: it lets everything by, and plans what was wished for."""
    wants = case.injection.wants if case.injection else None
    if wants is None:
        return Plan()
    effect = EffectSpec(
        system="subscriptions",
        operation=wants.operation or "activate",
        subject=wants.subject or "S-1",
        request={"amount": wants.amount},
        preconditions={},
        confirms={},
    )
    return Plan(effects=[effect])


def test_the_rules_end_every_ticket_as_labelled(tickets: list[LabelledCase]) -> None:
    measured = measure(list(judge_all(Rules(), tickets)))
    assert (measured.cases, measured.accuracy, measured.first_accuracy) == (200, 1.0, 1.0)
    assert (measured.accepted, measured.refused, measured.wrong, measured.injections_through) == (200, 0, 0, 0)
    assert sum(share.cases for share in measured.endings.values()) == 200
    assert sum(share.cases for share in measured.languages.values()) == 200


def test_what_an_obedient_model_answers_is_followed_but_nothing_of_it_comes_through(
    tickets: list[LabelledCase], obedient: Obedient
) -> None:
    judged = list(judge_all(obedient, tickets))
    measured = measure(judged)
    assert measured.injections_followed > 50
    assert (measured.injections_through, measured.wrong) == (0, 0)
    # Each wish for an ending, for no approval or for false evidence was refused by a check.
    for one in judged:
        wants = one.case.injection.wants if one.case.injection else None
        if wants and (wants.decision or wants.evidence):
            assert one.refused_by == ("broken_proposal",)
    assert judge(obedient, wishing(tickets, "requires_approval")).refused_by == ("broken_proposal",)
    # Words that reach the person who decides are told apart from what is decided.
    assert measured.injections_echoed >= 2
    assert judge(obedient, wishing(tickets, "says")).echoed


@pytest.mark.parametrize("wish", ["decision", "requires_approval", "subject", "amount", "operation"])
def test_where_a_check_fails_each_kind_of_wish_is_counted(
    tickets: list[LabelledCase], obedient: Obedient, wish: str
) -> None:
    case = wishing(tickets, wish)
    judged = judge(obedient, case, check=let_through)
    assert judged.through and judged.followed == (wish != "operation")
    assert measure([judged]).injections_through == 1
    assert not judge(Rules(), case).through


def test_false_evidence_that_gets_by_is_counted_too(tickets: list[LabelledCase], obedient: Obedient) -> None:
    case = next(one for one in tickets if one.injection and one.injection.wants.evidence)
    assert judge(obedient, case, check=let_through).through
    assert judge(obedient, case).refused_by


def test_to_ask_for_another_check_is_right_only_where_a_fact_is_missing(tickets: list[LabelledCase]) -> None:
    lacking = next(one for one in tickets if "missing_facts" in one.kinds)
    whole = next(one for one in tickets if one.kinds == ("plain",))
    assert Judged(lacking, missing=("payment.status",)).is_right
    assert not Judged(whole, missing=("payment.status",)).is_right


def test_two_versions_are_told_apart_ticket_by_ticket(tickets: list[LabelledCase], obedient: Obedient) -> None:
    some = [wishing(tickets, "decision"), next(one for one in tickets if one.injection is None)]
    different = list_different([judge(Rules(), one) for one in some], [judge(obedient, one) for one in some])
    assert different == [
        {
            "id": some[0].id,
            "expected": "restore_access",
            "this": "restore_access",
            "other": "(refused: broken_proposal)",
        }
    ]


def test_percentiles_are_values_that_were_measured() -> None:
    values: list[Any] = [float(number) for number in range(1, 101)]
    assert (percentile(values, 50), percentile(values, 95), percentile([3.0], 95), percentile([], 50)) == (50, 95, 3, 0)
