"""Every page of the console in a browser: WCAG 2.2 AA by axe, nothing refused by the content policy, no error, no page
wider than a small screen. One walk in Russian by day, one in English by night; `make screenshots` walks all four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.flows.browsing import Visitor
from tests.flows.running import Running
from tests.walk.pages import PAGES
from tests.walk.story import Teller, Told
from tests.walk.walking import LOCALES, Looks, Walk, violations

REASON = {"ru": "Причина", "en": "Reason"}
#: An image without a text, a style that the policy refuses, an error, and something that is wider than a small screen.
FAULTS = """() => {
  const main = document.querySelector("main");
  main.insertAdjacentHTML("beforeend", "<img src='/static/console/icon.svg' width=700><p style='color: red'>-");
  console.error("something went wrong");
}"""
WALKS = [Looks("ru", ["light"]), Looks("en", ["dark"])]


@pytest.fixture
def told(running: Running) -> Iterator[Told]:
    """Something on every page."""
    told = Teller(running).tell()
    yield told
    told.resume()
    told.close()


@pytest.mark.timeout(300)
def test_nothing_is_wrong_with_any_page(told: Told, running: Running, browser: Browser) -> None:
    found = [Walk(browser, running.system.base_url, told, looks).walk(PAGES) for looks in WALKS]

    assert [sentence for one in found for sentence in one.everything] == []
    assert [one.pages for one in found] == [len(PAGES)] * len(WALKS)


def test_the_walk_notices_what_is_wrong(running: Running, browser: Browser) -> None:
    walk, page = Walk(browser, running.system.base_url, Told(running), WALKS[0]), PAGES[0]
    tab = walk.tab(page.who)
    tab.goto(running.system.base_url + page.path)
    tab.evaluate(FAULTS)
    walk.examine(tab, page)
    tab.context.close()

    assert [name for name in ("violations", "console", "policy", "too_wide") if not getattr(walk.found, name)] == []


def test_axe_finds_nothing_after_a_press(running: Running, new_context: Callable[..., BrowserContext]) -> None:
    """What no address leads to: a pause with its banner, and the confirmation of a grant, before anybody has it."""
    context = new_context(locale=LOCALES["ru"], color_scheme="dark", reduced_motion="reduce")
    person = Visitor(context.new_page(), running.system.base_url, "ru")
    person.sign_in("globex-operator", "/console/pauses/")
    person.page.get_by_role("textbox", name=REASON["ru"]).fill("–")
    person.page.locator("main form button.main").click()
    found = list(violations(person.page, "paused, with the banner"))
    person.page.locator("main td a.button").click()
    person.page.get_by_role("textbox", name=REASON["ru"]).fill("–")
    person.page.locator("main form button.main").click()
    expect(person.page.locator("main td a.button")).to_have_count(0)

    context = new_context(locale=LOCALES["en"], reduced_motion="reduce")
    person = Visitor(context.new_page(), running.system.base_url, "en")
    person.sign_in("admin", "/console/admin/people/acme/grant/")
    person.page.locator("[name=username]").fill("viewer")
    person.page.get_by_role("textbox", name=REASON["en"]).fill("–")
    person.page.locator("main form button.main").click()
    expect(person.page.locator("[name=confirmed]")).to_have_count(1)
    found += violations(person.page, "confirmation of a grant")
    assert found == []
