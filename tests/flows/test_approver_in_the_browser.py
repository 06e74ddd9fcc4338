"""The approver's journeys of the console, in a real browser against real processes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import psycopg
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.flows.browsing import WORDS, Visitor
from tests.flows.running import Running, Ticket

UNDO = 5  #: seconds in which a person withdraws; the demo's fifteen would only cost time
LOCALES = {"ru": "ru-RU", "en": "en-GB"}
NewContext = Callable[..., BrowserContext]


@pytest.fixture(scope="module", autouse=True)
def an_undo_window(running_system: Running) -> Iterator[None]:
    before = running_system.system.environment["CASEFLOW_UNDO_SECONDS"]
    running_system.restart("web", CASEFLOW_UNDO_SECONDS=str(UNDO))
    yield
    running_system.restart("web", CASEFLOW_UNDO_SECONDS=before)


def waiting_case(running: Running) -> tuple[Ticket, str]:
    ticket = running.a_ticket()
    case = running.open(ticket)
    running.wait_for_state("WAITING_APPROVAL", case)
    return ticket, case


@pytest.mark.parametrize(("language", "scripts"), [("ru", True), ("en", True), ("ru", False)], ids=str)
def test_a_mail_leads_to_an_approval_that_is_withdrawn_given_again_requested_and_then_confirmed(
    running: Running, new_context: NewContext, language: str, scripts: bool
) -> None:
    ticket, case = waiting_case(running)
    context = new_context(locale=LOCALES[language], java_script_enabled=scripts)
    person = Visitor(context.new_page(), running.system.base_url, language)
    words = WORDS[language]

    def sees(text: str) -> None:
        if scripts:
            person.sees(text)
        else:
            running.wait_for(lambda: person.sees_after_reloading(text))

    # What changed is critical to nothing: the approver sees it, and may decide.
    running.put(subscriptions=[{"id": ticket.subscription, "plan": "premium"}])
    running.read_again(case)
    # The service does what it is asked, and shows it late: until then nobody may say it is done.
    running.script("stale_read", method="GET", path=f"/subscriptions/{ticket.subscription}", times=None)
    proposal = running.proposals(case)[-1]["id"]
    letter = running.mail_to("approver", language, about=proposal)
    assert letter["Subject"].strip() == words.waits_for_me.format(id=proposal)
    (link,) = re.findall(r"https?://\S+", letter.get_content())

    person.sign_in("approver", link.removeprefix(running.system.base_url))
    assert person.page.url == link
    sees(words.another_fact)
    sees("premium")
    person.approve()
    person.withdraw()
    assert running.case(case)["state"] == "WAITING_APPROVAL"
    person.approve()
    person.follow_the_result()
    sees(words.requested)
    assert person.page.get_by_text(words.confirmed).count() == 0
    running.outside.delete("/faults")
    sees(words.confirmed)
    sees(words.completed)

    running.wait_for_state("COMPLETED", case)
    assert len(running.effects(ticket.subscription)) == 1
    kinds = running.history(case)
    assert kinds.index("case.withdrawn") < kinds.index("action.awaiting") < kinds.index("case.effects_confirmed")
    assert person.complaints == []


@pytest.mark.parametrize("language", ["ru", "en"])
def test_of_two_who_press_at_once_one_decides_and_the_other_is_told_who(
    running: Running, new_context: NewContext, language: str
) -> None:
    ticket, case = waiting_case(running)
    people = {}
    for username in ("approver", "approver2"):
        people[username] = Visitor(new_context(locale=LOCALES[language]).new_page(), running.system.base_url, language)
        people[username].sign_in(username)
        people[username].open_proposal(ticket)
        people[username].ask_to_approve()
    words = WORDS[language]
    answers: dict[str, list[int]] = {username: [] for username in people}
    for username, person in people.items():
        person.page.on(
            "response",
            lambda response, name=username: (
                answers[name].append(response.status) if response.request.method == "POST" else None
            ),
        )

    # Both presses have arrived before either of them may look at the case.
    with psycopg.connect(running.system.environment["DATABASE_OWNER_URL"]) as gate:
        gate.execute("SELECT id FROM cases_case WHERE public_id = %s FOR UPDATE", [case])
        for person in people.values():
            person.page.get_by_role("button", name=words.approve).click(no_wait_after=True)
        running.wait_for(
            lambda: running.one("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype <> 'relation'") >= 2
        )

    for person in people.values():
        expect(person.page.get_by_text(words.recorded).or_(person.page.get_by_text(words.already))).to_be_visible()
    loser = next(name for name, person in people.items() if person.page.get_by_text(words.already).is_visible())
    winner = next(name for name in people if name != loser)
    assert answers[loser] == [409]
    assert answers[winner] == [302]
    names = {row["username"]: row["name"] for row in running.ask("SELECT username, name FROM accounts_person")}
    expect(people[loser].page.get_by_role("alert")).to_contain_text(names[winner])

    running.wait_for_state("COMPLETED", case, patience=timedelta(seconds=30))
    assert len(running.effects(ticket.subscription)) == 1
    counts = running.ask(
        "SELECT (SELECT count(*) FROM approvals_decision d JOIN approvals_proposal p ON p.id = d.proposal_id"
        " WHERE p.case_id = c.id) AS decisions,"
        " (SELECT count(*) FROM actions_action a WHERE a.case_id = c.id AND a.kind = 'effect') AS effects"
        " FROM cases_case c WHERE c.public_id = %s",
        case,
    )
    assert counts == [{"decisions": 1, "effects": 1}]
