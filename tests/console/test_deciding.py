"""Deciding in the browser: what was seen is what is decided, and every refusal says why."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import translation
from django.utils.translation import gettext

from accounts.principal import actor_of_person
from caseflow.domain import words
from cases.models import Task
from cases.observing import newest_observations
from tests.console.conftest import Desk
from tests.driving import Engine, Story, decisions, fingerprint

Desks = Callable[..., Desk]


def address(story: Story) -> str:
    return f"/console/approvals/{story.proposal.public_id}/"


def test_the_page_names_the_exact_effect_and_what_the_decision_is_bound_to(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    page = desk().get(address(story))
    assert (
        f"One activation request for subscription {story.subscription} will be sent. No refund is created." in page.text
    )
    assert story.proposal.digest in page.html
    assert f"restore_access:{page.html.split('restore_access:')[1][:12]}" in page.text
    assert page.text.count("the same") == 9
    assert "Subscription: state inactive inactive the same" in page.text


@pytest.mark.parametrize("step", ["approve", "reject", "return", "ask-data"])
def test_without_javascript_a_button_leads_to_a_page_with_the_same_form(engine: Engine, desk: Desks, step: str) -> None:
    story = engine.proposed()
    reader = desk()
    assert f'href="{address(story)}{step}/"' in reader.get(address(story)).html
    before = fingerprint()
    page = reader.get(f"{address(story)}{step}/")
    assert page.field("digest") == story.proposal.digest
    assert page.field("version") == str(story.case.version)
    assert fingerprint() == before


def test_approving_says_that_nothing_was_sent_yet_and_offers_to_withdraw(
    engine: Engine, desk: Desks, settings: Any
) -> None:
    settings.CASEFLOW_UNDO_SECONDS = 60
    story = engine.proposed()
    page = desk().press("approve", story.proposal.public_id)
    assert f"Decision recorded. Activation of {story.subscription} has not been sent yet." in page.text
    assert "Withdraw (" in page.text
    case = desk().get(f"/console/cases/{story.case.public_id}/")
    assert "Executing" in case.text and "Planned" in case.text and "Withdraw (" in case.text


def test_a_withdrawn_plan_is_proposed_again_and_can_be_approved(engine: Engine, desk: Desks, settings: Any) -> None:
    settings.CASEFLOW_UNDO_SECONDS = 60
    story = engine.proposed()
    first, reader = story.proposal.public_id, desk()
    reader.press("approve", first)
    page = reader.post(f"/console/approvals/{first}/withdraw/")
    again = story.proposal.public_id
    assert again != first
    assert f"The plan is proposed again as {again}" in page.text
    withdrawn = reader.get(f"/console/approvals/{first}/")
    assert "Decision withdrawn. Nothing was sent." in withdrawn.text
    assert "Waiting for decision" not in withdrawn.text and "Follow the result" not in withdrawn.text
    for path in (f"approvals/{first}/", f"approvals/{again}/", f"cases/{story.case.public_id}/"):
        assert "· withdrawn" in reader.get(f"/console/{path}").text
    reader.press("approve", again)
    assert story.state == "EXECUTING"


def test_a_superseded_proposal_names_the_one_that_stands_instead(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    first, reader = story.proposal.public_id, desk()
    reader.press("return", first, reason="Проверьте ещё раз")
    story.run()
    again = story.proposal.public_id
    page = reader.get(f"/console/approvals/{first}/")
    assert f"Superseded by {again}" in page.text
    assert "Waiting for decision" not in page.text and "Follow the result" not in page.text
    assert "Waiting for decision" in reader.get(f"/console/approvals/{again}/").text


def test_it_is_too_late_to_withdraw_once_the_call_began(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    reader = desk()
    reader.press("approve", story.proposal.public_id)
    story.run()
    page = reader.post(f"{address(story)}withdraw/", status=409)
    assert "Too late to withdraw" in page.text
    assert story.effect.public_id in page.text


def test_requested_and_confirmed_are_told_apart(engine: Engine, desk: Desks) -> None:
    story = engine.approved()
    story.fault("stale_read", times=1)
    engine.outside.script("stale_read", method="GET", path=f"/subscriptions/{story.subscription}", times=None)
    story.run("execute")
    reader, case = desk(), f"/console/cases/{story.case.public_id}/"
    page = reader.get(case)
    assert "Requested, not confirmed" in page.text
    assert "Confirmed by the service" not in page.text
    engine.outside.ask("DELETE", "/faults")
    story.run_later()
    page = reader.get(case)
    assert "Confirmed by the service" in page.text
    assert "The state was read back from the service." in page.text


@pytest.mark.parametrize("language", ["ru", "en"])
def test_no_page_file_answer_or_mail_says_done_before_the_state_was_read_back(
    engine: Engine, desk: Desks, language: str
) -> None:
    story = engine.approved()
    engine.outside.script("stale_read", method="GET", path=f"/subscriptions/{story.subscription}", times=None)
    story.run("execute")
    reader, case, action = desk(language=language), story.case.public_id, story.effect.public_id
    assert story.effect.status == "REQUESTED"
    pages = [
        f"cases/{case}/",
        f"cases/{case}/timeline/",
        f"actions/{action}/",
        f"approvals/{story.proposal.public_id}/",
    ]
    shown, told = [reader.get(f"/console/{page}").text for page in pages], []
    for what in ("cases", "actions"):
        answer = reader.client.post(f"/console/export/{what}/", {"form": "csv"})
        told.append(b"".join(answer.streaming_content).decode())
    told += [reader.client.get(f"/api/v1/cases/{case}/{part}").content.decode() for part in ("", "actions/")]
    with translation.override(language):
        confirmed = [gettext(text) for text in words.ACTIONS["CONFIRMED"]]
        finished = [*confirmed, gettext(words.OUTCOMES["done"].help), "CONFIRMED", "COMPLETED"]
        completed = gettext(words.STATES["COMPLETED"].label)  # a page names it in its picture of the way
    for word in finished:
        assert [text for text in shown + told if word in text] == [], word
    assert [text for text in told if completed in text] == []
    assert story.letters() == []


def test_the_second_of_two_approvers_is_told_who_decided(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    proposal, late = story.proposal.public_id, desk("second")
    said = late.seen(proposal)
    desk("approver").press("approve", proposal)
    page = late.post(f"/console/approvals/{proposal}/approve/", said, status=409)
    assert "This proposal is decided already" in page.text
    assert "Approver decided on it: approved" in page.text
    assert decisions(story) == [("approver", "approve", True)]


def test_a_decision_for_an_older_version_shows_what_differs(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    reader = desk()
    said = reader.seen(story.proposal.public_id) | {"version": "1"}
    page = reader.post(f"{address(story)}approve/", said, status=409)
    assert "Decision not accepted: the data has changed" in page.text
    assert "Version of the case 1 3" in page.text
    assert story.state == "WAITING_APPROVAL"


def test_a_changed_fact_is_marked_and_takes_approval_away(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    reader = desk()
    said = reader.seen(story.proposal.public_id)
    row = next(row for row in newest_observations(story.id) if row.name == "subscription")
    row.pk = None
    row.value = row.value | {"status": "active"}
    row.save(force_insert=True)
    page = reader.get(address(story))
    assert "Facts changed, approval is not available." in page.text
    assert "1 fact has changed since the proposal was prepared." in page.text
    assert "Subscription: state inactive active changed" in page.text
    assert f'href="{address(story)}approve/"' not in page.html
    page = reader.post(f"{address(story)}approve/", said, status=409)
    assert "was “inactive”, now “active”" in page.text
    assert story.state == "WAITING_APPROVAL"


@pytest.mark.parametrize(
    "broken",
    [{"digest": ""}, {"digest": "a" * 63}, {"digest": "A" * 64}, {"version": ""}, {"version": "three"}],
)
def test_a_form_without_what_was_seen_decides_nothing(engine: Engine, desk: Desks, broken: dict[str, str]) -> None:
    story = engine.proposed()
    reader = desk()
    page = reader.post(f"{address(story)}approve/", reader.seen(story.proposal.public_id) | broken, status=400)
    assert "The form is incomplete." in page.text
    assert decisions(story) == []


@pytest.mark.parametrize("step", ["reject", "return", "ask-data"])
def test_history_needs_a_reason(engine: Engine, desk: Desks, step: str) -> None:
    story = engine.proposed()
    page = desk().press(step, story.proposal.public_id, next="close", reason="  ", status=400)
    assert "This field is required." in page.text
    assert decisions(story) == []


@pytest.mark.parametrize(
    ("step", "fields", "standing"),
    [
        ("reject", {"next": "by_hand"}, ("NEEDS_ATTENTION", "rejected_by_hand")),
        ("reject", {"next": "close"}, ("CLOSED_NO_CHANGE", "")),
        ("return", {}, ("CHECKING", "")),
        ("ask-data", {}, ("WAITING_DATA", "data_asked")),
    ],
)
def test_each_other_decision_moves_the_case_where_it_says(
    engine: Engine, desk: Desks, step: str, fields: dict[str, str], standing: tuple[str, str]
) -> None:
    story = engine.proposed()
    page = desk().press(step, story.proposal.public_id, reason="Проверить платёж", **fields)
    assert story.proposal.public_id in page.text
    assert story.standing == standing
    assert "a reason is recorded" in page.text
    assert "Проверить" not in page.html


def test_who_opened_the_case_is_told_that_another_has_to_decide(engine: Engine, desk: Desks) -> None:
    story = engine.proposed(actor=actor_of_person(engine.approver))
    page = desk().get(address(story))
    assert "You took part in this case: opened it, supplied its data or ordered something." in page.text
    assert "Who may decide: Second, Third." in page.text
    said = {"digest": story.proposal.digest, "version": str(story.case.version)}
    page = desk().post(f"{address(story)}approve/", said, status=403)
    assert "Another person has to decide" in page.text
    assert "Nothing is waiting for you." in desk().get("/console/").text


def test_an_expired_proposal_says_so(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    reader = desk()
    said = reader.seen(story.proposal.public_id)
    story.age_proposal(timedelta(hours=25))
    assert "This request expired on" in reader.get(address(story)).text
    page = reader.post(f"{address(story)}approve/", said, status=409)
    assert "The time for this decision has run out" in page.text
    assert decisions(story) == []


def test_below_quorum_the_page_says_that_more_approvals_are_needed(
    engine: Engine, desk: Desks, test_processes: None
) -> None:
    story = engine.proposed(process="two_approvers")
    page = desk().press("approve", story.proposal.public_id)
    assert "Your approval is counted. More approvals are needed; until then nothing is sent." in page.text
    assert "Nothing is waiting for you." in desk().get("/console/").text
    desk("second").press("approve", story.proposal.public_id)
    assert story.state == "EXECUTING"


@pytest.mark.parametrize("path", ["approvals/{proposal}/withdraw/", "cases/{case}/supply/", "language/"])
def test_a_change_is_never_a_get(engine: Engine, desk: Desks, path: str) -> None:
    story = engine.proposed()
    names = {"case": story.case.public_id, "proposal": story.proposal.public_id}
    assert desk().client.get(f"/console/{path.format(**names)}").status_code == 405


def test_a_form_from_another_site_changes_nothing(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    reader = desk()
    said = reader.seen(story.proposal.public_id)
    reader.client.handler.enforce_csrf_checks = True
    page = reader.post(f"{address(story)}approve/", said, status=403)
    assert "The form is out of date" in page.text
    assert page.inline == []
    assert decisions(story) == []


def test_supplied_data_sends_the_case_on(engine: Engine, desk: Desks) -> None:
    story = engine.open(missing=["payments"])
    story.run()
    operator, case = desk("operator"), f"/console/cases/{story.case.public_id}/"
    page = operator.get(case)
    assert "There is no payment with this number. Ask for the right one." in page.text
    assert page.field("payment_id") == story.payment
    seen = {"revision": page.field("revision")}
    operator.post(f"{case}supply/", seen | {"payment_id": "no spaces"}, status=400)
    operator.post(f"{case}supply/", seen | {"payment_id": story.payment}, status=400)
    engine.outside.ask(
        "PUT",
        "/world",
        {"payments": [{"id": "PAY-right", "customer_id": story.customer, "amount": "990.00", "status": "confirmed"}]},
    ).raise_for_status()
    page = operator.post(f"{case}supply/", seen | {"payment_id": "PAY-right", "customer_id": story.customer})
    assert "Data recorded. The case is checked again." in page.text
    assert Task.objects.filter(case_id=story.id, stage="observe", status="due").exists()
    story.run()
    assert story.state == "WAITING_APPROVAL"
