"""What has stopped: by reason, with what was tried, whose turn it is, and the one recommended step."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.domain.roles import Role
from tests.console.conftest import Desk
from tests.console.test_navigation import badge
from tests.driving import Engine, Story

Desks = Callable[..., Desk]
PAGE = "/console/attention/"


def stopped(engine: Engine) -> Story:
    story = engine.open(payment={"amount": "10.00"})
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "amount_differs")
    return story


def refused(engine: Engine, status: int = 403) -> Story:
    """The subscriptions do not let us in."""
    story = engine.approved()
    story.fault("error_before", status=status)
    story.run()
    assert story.state == "NEEDS_ATTENTION"
    return story


def test_each_reason_says_what_was_tried_whose_turn_it_is_and_the_one_next_step(engine: Engine, desk: Desks) -> None:
    first, _, denied = stopped(engine), stopped(engine), refused(engine)
    page = desk("operator").get(PAGE)
    assert "3 cases have stopped" in page.text
    assert 'aria-label="The amount differs: list of 2">2<' in page.html
    assert "Payment and price were read and compared." in page.text
    assert "Stop: a person decides" in page.text
    assert "Handle it by hand, then record the result" in page.text
    assert denied.case.reason == "not_permitted"
    assert "Ask the owner of the system" in page.text
    assert "Subscriptions: Subscriptions subscriptions@example.org" in page.text
    assert "Ask the owner, then check again" in page.text
    assert "Activate the subscription" in page.text
    assert f'href="/console/cases/{first.case.public_id}/#recovery"' in page.html


def test_an_outside_system_that_stays_silent_names_the_step_the_attempts_and_the_last_answer(
    engine: Engine, desk: Desks
) -> None:
    story = engine.open()
    engine.outside.script("error_before", path=f"/payments/{story.payment}", times=None, status=403, method="GET")
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "not_permitted")
    page = desk("operator").get(PAGE)
    assert "Read the facts · attempts: 1 · the last answer:" in page.text
    assert "payments@example.org" in page.text


def test_the_number_in_the_navigation_is_the_number_on_the_page_and_in_the_list(engine: Engine, desk: Desks) -> None:
    stopped(engine), stopped(engine), refused(engine)
    reader = desk()
    page = reader.get(PAGE)
    assert badge(page, PAGE) == 3
    assert "3 cases have stopped" in page.text
    assert "3 cases" in reader.get("/console/cases/?state=NEEDS_ATTENTION").text
    assert "2 cases" in reader.get("/console/cases/?state=NEEDS_ATTENTION&reason=amount_differs").text


def test_what_is_chosen_stands_in_the_address(engine: Engine, desk: Desks) -> None:
    money, denied = stopped(engine), refused(engine)
    reader = desk()

    def shown(query: str) -> list[bool]:
        html = reader.get(f"{PAGE}?{query}").html
        return [one.case.external_id in html for one in (money, denied)]

    assert shown("") == [True, True]
    assert shown("turn=ask_owner") == [False, True]
    assert shown("reason=amount_differs") == [True, False]
    assert shown("stopped_in=EXECUTING") == [False, True]
    assert shown("stopped_in=CHECKING") == [True, False]
    assert shown("process=restore_access&organisation=acme") == [True, True]
    assert shown("process=another") == [False, False]
    assert shown("turn=never&stopped_in=NOWHERE") == [True, True]
    page = reader.get(f"{PAGE}?turn=stop&process=restore_access")
    assert 'href="?process=restore_access"' in page.html and 'href="?turn=stop"' in page.html
    reader.get(f"{PAGE}?reason=%00%ED%A0%80&organisation=%27--&process=" + "x" * 900)


def test_while_a_change_is_in_doubt_the_step_is_to_find_out(engine: Engine, desk: Desks) -> None:
    story = engine.approved()
    story.fault("drop_before", times=None)
    story.run()
    engine.outside.script("error_before", path="/operations/*", times=None)
    engine.owner.execute("UPDATE cases_task SET deadline_at = clock_timestamp() WHERE stage = 'reconcile'")
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "unknown_too_long")
    assert "Check the result with the service" in desk("operator").get(PAGE).text


def test_the_three_empty_pages_say_three_things(engine: Engine, desk: Desks) -> None:
    assert "There is nothing to sort out." in desk().get(PAGE).text
    assert "You see the cases of no organisation." in desk("nobody").get(PAGE).text
    stopped(engine)
    page = desk().get(f"{PAGE}?turn=wait")
    assert "Nothing that has stopped fits these filters." in page.text and "Clear all" in page.text


def test_who_may_not_order_a_recovery_sees_the_step_but_no_button(engine: Engine, desk: Desks) -> None:
    stopped(engine)
    page = desk("viewer").get(PAGE)
    assert "Handle it by hand, then record the result" in page.text
    assert "An operator or recoverer of the organisation orders it." in page.text
    assert "#recovery" not in page.html


def test_another_organisations_cases_are_neither_shown_nor_counted(engine: Engine, desk: Desks) -> None:
    story = stopped(engine)
    other = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("outsider"), organisation=other, role=Role.OPERATOR, by=SYSTEM)
    for query in ("", "?organisation=acme", "?reason=amount_differs"):
        page = desk("outsider").get(PAGE + query)
        assert story.case.external_id not in page.html and "0 cases have stopped" in page.text


@pytest.mark.parametrize(("language", "word"), [("ru", "Чья очередь"), ("en", "Whose turn it is")])
def test_the_page_speaks_both_languages(engine: Engine, desk: Desks, language: str, word: str) -> None:
    stopped(engine), refused(engine)
    page = desk(language=language).get(PAGE)
    assert word in page.text
    assert ("Recommended step" in page.text) == (language == "en")
    assert page.inline == []
