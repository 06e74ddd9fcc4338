"""`hold_then_activate`: what a refused plan left behind is undone by a plan of its own, which can fail too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.principal import SYSTEM
from accounts.services import grant_role
from actions.models import Action
from approvals.models import Decision, Proposal
from approvals.rules import check_plan
from approvals.snapshots import effects_of, opened
from caseflow.domain import words
from caseflow.domain.errors import BadInput, BrokenProposal, CauserMayNotDecide, ForbiddenTransition, NotPermitted
from caseflow.domain.lifecycle import Outcome
from caseflow.domain.process import Effect, EffectSpec, EndingKind, Plan
from caseflow.domain.roles import Role
from caseflow.invariants.running import ask_all
from cases.personal import read_texts
from tests.driving import Engine, Story, processes

WHY = "Сервис отказал, вернём удержание"


@pytest.fixture
def holding(engine: Engine, settings: Any) -> Iterator[Engine]:
    settings.ADAPTERS = settings.ADAPTERS | {"payments": "tests.adapters.HoldingPayments"}
    with processes(settings, "tests.process_hold.HoldThenActivate"):
        yield engine


def refused_partly(engine: Engine, **fault: Any) -> Story:
    """The payment is held, and the service refuses to open the access."""
    story = engine.approved(process="hold_then_activate")
    story.fault("error_before", **(fault or {"status": 410}))
    story.run()
    return story


def asked_again(story: Story, person: str = "operator") -> Story:
    story.order("observe_again", person, reason=WHY)
    story.run()
    return story


def undoing(story: Story) -> Action:
    return Action.objects.get(case_id=story.id, undoes__isnull=False)


def held(story: Story) -> list[str]:
    """What the outside ledger holds for the payment, in order."""
    effects = story.engine.outside.ask("GET", "/ledger").json()["effects"]
    return [effect["operation"] for effect in effects if effect["subject"] == story.payment]


def clean() -> None:
    broken = {invariant.name: finding.shown for invariant, finding in ask_all("") if finding.violations}
    assert broken == {}


def test_both_effects_confirmed_is_done(holding: Engine) -> None:
    story = holding.approved(process="hold_then_activate")
    story.run()
    assert (story.state, story.case.outcome) == ("COMPLETED", "done")
    assert (held(story), len(story.activations())) == (["hold"], 1)
    clean()


def test_a_plan_whose_second_effect_is_refused_says_that_the_first_stands(holding: Engine) -> None:
    story = refused_partly(holding)
    assert story.standing == ("NEEDS_ATTENTION", "effect_refused_partly")
    assert (story.case.effects_done, story.case.effects_open) == (1, 0)
    assert (held(story), story.activations()) == (["hold"], [])
    told = story.told("case.effect_refused")
    assert told["owner"] == {"team": "Subscriptions", "contact": "subscriptions@example.org"}
    assert "stands" in words.REASONS["effect_refused_partly"].help
    clean()


def test_asking_again_proposes_to_undo_it_with_an_approval_an_id_and_a_key_of_its_own(holding: Engine) -> None:
    story = refused_partly(holding)
    first = Action.objects.get(case_id=story.id, operation="hold")
    asked_again(story)
    assert story.state == "WAITING_APPROVAL"
    assert held(story) == ["hold"]  # nothing is undone before somebody decides
    (effect,) = effects_of(opened(story.proposal.snapshot))
    assert (effect.operation, effect.undoes) == ("release", first.public_id)
    assert effect.id != first.public_id
    assert effect.key == f"hold_then_activate:{effect.id}"

    story.decide()
    story.run()

    assert (story.state, story.case.outcome) == ("COMPLETED", "undone")
    action = undoing(story)
    assert (action.undoes, action.status, action.confirmed_by) == (first, "CONFIRMED", "read")
    assert held(story) == ["hold", "release"]
    assert Action.objects.get(pk=first.pk).status == "CONFIRMED"  # what happened stays what happened
    assert Proposal.objects.filter(case_id=story.id).count() == 2
    assert Decision.objects.filter(proposal__case_id=story.id, decisive=True).count() == 2
    clean()


def test_an_undoing_that_is_refused_says_so_in_words_and_the_effect_stands(holding: Engine) -> None:
    story = asked_again(refused_partly(holding))
    holding.outside.script("error_before", path=f"/payments/{story.payment}/release", status=422)
    story.decide()
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "undoing_refused")
    assert held(story) == ["hold"]
    assert (story.case.outcome, story.case.effects_done) == ("", 1)
    told = story.told("case.effect_refused")
    assert (told["undoes"], told["fault"]) == (undoing(story).undoes.public_id, "invalid_data")  # type: ignore[union-attr]
    assert told["owner"]["team"] == "Payments"
    assert words.REASONS["undoing_refused"].label == "The undoing failed"
    clean()


def test_after_a_refused_undoing_a_new_one_may_be_proposed_and_only_one_counts(holding: Engine) -> None:
    story = asked_again(refused_partly(holding))
    holding.outside.script("error_before", path=f"/payments/{story.payment}/release", status=422)
    story.decide()
    story.run()
    asked_again(story)
    story.decide()
    story.run()
    assert (story.state, story.case.outcome) == ("COMPLETED", "undone")
    undone = Action.objects.filter(case_id=story.id, undoes__isnull=False).order_by("id")
    assert [action.status for action in undone] == ["REFUSED", "CONFIRMED"]
    assert len({action.key for action in undone}) == 2
    clean()


def test_a_lost_answer_of_an_undoing_is_looked_up_like_any_other(holding: Engine) -> None:
    story = asked_again(refused_partly(holding))
    holding.outside.script("drop_after", path=f"/payments/{story.payment}/release")
    story.decide()
    story.run()
    assert (story.state, undoing(story).status) == ("EXECUTING", "UNKNOWN")
    story.run_later()
    assert (story.state, story.case.outcome, undoing(story).confirmed_by) == ("COMPLETED", "undone", "lookup")
    assert held(story) == ["hold", "release"]
    clean()


def test_who_asked_again_does_not_decide_on_what_came_of_it(holding: Engine) -> None:
    story = refused_partly(holding)
    second = holding.person("second")
    grant_role(person=second, organisation=holding.organisation, role=Role.RECOVERER, by=SYSTEM)
    asked_again(story, "second")
    assert second.pk in story.proposal.causers
    with pytest.raises(CauserMayNotDecide):
        story.decide(person=second)
    story.decide()
    story.run()
    assert story.case.outcome == "undone"


def test_asking_again_is_recorded_with_who_and_why_and_the_reason_is_no_open_text(holding: Engine) -> None:
    story = asked_again(refused_partly(holding))
    told = story.told("case.observe_again")
    assert told["was"] == "effect_refused_partly"
    assert read_texts(story.id, [told["reason_field"]])[told["reason_field"]] == WHY
    assert WHY not in str(told)


@pytest.mark.parametrize(("person", "error"), [("viewer", NotPermitted), ("approver", NotPermitted)])
def test_asking_again_needs_the_right_to_recover_and_a_refusal_is_recorded(
    person: str, error: type[Exception], holding: Engine
) -> None:
    story = refused_partly(holding)
    with pytest.raises(error):
        story.order("observe_again", person, reason=WHY)
    assert story.standing == ("NEEDS_ATTENTION", "effect_refused_partly")
    assert story.told("recovery.refused") == {
        "order": "observe_again",
        "state": "NEEDS_ATTENTION",
        "code": "not_permitted",
        "guards": [],
    }


def test_asking_again_needs_a_reason(holding: Engine) -> None:
    story = refused_partly(holding)
    with pytest.raises(BadInput):
        story.order("observe_again", reason="  ")
    assert story.state == "NEEDS_ATTENTION"


def test_asking_again_while_an_effect_is_in_doubt_is_refused_and_recorded(holding: Engine) -> None:
    story = holding.approved(process="hold_then_activate")
    story.fault("drop_before")
    holding.outside.script("error_before", method="GET", path="/operations/*", times=None)
    story.run()
    holding.owner.execute("UPDATE cases_task SET deadline_at = clock_timestamp() WHERE stage = 'reconcile'")
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "unknown_too_long")
    with pytest.raises(ForbiddenTransition):
        story.order("observe_again", reason=WHY)
    assert story.told("transition.refused")["guards"] == ["no_effects_open"]
    assert story.standing == ("NEEDS_ATTENTION", "unknown_too_long")


def test_a_case_that_needs_no_attention_cannot_be_asked_again(holding: Engine) -> None:
    story = holding.proposed(process="hold_then_activate")
    with pytest.raises(ForbiddenTransition):
        story.order("observe_again", reason=WHY)
    assert story.state == "WAITING_APPROVAL"


def effect(action_id: str, status: str = "CONFIRMED", undoes: str = "") -> Effect:
    return Effect(action_id, "payments", "release" if undoes else "hold", "PAY-1", status, undoes)


def release(undoes: str, subject: str = "PAY-1") -> EffectSpec:
    return EffectSpec("payments", "release", subject, {}, {}, {}, undoes=undoes)


@pytest.mark.parametrize(
    ("effects", "plan"),
    [
        ([], [release("A-1")]),
        ([effect("A-1", "REFUSED")], [release("A-1")]),
        ([effect("A-1"), effect("A-2", undoes="A-1")], [release("A-2", "PAY-2")]),
        ([effect("A-1")], [release("A-1"), release("A-1", "PAY-2")]),
    ],
    ids=["of another case", "never happened", "an undoing itself", "twice in one plan"],
)
def test_only_a_confirmed_effect_that_still_stands_is_undone_and_only_once(
    effects: list[Effect], plan: list[EffectSpec]
) -> None:
    with pytest.raises(BrokenProposal):
        check_plan(Plan(plan), EndingKind.ACT, effects)


def test_every_outcome_has_a_word_and_a_sentence() -> None:
    assert set(words.OUTCOMES) == {outcome.value for outcome in Outcome}
    assert "part" in words.OUTCOMES["partial"].help
