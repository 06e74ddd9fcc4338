"""One document, and one message to each recipient who may open it; who may not is a stopped step with an owner."""

from __future__ import annotations

import pytest

from accounts.models import Person
from actions.models import Action
from caseflow.domain.errors import BadInput
from cases.models import Observation
from tests.driving import Story
from tests.pauses import pause, resume
from tests.reports.conftest import Bureau


def held_back(bureau: Bureau) -> Story:
    """A report whose only recipient may not open it."""
    requested = bureau.request(recipients=["alpha"])
    bureau.take_access(bureau.heads[0])
    return bureau.run(requested)


def test_of_three_recipients_the_one_without_access_stops_and_is_told_after_the_repair_and_nobody_twice(
    bureau: Bureau,
) -> None:
    alpha, beta, gamma = bureau.heads
    requested = bureau.request(recipients=["alpha", "beta", "gamma"])
    bureau.take_access(beta)
    story = bureau.run(requested)
    assert story.standing == ("NEEDS_ATTENTION", "no_access")
    assert bureau.letters() == sorted([alpha.email, gamma.email])
    assert bureau.notices(story.case) == {
        "alpha": ("CONFIRMED", ""),
        "beta": ("PLANNED", "no_access"),
        "gamma": ("CONFIRMED", ""),
    }
    # Beta's message was looked at before Gamma's, which was the last of the plan.
    assert story.told("action.held_back")["owner"]["team"] == "Administrators of the organisation"
    assert (story.effect.status, bureau.documents()) == ("CONFIRMED", 1)

    bureau.give_access(beta)
    story.order("send_notice")
    story.run()
    assert (story.state, story.case.outcome) == ("COMPLETED", "done")
    assert bureau.letters() == sorted([alpha.email, beta.email, gamma.email])
    # The very same action: its key never changed, and nobody else's was used again.
    assert Action.objects.filter(case=story.case, kind="notice").count() == 3
    assert bureau.documents() == 1


def test_of_two_without_access_the_first_repair_tells_one_and_the_other_still_waits(bureau: Bureau) -> None:
    alpha, beta, gamma = bureau.heads
    requested = bureau.request(recipients=["alpha", "beta", "gamma"])
    bureau.take_access(alpha)
    bureau.take_access(gamma)
    story = bureau.run(requested)
    assert (story.standing, bureau.letters()) == (("NEEDS_ATTENTION", "no_access"), [beta.email])
    bureau.give_access(gamma)
    story.order("send_notice")
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "no_access")
    assert bureau.letters() == sorted([beta.email, gamma.email])
    bureau.give_access(alpha)
    story.order("send_notice")
    story.run()
    assert (story.state, len(bureau.letters())) == ("COMPLETED", 3)


def test_who_is_dismissed_is_held_back_for_that_reason_and_told_when_back(bureau: Bureau) -> None:
    alpha, beta, _gamma = bureau.heads
    requested = bureau.request(recipients=["alpha", "beta"])
    Person.objects.filter(pk=beta.pk).update(is_active=False)
    story = bureau.run(requested)
    assert (story.standing, bureau.letters()) == (("NEEDS_ATTENTION", "no_access"), [alpha.email])
    Person.objects.filter(pk=beta.pk).update(is_active=True)
    story.order("send_notice")
    story.run()
    assert (story.state, bureau.letters()) == ("COMPLETED", sorted([alpha.email, beta.email]))


def test_access_is_read_when_the_message_leaves_and_not_when_it_was_planned(bureau: Bureau) -> None:
    (alpha, *_others), stopped = bureau.heads, pause("system", "mail")
    story = bureau.run(bureau.request(recipients=["alpha"]))
    assert story.state == "NOTIFYING" and bureau.letters() == []
    bureau.take_access(alpha)
    resume(stopped)
    story.run_later()
    assert (story.standing, bureau.letters()) == (("NEEDS_ATTENTION", "no_access"), [])
    readings = Observation.objects.filter(case=story.case, name="access").order_by("id")
    assert [reading.value[f"p{alpha.pk}"] for reading in readings][-1] == "none"


def test_a_message_in_doubt_whose_recipient_lost_access_is_not_sent_again_and_stays_in_doubt(bureau: Bureau) -> None:
    alpha, *_others = bureau.heads
    order = {
        "match": {"method": "POST", "path": "/mail/messages", "subject": alpha.email},
        "fault": {"kind": "drop_before"},
        "times": 1,
    }
    bureau.engine.outside.ask("POST", "/faults", order)
    story = bureau.run(bureau.request(recipients=["alpha"]))
    assert bureau.notices(story.case)["alpha"][0] == "UNKNOWN"
    bureau.take_access(alpha)
    story.run_later()
    assert (story.standing, bureau.letters()) == (("NEEDS_ATTENTION", "notice_unconfirmed"), [])
    assert bureau.notices(story.case) == {"alpha": ("UNKNOWN", "no_access")}
    assert story.task("notify").status == "done"


def test_a_case_that_ends_without_the_message_is_partly_done_and_its_message_never_leaves(bureau: Bureau) -> None:
    story = held_back(bureau)
    story.order("finish_without_notice")
    assert (story.state, story.case.outcome, story.notice.status) == ("COMPLETED", "partial", "CANCELLED")
    assert bureau.letters() == []


def test_the_letter_has_a_link_and_no_file_and_speaks_the_language_of_its_reader(bureau: Bureau) -> None:
    bureau.heads[0].language = "en"
    bureau.heads[0].save(update_fields=["language"])
    bureau.run(bureau.request(recipients=["alpha", "beta"]))
    effects = bureau.engine.outside.ask("GET", "/ledger").json()["effects"]
    letters = {effect["subject"]: effect["body"] for effect in effects}
    english, russian = (letters[head.email] for head in bureau.heads[:2])
    for letter in (english, russian):
        assert "/console/reports/acme/sales/requests/2024-10-01/\n" in letter["text"]
        assert set(letter) == {"subject", "text", "reference", "to"}
    assert english["subject"] == "The report of sales for 2024-10-01 is ready"
    assert any("а" <= character <= "я" for character in russian["subject"])


@pytest.mark.parametrize("data", [{"obligation": "other/sales/requests/2024-10-01"}, {"recipients": [1]}])
def test_what_such_a_case_is_about_is_not_changed_by_anybody(bureau: Bureau, data: dict[str, object]) -> None:
    story = held_back(bureau)
    with pytest.raises(BadInput) as refused:
        story.order("correct_input", data=data)
    assert refused.value.code == "not_from_outside"
