"""Everything that a day asks for, without a mouse: approve, refuse, reconcile, recover. Orders for many cases are in
`test_bulk_in_the_browser`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.flows.keyboard import go, look_up, sign_in, write
from tests.flows.running import Running, Ticket
from tests.flows.test_operator_in_the_browser import in_doubt
from tests.walk.story import payment_of

__all__ = ["in_doubt"]

PageOf = Callable[[str], Page]
DIALOG = "dialog[open]"


@pytest.fixture
def page_of(running: Running, new_context: Callable[..., BrowserContext]) -> PageOf:
    """A page of somebody who signed in by the keyboard."""

    def come_in(username: str) -> Page:
        page = new_context().new_page()
        page.set_default_timeout(20_000)
        sign_in(page, running.system.base_url, username)
        return page

    return come_in


def test_one_proposal_is_approved_and_another_refused(running: Running, page_of: PageOf) -> None:
    tickets = [running.a_ticket(), running.a_ticket()]
    approved, refused = (running.open(ticket) for ticket in tickets)
    running.wait_for_state("WAITING_APPROVAL", approved, refused)
    page = page_of("approver")

    for case, ticket, step in [(approved, tickets[0], "approve"), (refused, tickets[1], "reject")]:
        proposal = running.proposals(case)[-1]["id"]
        look_up(page, ticket.external_id, case)
        go(page, f"#now a[href='/console/approvals/{proposal}/']")
        page.wait_for_url(f"**/console/approvals/{proposal}/")
        go(page, f"a[href*='/{proposal}/{step}/']")
        # Whoever presses Enter again has changed nothing.
        expect(page.locator(f"{DIALOG} [data-close]")).to_be_focused()
        if step == "reject":
            go(page, f"{DIALOG} input[type=radio]", "Space")
            page.keyboard.press("ArrowDown")
            write(page, f"{DIALOG} textarea", "–")
        with page.expect_navigation():
            go(page, f"{DIALOG} button.main")

    running.wait_for_state("COMPLETED", approved)
    running.wait_for_state("CLOSED_NO_CHANGE", refused)
    assert [len(running.effects(ticket.subscription)) for ticket in tickets] == [1, 0]


def test_the_way_out_of_a_dialog_is_a_key(running: Running, page_of: PageOf) -> None:
    case = running.open(running.a_ticket())
    running.wait_for_state("WAITING_APPROVAL", case)
    proposal = running.proposals(case)[-1]["id"]
    page = page_of("approver")
    page.goto(f"{running.system.base_url}/console/approvals/{proposal}/")
    opener = f"a[href*='/{proposal}/approve/']"
    for way_out in ("Escape", "Enter"):  # the second on the button that keeps everything as it is
        page.locator(opener).focus()
        page.keyboard.press("Enter")
        expect(page.locator(f"{DIALOG} [data-close]")).to_be_focused()
        page.keyboard.press(way_out)
        expect(page.locator(DIALOG)).to_have_count(0)
        expect(page.locator(opener)).to_be_focused()
    assert running.case(case)["state"] == "WAITING_APPROVAL"


def test_an_unknown_result_is_checked_with_the_service(
    running: Running, page_of: PageOf, in_doubt: tuple[Ticket, str, str]
) -> None:
    ticket, case, _action = in_doubt
    page = page_of("operator")
    look_up(page, ticket.external_id, case)
    go(page, f"a[href='/console/cases/{case}/recover/reconcile/']")
    page.wait_for_url("**/recover/reconcile/")
    write(page, "#id_reason", "–")
    with page.expect_navigation():
        go(page, ".confirm button.main")

    running.wait_for_state("COMPLETED", case)
    ordered = running.ask("SELECT kind FROM operations_recovery WHERE case_id = %s", running.case(case)["id"])
    assert [one["kind"] for one in ordered] == ["reconcile"]
    assert len(running.effects(ticket.subscription)) == 1


def test_a_case_that_stopped_is_corrected_and_checked_again(running: Running, page_of: PageOf) -> None:
    wrong = running.a_ticket(payment={"amount": "1.00"})
    case = running.open(wrong)
    running.wait_for_state("NEEDS_ATTENTION", case)
    running.put(payments=[payment_of(wrong)])
    page = page_of("recoverer")
    look_up(page, wrong.external_id, case)
    go(page, f"a[href='/console/cases/{case}/recover/observe-again/']")
    page.wait_for_url("**/recover/observe-again/")
    write(page, "#id_reason", "–")
    with page.expect_navigation():
        go(page, ".confirm button.main")

    running.wait_for_state("WAITING_APPROVAL", case)
    assert running.history(case).count("case.observe_again") == 1
