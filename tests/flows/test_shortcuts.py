"""Single keys in a real browser: they move and open, change nothing, and who types or switches them off has none."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import BrowserContext, expect

from tests.flows.browsing import Visitor
from tests.flows.running import Running
from tests.flows.test_pages_look_again import a_waiting_case


def test_keys_move_open_and_search_and_leave_who_types_alone(
    running: Running, new_context: Callable[..., BrowserContext]
) -> None:
    ticket, case = a_waiting_case(running)
    context = new_context(locale="en-GB")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    reader = Visitor(page, running.system.base_url, "en")
    reader.sign_in("viewer", "/console/cases/?state=WAITING_APPROVAL&sort=newest")

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("j")  # a dialog is open
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name=ticket.external_id)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{running.system.base_url}/console/cases/{case}/")

    page.keyboard.press("c")
    expect(page.locator("#spoken")).to_have_text(f"Copied: {ticket.subscription}")
    assert page.evaluate("() => navigator.clipboard.readText()") == ticket.subscription
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("g c ? j")
    expect(page.get_by_role("searchbox")).to_have_value("g c ? j")
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page).to_have_url(f"{running.system.base_url}/console/cases/")

    reader.open("/console/me/")
    page.get_by_role("checkbox", name="Keyboard shortcuts").uncheck()
    reader.press("Save preferences")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert reader.complaints == []
    page.get_by_role("checkbox", name="Keyboard shortcuts").check()
    reader.press("Save preferences")
