"""Telling the customer: its own key, its own status; a failed notice never shakes a confirmed effect."""

from __future__ import annotations

from typing import Any

import pytest

from actions.models import ExternalCall
from cases.models import Task
from tests.driving import Engine, Killed, Story, hooks
from tests.pauses import pause, resume


def mail_fault(story: Story, kind: str, times: int | None = 1, **more: Any) -> None:
    order = {
        "match": {"method": "POST", "path": "/mail/messages", "subject": story.email},
        "fault": {"kind": kind, **more},
        "times": times,
    }
    assert story.engine.outside.ask("POST", "/faults", order).status_code == 201


def notice_calls(story: Story) -> list[tuple[str, str]]:
    return list(ExternalCall.objects.filter(action=story.notice).order_by("id").values_list("kind", "outcome"))


def sent(story: Story) -> int:
    """Requests to the mail system under the notice's key."""
    return len(story.engine.outside.requests(story.notice.key))


def test_a_notice_the_mail_server_took_is_confirmed_by_its_receipt(engine: Engine) -> None:
    story = engine.approved()
    story.run()
    (letter,) = story.letters()
    notice = story.notice
    assert (notice.status, notice.confirmed_by, notice.external_id) == ("CONFIRMED", "receipt", letter["id"])
    assert story.case.public_id == letter["body"]["reference"]
    assert story.subscription in letter["body"]["subject"] + letter["body"]["text"]
    assert notice.key != story.effect.key


@pytest.mark.parametrize(("kind", "requests"), [("drop_after", 1), ("drop_before", 2)])
def test_a_lost_receipt_is_looked_up_and_the_customer_gets_one_letter(kind: str, requests: int, engine: Engine) -> None:
    story = engine.approved()
    mail_fault(story, kind)
    story.run()
    assert (story.state, story.notice.status) == ("NOTIFYING", "UNKNOWN")
    story.run_later()
    assert (story.state, story.notice.status) == ("COMPLETED", "CONFIRMED")
    assert (len(story.letters()), sent(story)) == (1, requests)
    assert ("lookup", "confirmed" if requests == 1 else "not_applied") in notice_calls(story)


def test_a_busy_mail_server_is_asked_again_under_the_same_key(engine: Engine) -> None:
    story = engine.approved()
    mail_fault(story, "too_many", times=2)
    story.run()
    assert (story.state, story.notice.status) == ("NOTIFYING", "PLANNED")
    story.run_later()
    story.run_later()
    assert (story.state, len(story.letters()), sent(story)) == ("COMPLETED", 1, 3)


@pytest.mark.parametrize("later", [{"kind": "too_many"}, {"kind": "error_before", "status": 422}])
def test_no_answer_to_a_later_request_ends_the_doubt_of_an_earlier_one(later: dict[str, Any], engine: Engine) -> None:
    story = engine.approved()
    mail_fault(story, "drop_before")
    story.run()
    mail_fault(story, **later)
    story.run_later()
    assert notice_calls(story)[1] == ("lookup", "not_applied")
    assert (story.state, story.notice.status, sent(story)) == ("NOTIFYING", "UNKNOWN", 2)
    story.run_later()
    assert (story.state, story.notice.status, len(story.letters())) == ("COMPLETED", "CONFIRMED", 1)


def test_a_refused_notice_goes_to_a_person_and_the_effect_stays_confirmed(engine: Engine) -> None:
    story = engine.approved(customer={"email": "no-address"})
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "notice_unconfirmed")
    assert (story.effect.status, story.notice.status, story.case.effects_done) == ("CONFIRMED", "REFUSED", 1)
    assert len(story.activations()) == 1


def test_a_mail_server_that_is_never_ready_goes_to_a_person_and_the_effect_stays_confirmed(engine: Engine) -> None:
    story = engine.approved()
    mail_fault(story, "too_many", times=None)
    story.run()
    for _ in range(10):
        story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "notice_unconfirmed")
    assert (story.effect.status, story.notice.status, sent(story)) == ("CONFIRMED", "REFUSED", 8)


def test_a_notice_that_stays_in_doubt_is_unknown_and_not_sent_again(engine: Engine) -> None:
    story = engine.approved()
    mail_fault(story, "drop_after")
    engine.outside.script("error_before", method="GET", path="/operations/*", times=None)
    story.run()
    for _ in range(10):
        story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "notice_unconfirmed")
    assert (story.effect.status, story.notice.status) == ("CONFIRMED", "UNKNOWN")
    assert (sent(story), len(story.letters())) == (1, 1)


def test_a_worker_killed_while_it_sent_a_notice_is_replaced_by_one_that_looks_first(engine: Engine) -> None:
    story = engine.approved()

    def die() -> None:
        raise Killed

    hooks.at("after_mail", die)
    with pytest.raises(Killed):
        story.run()
    assert (story.notice.status, len(story.letters())) == ("REQUESTED", 1)
    engine.lapse_lease(story.task("notify"))
    story.run()
    assert (story.state, story.notice.status, sent(story)) == ("COMPLETED", "CONFIRMED", 1)
    assert notice_calls(story) == [("perform", "unknown"), ("lookup", "confirmed")]


def test_a_pause_of_the_mail_holds_the_notice_only(engine: Engine) -> None:
    stopped = pause("system", "mail")
    story = engine.approved()
    story.run()
    assert (story.state, story.effect.status, story.notice.status) == ("NOTIFYING", "CONFIRMED", "PLANNED")
    assert story.task("notify").last_error == "paused"
    resume(stopped)
    story.run_later()
    assert (story.state, len(story.letters())) == ("COMPLETED", 1)


def test_an_address_that_was_purged_leaves_the_notice_unsent_and_a_person_asked(engine: Engine) -> None:
    story = engine.approved()
    hooks.at("after_perform", lambda: engine.owner.execute("DELETE FROM cases_casekey") and None)
    story.run()
    story.run_later()
    assert story.effect.status == "CONFIRMED"
    assert story.letters() == []
    assert story.standing == ("NEEDS_ATTENTION", "notice_unconfirmed")


def test_the_customer_is_asked_for_the_right_number_while_the_case_waits(engine: Engine) -> None:
    story = engine.open(missing=["payments"])
    story.run()
    assert (story.state, len(story.letters())) == ("WAITING_DATA", 1)
    assert story.payment in story.letters()[0]["body"]["text"]
    assert story.notice.status == "CONFIRMED"


def test_a_question_that_could_not_be_sent_leaves_the_case_waiting(engine: Engine) -> None:
    story = engine.open(missing=["payments"], customer={"email": "no-address"})
    story.run()
    assert (story.standing, story.notice.status) == (("WAITING_DATA", "payment_not_found"), "REFUSED")
    assert Task.objects.filter(case_id=story.id, stage="data_due", status="due").exists()


def test_a_closing_notice_that_failed_goes_to_a_person(engine: Engine) -> None:
    story = engine.open(payment={"status": "refunded"}, customer={"email": "no-address"})
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "notice_unconfirmed")


def test_the_letter_is_in_the_language_of_the_customer(engine: Engine) -> None:
    ours, theirs = engine.approved(), engine.approved(customer={"language": "en"})
    ours.run()
    theirs.run()
    russian, english = ours.letters()[0]["body"]["subject"], theirs.letters()[0]["body"]["subject"]
    assert any("а" <= letter <= "я" for letter in russian.lower())
    assert english.isascii()
