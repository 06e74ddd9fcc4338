"""`manage.py check` finds a process that does not fit the engine, each mistake by its own number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from django.core.checks import run_checks

from caseflow import checks, trying
from caseflow.checks import (
    check_caps,
    check_installation,
    check_models,
    check_process,
    check_stages,
    check_versions,
    resolved_adapters,
)
from caseflow.domain.lifecycle import STANDARD, Event, Start, State, Table, Transition
from caseflow.domain.process import AmountQuorum, ApprovalPolicy, Effect, Facts, FactSource, Plan, Process, Proposed
from caseflow.domain.retry import RetryPolicy
from caseflow.processes.restore_access import RestoreAccess
from cases.stages import all_stages
from tests.driving import Engine


def found(process: Process) -> set[str]:
    return {str(message.id) for message in check_process(process, resolved_adapters()[0])}


@pytest.mark.parametrize("caps", [{"subscription": 5}, {"subscriptions": 0}])
@pytest.mark.parametrize("name", ["EFFECTS_PER_HOUR", "EFFECTS_PER_HOUR_AND_ORGANISATION"])
def test_a_cap_of_nothing_is_no_cap_and_an_error(caps: dict[str, int], name: str, settings: Any) -> None:
    assert check_caps() == []
    setattr(settings, f"CASEFLOW_{name}", caps)
    assert [message.id for message in check_installation(None)] == ["caseflow.E030"]


@pytest.mark.parametrize(
    "said",
    [
        {"main": {"model": "small-1"}},
        {"main": {"url": "https://llm.example.org/v1", "model": "small-1", "prices": {"in": "cheap"}}},
        {"main": {"url": "https://llm.example.org/v1", "model": "small-1"}},  # no host that may be reached
        {"my llm": {"url": "http://127.0.0.1:9/v1", "model": "small-1"}},
        *(
            {"main": {"url": "http://127.0.0.1:9/v1", "model": "small-1", **wrong}}
            for wrong in (
                {"seconds": 0},
                {"seconds": "inf"},
                {"most_tokens": 0},
                {"prices": {"in": "-1"}},
                {"prices": {"out": "NaN"}},
                {"prices": {"currency": "EURO"}},
                {"prices": 5},
                {"parameters": {"temperature": float("nan")}},
            )
        ),
    ],
)
def test_a_provider_of_models_that_nobody_could_ask_is_an_error(said: dict[str, Any], settings: Any) -> None:
    assert check_models() == []
    settings.CASEFLOW_OUTGOING_HOSTS = ["127.0.0.1:9"]
    settings.CASEFLOW_MODELS = said
    assert [message.id for message in check_installation(None)] == ["caseflow.E006"]


def test_a_key_that_no_header_takes_is_an_error_that_does_not_say_it(settings: Any) -> None:
    settings.CASEFLOW_MODELS = {"main": {"url": settings.SIMULATOR_URL or "http://127.0.0.1:9/v1", "model": "small-1"}}
    settings.CASEFLOW_OUTGOING_HOSTS = ["127.0.0.1:9"]
    settings.CASEFLOW_MODEL_KEYS = {"main": "sk-secret\n"}
    (message,) = check_models()
    assert message.id == "caseflow.E006" and "sk-secret" not in str(message.msg)


class _WithoutNotifying(RestoreAccess):
    """No row leads to NOTIFYING."""

    table = Table(row for row in STANDARD if row.target is not State.NOTIFYING)


class _UnknownStage(RestoreAccess):
    table = Table(
        replace(row, starts=(Start("dance"),)) if row.event is Event.CHECK_STARTED else row for row in STANDARD
    )


class _UnknownPersonalField(RestoreAccess):
    personal_intake = frozenset({"claim", "passport"})


class _UnknownSubject(RestoreAccess):
    facts = (*RestoreAccess.facts[:2], FactSource("subscription", "subscriptions", "contract_id"))


class _TwoFactsOfOneName(RestoreAccess):
    facts = (*RestoreAccess.facts, FactSource("payment", "payments", "payment_id"))


class _UnknownPath(RestoreAccess):
    critical = (*RestoreAccess.critical, "contract.status")


class _UnknownProposer(RestoreAccess):
    proposer = "oracle"


class _PolicyForNothing(RestoreAccess):
    retry: ClassVar[dict[str, RetryPolicy]] = {"exekute": RetryPolicy()}


class _UnknownSystem(RestoreAccess):
    facts = (*RestoreAccess.facts, FactSource("tariff", "billing", "payment_id"))


class _Unreadable(RestoreAccess):
    facts = (*RestoreAccess.facts, FactSource("tariff", "payments", "payment_id"))


class _ImpatientInDoubt(RestoreAccess):
    retry: ClassVar[dict[str, RetryPolicy]] = {"reconcile": RetryPolicy(deadline=timedelta(seconds=70))}


class _Planning(RestoreAccess):
    """Its plan of an activation is changed in one place."""

    change: ClassVar[dict[str, Any]] = {}
    change_notice: ClassVar[dict[str, Any]] = {}

    def plan(self, *, decision: str, facts: Facts, intake: Any, effects: Sequence[Effect]) -> Plan:
        plan = super().plan(decision=decision, facts=facts, intake=intake, effects=effects)
        return Plan(
            effects=[replace(effect, **self.change) for effect in plan.effects],
            notices=[replace(notice, **self.change_notice) for notice in plan.notices],
        )


class _EffectElsewhere(_Planning):
    change: ClassVar[dict[str, Any]] = {"system": "billing"}


class _UnknownOperation(_Planning):
    change: ClassVar[dict[str, Any]] = {"operation": "delete"}


class _UnknownConfirmation(_Planning):
    change: ClassVar[dict[str, Any]] = {"confirms": {"contract.status": "active"}}


class _NoticeElsewhere(_Planning):
    change_notice: ClassVar[dict[str, Any]] = {"system": "pigeon"}


class _NoticeToNobody(_Planning):
    change_notice: ClassVar[dict[str, Any]] = {"to": "customer.phone"}


class _NoTemplate(_Planning):
    change_notice: ClassVar[dict[str, Any]] = {"template": "restore_access/nothing"}


class _ActsWithoutEffect(RestoreAccess):
    def plan(self, **told: Any) -> Plan:
        return Plan()


class _DecidesSomethingElse(RestoreAccess):
    def decide(self, *, facts: Facts, intake: Any) -> Proposed:
        if facts["payment"]["status"] == "refunded":
            return Proposed("double_refund", "double_refund", ())
        return super().decide(facts=facts, intake=intake)


class _Calculates(RestoreAccess):
    def decide(self, *, facts: Facts, intake: Any) -> Proposed:
        int(facts["payment"]["amount"])
        return super().decide(facts=facts, intake=intake)


class _NobodyApproves(RestoreAccess):
    approval = ApprovalPolicy(quorum=0)


class _QuorumOfUnreadAmount(RestoreAccess):
    approval = ApprovalPolicy(by_amount=AmountQuorum("payment.total", "payment.currency", {"RUB": {"10000": 2}}))


class _QuorumFromNoAmount(RestoreAccess):
    approval = ApprovalPolicy(by_amount=AmountQuorum("payment.amount", "payment.currency", {"RUB": {"much": 2}}))


WRONG: dict[str, tuple[type[Process], str]] = {
    "a state that no path reaches": (_WithoutNotifying, "caseflow.E006"),
    "a stage that no room registers": (_UnknownStage, "caseflow.E008"),
    "a personal field that is not in the intake": (_UnknownPersonalField, "caseflow.E009"),
    "a fact about a field that is not in the intake": (_UnknownSubject, "caseflow.E010"),
    "two facts of one name": (_TwoFactsOfOneName, "caseflow.E011"),
    "a critical path of no fact": (_UnknownPath, "caseflow.E012"),
    "a proposer that nobody made": (_UnknownProposer, "caseflow.E013"),
    "a quorum of nobody": (_NobodyApproves, "caseflow.E022"),
    "a quorum by an amount that is not read again": (_QuorumOfUnreadAmount, "caseflow.E023"),
    "a quorum from no amount on": (_QuorumFromNoAmount, "caseflow.E024"),
    "a retry policy for no stage": (_PolicyForNothing, "caseflow.E014"),
    "a fact of a system without an adapter": (_UnknownSystem, "caseflow.E015"),
    "a fact that its system does not read": (_Unreadable, "caseflow.E016"),
    "doubt that is given up before a request has landed": (_ImpatientInDoubt, "caseflow.E017"),
    "an effect in a system without an adapter": (_EffectElsewhere, "caseflow.E015"),
    "an effect that its system cannot do": (_UnknownOperation, "caseflow.E016"),
    "a confirmation of no fact": (_UnknownConfirmation, "caseflow.E012"),
    "a notice by a system without an adapter": (_NoticeElsewhere, "caseflow.E015"),
    "a notice to no personal fact": (_NoticeToNobody, "caseflow.E012"),
    "a notice without a template": (_NoTemplate, "caseflow.E019"),
    "an ending that acts without an effect": (_ActsWithoutEffect, "caseflow.E018"),
    "a decision that is no ending": (_DecidesSomethingElse, "caseflow.E021"),
    "a plan that cannot be tried without facts": (_Calculates, "caseflow.W001"),
}


def test_the_project_itself_is_clean() -> None:
    assert run_checks() == []
    assert found(RestoreAccess()) == set()


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_in_a_process_is_found(mistake: str) -> None:
    process, wanted = WRONG[mistake]

    assert wanted in found(process())


@pytest.mark.parametrize(
    ("setting", "value", "wanted"),
    [
        ("ADAPTERS", {"payments": "integrations.nothing.Nothing"}, "caseflow.E001"),
        ("PROCESSES", ["caseflow.processes.nothing.Nothing"], "caseflow.E002"),
        ("PROCESSES", ["caseflow.processes.restore_access.RestoreAccess"] * 2, "caseflow.E003"),
    ],
)
def test_a_setting_that_names_nothing_is_found(settings: Any, setting: str, value: Any, wanted: str) -> None:
    setattr(settings, setting, value)

    assert wanted in {message.id for message in check_installation(None)}


def test_an_ambiguous_table_and_an_exit_from_a_closed_state_cannot_even_be_written() -> None:
    row = Transition(State.RECEIVED, Event.CHECK_STARTED, State.CHECKING)
    with pytest.raises(ValueError, match="ambiguous"):
        Table([row, row])
    with pytest.raises(ValueError, match="closed"):
        Table([replace(row, source=State.COMPLETED)])


def test_leases_have_to_fit_into_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = next(iter(all_stages().values()))
    assert check_stages(all_stages().values()) == []
    assert [one.id for one in check_stages([replace(stage, lease=timedelta(seconds=2))])] == ["caseflow.E004"]
    assert [one.id for one in check_stages([replace(stage, limit=timedelta(seconds=5))])] == ["caseflow.E005"]

    monkeypatch.setattr(checks, "RENEW_EVERY", timedelta(seconds=30))

    assert {one.id for one in check_stages([])} == {"caseflow.E004"}


def test_an_open_case_of_a_version_that_is_gone_is_found_and_a_closed_one_is_not(engine: Engine, settings: Any) -> None:
    still_open, closed = engine.open(payment={"status": "pending"}), engine.open(payment={"status": "failed"})
    still_open.run()
    closed.run()
    assert (still_open.state, closed.state) == ("WAITING_DATA", "CLOSED_NO_CHANGE")
    assert check_versions(None, databases=["default"]) == []

    settings.PROCESSES = []

    assert [one.id for one in check_versions(None, databases=["default"])] == ["caseflow.E020"]
    assert check_versions(None, databases=[]) == []  # nobody asked for the database


def test_every_plan_of_the_process_is_tried() -> None:
    tried = {
        (decision, len(plan.effects), len(plan.notices)) for decision, plan in trying.possible_plans(RestoreAccess())
    }

    assert {decision for decision, _, _ in tried} == set(RestoreAccess.endings)
    assert ("restore_access", 1, 1) in tried
    assert ("customer_unknown", 0, 1) not in tried  # nobody can be written to there


def test_a_process_with_endless_ways_is_tried_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(RestoreAccess):
        def decide(self, *, facts: Facts, intake: Any) -> Proposed:
            for number in range(40):
                if facts["payment"][f"part-{number}"] == "x":
                    pass
            return super().decide(facts=facts, intake=intake)

    monkeypatch.setattr(trying, "MAX_PATHS", 50)

    assert len(list(trying.possible_plans(Endless()))) == 50
