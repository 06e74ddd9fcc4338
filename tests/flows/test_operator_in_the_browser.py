"""A change whose result nobody knows, at the desks of support and of the operator, against real processes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.flows.browsing import WORDS, Visitor
from tests.flows.running import Running, Ticket

LOCALES = {"ru": "ru-RU", "en": "en-GB"}
NewContext = Callable[..., BrowserContext]
#: The browser's own dialog would wait for a printer; the paper itself is made after it.
NO_PRINTER = "() => { window.print = () => { document.body.dataset.printed = 'yes' } }"
#: Of the three sentences about the case, with the action's id.
EXPLAINED = {
    "en": (
        "The answer to request {action} was lost",
        "({action}) may have happened: it counts neither as done nor as not done.",
        "Recommended step: Check the result with the service",
    ),
    "ru": (
        "Ответ на запрос {action} потерян",
        "({action}): действие могло выполниться; оно не считается ни выполненным, ни невыполненным.",
        "Рекомендуемый шаг: Сверить результат с сервисом",
    ),
}


@pytest.fixture
def in_doubt(running: Running) -> tuple[Ticket, str, str]:
    """The change was made, its answer was lost, and nobody outside could be asked until patience ended."""
    ticket = running.a_ticket()
    case = running.open(ticket)
    running.wait_for_state("WAITING_APPROVAL", case)
    running.script("drop_after", method="POST", path=f"/subscriptions/{ticket.subscription}/activate")
    running.script("error_before", method="GET", path="/operations/*", times=None)
    running.approve(case)
    last_try = (
        "UPDATE cases_task t SET deadline_at = clock_timestamp() + interval '1 millisecond',"
        " available_at = clock_timestamp() FROM cases_case c WHERE c.id = t.case_id AND c.public_id = %s"
        " AND t.stage = 'reconcile' AND t.status = 'due' AND t.attempt > 0 RETURNING t.id"
    )
    running.wait_for(lambda: running.ask(last_try, case))
    running.wait_for_state("NEEDS_ATTENTION", case)
    running.outside.delete("/faults")
    action = running.one(
        "SELECT a.public_id FROM actions_action a JOIN cases_case c ON c.id = a.case_id"
        " WHERE c.public_id = %s AND a.kind = 'effect' AND a.status = 'UNKNOWN'",
        case,
    )
    return ticket, case, action


@pytest.mark.parametrize("language", ["ru", "en"])
def test_support_explains_an_unknown_result_from_one_page_and_the_operator_has_it_checked(
    running: Running, new_context: NewContext, in_doubt: tuple[Ticket, str, str], language: str
) -> None:
    ticket, case, action = in_doubt
    words = WORDS[language]

    support = Visitor(new_context(locale=LOCALES[language]).new_page(), running.system.base_url, language)
    support.sign_in("viewer")
    support.page.get_by_role("searchbox", name=words.search).fill(ticket.external_id)
    support.page.keyboard.press("Enter")
    support.page.wait_for_url(f"**/console/cases/{case}/")
    account = support.page.locator("#account > div")
    for place, (head, sentence) in enumerate(
        zip((words.cause, words.truth, words.next), EXPLAINED[language], strict=True)
    ):
        expect(account.nth(place).locator("dt")).to_have_text(head)
        expect(account.nth(place).locator("dd")).to_contain_text(sentence.format(action=action))
    support.page.evaluate(NO_PRINTER)
    support.press(words.print)
    expect(support.page.locator("body")).to_have_attribute("data-printed", "yes")
    assert support.page.pdf().startswith(b"%PDF")

    operator = Visitor(new_context(locale=LOCALES[language]).new_page(), running.system.base_url, language)
    operator.sign_in("operator", "/console/actions/?status=unknown&kind=effect")
    operator.page.get_by_role("row").filter(has_text=action).get_by_role("rowheader").get_by_role("link").click()
    operator.sees(words.unknown)
    operator.page.locator(".doubt a.button").click()
    operator.page.get_by_role("link", name=f"{words.reconcile}…").click()
    operator.page.get_by_role("textbox", name=words.reason).fill("–")
    operator.press(words.reconcile)
    operator.sees(words.confirmed)
    operator.sees(words.completed)

    running.wait_for_state("COMPLETED", case)
    assert len(running.effects(ticket.subscription)) == 1
    sent = running.ask(
        "SELECT e.kind, e.outcome FROM actions_externalcall e JOIN actions_action a ON a.id = e.action_id"
        " WHERE a.public_id = %s AND e.kind = 'perform'",
        action,
    )
    assert len(sent) == 1, sent
    assert support.complaints == operator.complaints == []
