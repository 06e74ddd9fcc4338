"""Recoveries in the browser: exactly the permitted ones as buttons, each asked about in words before it is done."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from caseflow.domain.recovery import Kind
from operations.models import Recovery
from tests.console.conftest import Desk, Page
from tests.driving import Engine, Story, fingerprint
from tests.operations import standings as at
from tests.operations.standings import stand

Desks = Callable[..., Desk]


def address(story: Story, kind: str = "") -> str:
    return f"/console/cases/{story.case.public_id}/" + (f"recover/{kind.replace('_', '-')}/" if kind else "")


def offered(page: Page) -> set[str]:
    return {slug.replace("-", "_") for slug in re.findall(r'/recover/([a-z-]+)/"', page.html)}


def fields_of(page: Page) -> dict[str, str]:
    names = ["version", *(name for name in ("action", "action_status") if f'name="{name}" value=' in page.html)]
    return {name: page.field(name) for name in names}


def press(desk: Desk, story: Story, kind: str, *, status: int = 200, **said: str) -> Page:
    seen = fields_of(desk.get(address(story, kind)))
    return desk.post(address(story, kind), seen | {"reason": "Проверено"} | said, status=status)


@pytest.mark.parametrize(
    ("start", "kinds"),
    [
        (at.rejected_to_hand, {"observe_again", "correct_input", "finish_by_hand", "close"}),
        (at.unknown, {"reconcile", "result_by_hand"}),
        (at.not_applied, {"reconcile", "accept_not_applied", "result_by_hand"}),
        (at.told_nobody, {"observe_again", "correct_input", "send_notice", "finish_without_notice", "finish_by_hand"}),
        (at.sent_and_unanswered, {"reconcile"}),
        (at.completed, set()),
    ],
)
def test_the_page_of_a_case_offers_exactly_what_may_be_ordered(
    start: Any, kinds: set[str], engine: Engine, settings: Any, desk: Desks
) -> None:
    story = stand(start, engine, settings)
    page = desk("operator").get(address(story))
    assert offered(page) == kinds
    assert page.inline == []
    assert offered(desk("viewer").get(address(story))) == set()
    for kind in Kind:
        answer = desk("operator").client.get(address(story, kind))
        assert answer.status_code == (200 if kind in kinds else 302)


def test_who_may_not_order_is_told_who_may(engine: Engine, settings: Any, desk: Desks) -> None:
    story = stand(at.unknown, engine, settings)
    page = desk("viewer").get(address(story))
    assert "You do not have the right to order what comes next." in page.text
    desk("viewer").get(address(story, "reconcile"), 403)
    desk("viewer").post(address(story, "reconcile"), {"version": str(story.case.version), "reason": "x"}, status=403)
    assert story.history()[-1] == "recovery.refused"


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_confirmation_names_the_object_the_effect_and_what_will_not_happen(
    language: str, engine: Engine, settings: Any, desk: Desks
) -> None:
    story = stand(at.denied_with_a_living_key, engine, settings)
    page = desk("operator", language).get(address(story, "repeat"))
    action = story.effect
    title = {"en": f"Repeat request {action.public_id} with the same key?",
             "ru": f"Повторить запрос {action.public_id} с тем же ключом?"}  # fmt: skip
    said = {"en": "A repeat does not create a second change.", "ru": "Повтор не создаст второго изменения."}
    assert title[language] in page.text
    assert action.key in page.text
    assert said[language] in page.text
    assert {"en": "What will not happen:", "ru": "Чего не будет:"}[language] in page.text


def test_every_confirmation_stands_in_both_languages_without_a_place_left_open(
    engine: Engine, settings: Any, desk: Desks
) -> None:
    for start in (at.told_nobody_of_nothing, at.denied_with_a_living_key, at.not_applied):
        story = stand(start, engine, settings)
        for language in ("en", "ru"):
            sitting = desk("operator", language)
            for kind in offered(sitting.get(address(story))):
                page = sitting.get(address(story, kind))
                assert "{" not in page.text and page.inline == []


def test_an_order_from_the_page_is_carried_out_and_stands_on_it(engine: Engine, settings: Any, desk: Desks) -> None:
    story = stand(at.unknown, engine, settings)
    page = press(desk("operator"), story, "reconcile")
    assert story.state == "EXECUTING"
    recovery = Recovery.objects.get()
    assert f"Order {recovery.public_id} is carried out." in page.text
    assert "Ordered by Operator" in page.text
    assert "Проверено" not in page.text
    story.run()
    assert (story.state, story.effect.confirmed_by) == ("COMPLETED", "lookup")


def test_a_form_of_an_older_version_is_refused_with_what_happened_since(
    engine: Engine, settings: Any, desk: Desks
) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    sitting = desk("operator")
    seen = fields_of(sitting.get(address(story, "close")))
    story.order("observe_again", "recoverer")
    page = sitting.post(address(story, "close"), seen | {"reason": "Закрыть"}, status=409)
    assert "Not carried out: the case moved on" in page.text
    assert "A person asked to check again" in page.text
    assert story.state == "CHECKING"


def test_an_order_without_a_reason_or_without_its_version_changes_nothing(
    engine: Engine, settings: Any, desk: Desks
) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    sitting = desk("operator")
    sitting.get(address(story))
    before = fingerprint()
    seen = fields_of(sitting.get(address(story, "close")))
    sitting.post(address(story, "close"), seen | {"reason": " "}, status=400)
    page = sitting.post(address(story, "close"), {"reason": "Закрыть"}, status=400)
    assert "The form is incomplete." in page.text
    assert fingerprint() == before


def test_a_result_by_hand_is_typed_ordered_and_signed_by_another_person(
    engine: Engine, settings: Any, desk: Desks
) -> None:
    story = stand(at.unknown, engine, settings)
    operator, action = desk("operator"), story.effect.public_id
    said = {"result": "done", "evidence": "https://billing.example.org/7", "typed": "A-1"}
    page = press(operator, story, "result_by_hand", status=400, **said)
    assert f"Type {action} to confirm." in page.text
    page = press(operator, story, "result_by_hand", **(said | {"typed": action}))
    assert "Nothing is changed before a second person has signed it." in page.text
    recovery = Recovery.objects.get()
    path = f"/console/recoveries/{recovery.public_id}/"
    assert "Sign as the second person?" not in operator.get(path).text

    approver = desk("approver")
    page = approver.get(path)
    assert "Sign as the second person?" in page.text
    assert "billing.example.org" not in page.text
    shown = approver.post(f"{address(story)}show-text/", {"field": recovery.evidence_field})
    assert "https://billing.example.org/7" in shown.text
    seen = {name: page.field(name) for name in ("version", "action_status")}
    page = approver.post(path, seen)
    assert f"Signed. Order {recovery.public_id} is carried out." in page.text
    assert (story.state, story.effect.confirmed_by) == ("EXECUTING", "hand")
    story.run()
    assert "Confirmed by hand by two people." in approver.get(address(story)).text


def test_a_signature_for_what_changed_meanwhile_is_refused_and_says_so(
    engine: Engine, settings: Any, desk: Desks
) -> None:
    story = stand(at.unknown, engine, settings)
    row = story.order("result_by_hand").recovery
    approver = desk("approver")
    path = f"/console/recoveries/{row.public_id}/"
    page = approver.get(path)
    seen = {name: page.field(name) for name in ("version", "action_status")}
    story.order("reconcile")
    story.run()
    page = approver.post(path, seen, status=409)
    assert "Nothing was changed" in page.text
    assert story.effect.confirmed_by == "lookup"
    assert "The case moved on before it was signed." in approver.get(address(story)).text


def test_an_order_that_waits_can_be_ended_from_its_page(engine: Engine, settings: Any, desk: Desks) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    row = story.order("finish_by_hand").recovery
    page = desk("approver").post(f"/console/recoveries/{row.public_id}/take-back/")
    assert f"Order {row.public_id} is ended. Nothing was changed." in page.text
    assert (Recovery.objects.get().status, story.state) == ("refused", "NEEDS_ATTENTION")


def test_corrected_input_needs_a_changed_value(engine: Engine, settings: Any, desk: Desks) -> None:
    story = stand(at.refused, engine, settings)
    operator = desk("operator")
    page = press(operator, story, "correct_input", status=400)
    assert "Change at least one value." in page.text
    other = engine.open(about=story)
    press(operator, story, "correct_input", data_payment_id=other.payment)
    assert story.state == "CHECKING"
    assert story.told("case.input_corrected")["fields"] == ["payment_id"]


@pytest.mark.parametrize("kind", ["set-state", "observe_again", "result-by-hand-now"])
def test_there_is_no_other_recovery(kind: str, engine: Engine, settings: Any, desk: Desks) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    desk("operator").post(f"{address(story)}recover/{kind}/", {"version": "1", "reason": "x"}, status=404)
