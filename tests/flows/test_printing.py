"""A case on paper: light whatever the screen is, ids and hashes whole, everything unfolded, nothing to press."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.flows.browsing import Visitor
from tests.flows.running import Running

PRINT = {"en": "Print the case", "ru": "Распечатать дело"}


@pytest.fixture
def done_case(running: Running) -> str:
    case = running.open(running.a_ticket())
    running.complete(case)
    return case


@pytest.fixture(params=["en", "ru"])
def paper(
    running: Running, new_context: Callable[..., BrowserContext], done_case: str, request: pytest.FixtureRequest
) -> Page:
    """The page of a case in a dark browser, as it goes to the printer."""
    language = request.param
    page = new_context(locale={"en": "en-GB", "ru": "ru-RU"}[language], color_scheme="dark").new_page()
    visitor = Visitor(page, running.system.base_url, language)
    visitor.sign_in("approver", f"/console/cases/{done_case}/")
    expect(page.get_by_role("button", name=PRINT[language])).to_be_visible()
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    return page


def style(page: Page, selector: str, name: str) -> str:
    return str(page.locator(selector).first.evaluate(f"one => getComputedStyle(one).{name}"))


def test_paper_is_light_and_holds_nothing_to_press(paper: Page) -> None:
    assert style(paper, "body", "backgroundColor") == "rgb(255, 255, 255)"
    assert style(paper, "body", "color") == "rgb(0, 0, 0)"
    assert style(paper, ".word.done", "backgroundColor") == "rgb(255, 255, 255)"
    for selector in ("button", ".side", ".top", "form", "a.button"):
        assert paper.locator(f"{selector}:visible").count() == 0, selector


def test_ids_decisions_and_hashes_stand_there_whole(running: Running, paper: Page, done_case: str) -> None:
    digest = running.one(
        "SELECT p.digest FROM approvals_proposal p JOIN cases_case c ON c.id = p.case_id"
        " WHERE c.public_id = %s AND p.needs_approval",
        done_case,
    )
    shown = paper.locator(f"#decided ~ ul code[title='{digest}']").first
    assert shown.evaluate("one => getComputedStyle(one, '::after').content") == f'"{digest}"'
    text = paper.locator("main").inner_text()
    head = running.one("SELECT encode(audit_head, 'hex') FROM cases_case WHERE public_id = %s", done_case)
    assert done_case in text and head in text
    assert re.search(r"\bA-\w+", text) and re.search(r"\bP-\w+", text)


def test_the_calls_are_unfolded_and_the_bodies_of_machines_are_not(paper: Page) -> None:
    assert paper.locator("#done-live details table:visible").count() >= 1
    assert paper.locator("#times ~ details table:visible").count() == 2
    assert paper.locator(".history pre:visible").count() == 0
    paper.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    paper.emulate_media(media="screen")
    assert paper.locator("details[open]").count() == 0
    assert paper.pdf().startswith(b"%PDF")
