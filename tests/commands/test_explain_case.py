"""A case explained without a log or a broker."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.principal import SYSTEM
from accounts.services import grant_role
from caseflow.domain.roles import Role
from cases.intake import open_case
from tests.commands.conftest import Run
from tests.driving import CLAIM, Engine
from tests.factories import make_organisation, make_person

INTAKE = {"customer_id": "U-1", "subscription_id": "S-1", "payment_id": "PAY-1", "claim": CLAIM}


@pytest.fixture
def viewer(engine: Engine) -> str:
    engine.person("viewer")
    return "--as=viewer"


def test_a_completed_case_tells_who_decided_what_and_what_came_of_it(engine: Engine, viewer: str, run: Run) -> None:
    story = engine.approved()
    story.run_later()

    told = run("explain_case", story.case.public_id, viewer, "--json", "--language=en").json()

    assert (told["state"]["code"], told["outcome"]["code"]) == ("COMPLETED", "done")
    (proposal,) = told["proposals"]
    assert proposal["request"] == (
        f"One activation request for subscription {story.subscription} will be sent. No refund is created."
    )
    assert [(one["kind"], one["person"]) for one in proposal["decisions"]] == [("approve", "Approver")]
    effect, notice = told["actions"]
    assert (effect["status"]["code"], notice["status"]["code"]) == ("CONFIRMED", "CONFIRMED")
    (call,) = effect["calls"]
    (done,) = story.activations()
    assert (call["call"], call["outcome"], effect["key"]) == (done["request_id"], "confirmed", done["key"])
    events = [one for one in told["timeline"] if one["type"] == "event"]
    assert [one["number"] for one in events] == list(range(1, len(events) + 1))
    assert events[-1]["to"] == "COMPLETED"
    assert any(one["type"] == "attempt" and one["stage"] == "execute" for one in told["timeline"])


def test_orders_of_people_are_told_with_who_ordered_who_signed_and_what_came_of_it(
    engine: Engine, viewer: str, run: Run
) -> None:
    story = engine.proposed()
    story.decide("reject", next="by_hand", person=engine.person("second"))
    recovery = story.order("finish_by_hand", reason="Очень личная причина").recovery
    waiting = run("explain_case", story.case.public_id, viewer, "--language=en").out
    story.sign()

    (told,) = run("explain_case", story.case.public_id, viewer, "--json", "--language=en").json()["recoveries"]
    text = run("explain_case", story.case.public_id, viewer, "--language=ru").out

    assert "waits for a second person" in waiting
    assert (told["id"], told["kind"], told["status"]) == (recovery.public_id, "finish_by_hand", "done")
    assert (told["asked_by"], told["authorised_by"], told["outcome"]) == ("Operator", "Approver", "COMPLETED")
    assert "Завершить вручную" in text and "Подписал: Approver" in text
    assert "личная" not in text


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_personal_text_stays_hidden(engine: Engine, viewer: str, run: Run, form: list[str]) -> None:
    story = engine.proposed()
    story.decide("return", reason="Очень личная причина")
    story.run()

    told = run("explain_case", story.case.public_id, viewer, *form)

    assert told.code == 0
    for secret in (CLAIM, story.email, "Очень личная причина"):
        assert secret not in told.out


def test_text_is_in_the_language_asked_for_with_whole_moments(engine: Engine, viewer: str, run: Run) -> None:
    story = engine.open(payment={"amount": "1.00"})
    story.run()

    english = run("explain_case", story.case.external_id, viewer, "--language=en").out
    russian = run("explain_case", story.case.external_id, viewer, "--language=ru").out

    assert "Needs attention (NEEDS_ATTENTION)" in english
    assert "Next step: Payment and price are not equal. Decide by hand." in english
    assert f"{story.case.created_at:%Y}" in english
    assert "Нужно внимание" in russian or "NEEDS_ATTENTION" in russian
    assert russian != english


def test_the_history_in_russian_names_who_and_what_without_codes(engine: Engine, viewer: str, run: Run) -> None:
    story = engine.approved()
    story.run_later()

    told = run("explain_case", story.case.public_id, viewer, "--language=ru").out

    history = told[told.index("История") :]
    assert "Сообщение передано, не подтверждено" in history
    assert "Обращение принято" in history and "· Caseflow ·" in history
    assert "выполнена" in history
    assert "Выполняется → Уведомление" in history
    for raw in ("system", "done", "EXECUTING"):
        assert raw not in history


def test_a_case_that_waits_says_why_once(engine: Engine, viewer: str, run: Run) -> None:
    story = engine.open(payment={"status": "pending"})
    story.run()

    told = run("explain_case", story.case.public_id, viewer, "--language=en").out

    sentence = "The bank has not confirmed the payment yet. It is read again every 15 minutes for 24 hours."
    assert f"Reason: {sentence} (payment_pending)" in told
    assert told.count(sentence) == 1


def test_changed_facts_stand_side_by_side(engine: Engine, viewer: str, run: Run) -> None:
    story = engine.approved()
    story.change("payments", status="refunded")
    story.run_later()

    told = run("explain_case", story.case.public_id, viewer, "--language=en").out

    assert "confirmed → refunded" in told


def test_a_lost_answer_is_shown_as_unknown_until_it_is_looked_up(engine: Engine, viewer: str, run: Run) -> None:
    story = engine.approved()
    story.fault("drop_after")
    story.run("execute")

    told = run("explain_case", story.case.public_id, viewer, "--json", "--language=en").json()

    assert told["actions"][0]["status"]["code"] == "UNKNOWN"
    assert [one["stage"] for one in told["planned"]] == ["reconcile"]
    assert told["effects_open"] == 1


@pytest.fixture
def two_organisations(database: None) -> Any:
    acme, globex = make_organisation("acme"), make_organisation("globex")
    both = make_person("both", acme, "viewer")
    make_person("only-globex", globex, "viewer")
    grant_role(person=both, organisation=globex, role=Role.VIEWER, by=SYSTEM)
    return [
        open_case(
            organisation=one,
            process="restore_access",
            source="helpdesk",
            external_id="T-1",
            intake=INTAKE,
            actor=SYSTEM,
        ).case
        for one in (acme, globex)
    ]


def test_a_name_that_two_tickets_have_has_to_be_told_apart(two_organisations: Any, run: Run) -> None:
    acme, globex = two_organisations

    several = run("explain_case", "T-1", "--as=both", "--json")

    assert several.code == 2
    assert acme.public_id in several.failure and globex.public_id in several.failure
    assert run("explain_case", "T-1", "--as=both", "--organisation=acme", "--json").json()["case"] == acme.public_id
    assert run("explain_case", "T-1", "--as=only-globex", "--json").json()["case"] == globex.public_id


@pytest.mark.parametrize("name", ["T-2", "C-0000000000", "C-' OR 1=1", "\u202e"])
def test_what_is_not_in_sight_does_not_exist(two_organisations: Any, run: Run, name: str) -> None:
    acme, _globex = two_organisations

    missing = run("explain_case", name, "--as=only-globex")
    hidden = run("explain_case", acme.public_id, "--as=only-globex")

    assert (missing.code, hidden.code) == (1, 1)
    assert (missing.out, hidden.out) == ("", "")
    assert hidden.failure == run("explain_case", "C-0000000000", "--as=only-globex").failure
