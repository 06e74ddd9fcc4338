"""A person without a mouse: keys only, and the focus is to be seen."""

from __future__ import annotations

from playwright.sync_api import Page, expect

STEPS = 400  #: times that Tab may be pressed on the way to something


def tab_to(page: Page, selector: str) -> None:
    """Where the keyboard leads; the focus is to be seen there."""
    for _ in range(STEPS):
        page.keyboard.press("Tab")
        if page.evaluate("what => document.activeElement.matches(what)", selector):
            expect(page.locator(selector).and_(page.locator(":focus-visible"))).to_be_in_viewport()
            return
    raise AssertionError(f"the keyboard does not lead to {selector}")


def go(page: Page, selector: str, key: str = "Enter") -> None:
    """To a link or a button, and press it."""
    tab_to(page, selector)
    page.keyboard.press(key)


def write(page: Page, selector: str, text: str) -> None:
    """Into a field of a form."""
    tab_to(page, selector)
    page.keyboard.type(text)


def sign_in(page: Page, base_url: str, username: str) -> None:
    """The field for the name has the focus from the start."""
    page.goto(f"{base_url}/console/sign-in/")
    expect(page.locator("#id_username")).to_be_focused()
    page.keyboard.type(username)
    write(page, "#id_password", f"demo-{username}-2026")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{base_url}/console/")


def look_up(page: Page, external_id: str, case: str) -> None:
    """A whole id opens its page."""
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox").first).to_be_focused()
    page.keyboard.type(external_id)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/console/cases/{case}/")
