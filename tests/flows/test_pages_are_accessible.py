"""WCAG 2.2 AA by axe on every page of the main job, in both languages and both themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from tests.flows.browsing import Visitor
from tests.flows.running import Running

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OPTIONS = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}
LOCALES = {"ru": "ru-RU", "en": "en-GB"}
REASON = {"ru": "Причина", "en": "Reason"}


@pytest.fixture
def a_story(running: Running) -> dict[str, str]:
    """Addresses of every kind of page, with something on it: what waits, what is done, what needs a person."""
    tickets = [
        running.a_ticket(),
        running.a_ticket(),
        running.a_ticket(payment={"amount": "1.00"}),
        running.a_ticket(payment={"status": "pending"}),
    ]
    waits, is_done, needs_a_person, waits_for_data = [running.open(ticket) for ticket in tickets]
    running.complete(is_done)
    running.wait_for_state("WAITING_APPROVAL", waits)
    running.wait_for_state("NEEDS_ATTENTION", needs_a_person)
    running.wait_for_state("WAITING_DATA", waits_for_data)
    proposal = f"/console/approvals/{running.proposals(waits)[-1]['id']}/"
    action = running.one("SELECT public_id FROM actions_action WHERE kind = 'effect' ORDER BY id DESC LIMIT 1")
    return {
        "home": "/console/",
        "approvals": "/console/approvals/",
        "approval": proposal,
        "confirmation": f"{proposal}approve/",
        "rejection": f"{proposal}reject/",
        "decided approval": f"/console/approvals/{running.proposals(is_done)[-1]['id']}/",
        "cases": "/console/cases/",
        "case that waits": f"/console/cases/{waits}/",
        "case that is done": f"/console/cases/{is_done}/",
        "case that needs a person": f"/console/cases/{needs_a_person}/",
        "history of a case": f"/console/cases/{is_done}/timeline/",
        "facts of a case": f"/console/cases/{is_done}/facts/",
        "proposals of a case": f"/console/cases/{is_done}/proposals/",
        "case that waits for data": f"/console/cases/{waits_for_data}/",
        "attention": "/console/attention/",
        "attention, filtered": "/console/attention/?turn=stop",
        "actions": "/console/actions/",
        "unknown results": "/console/actions/?status=unknown",
        "action": f"/console/actions/{action}/",
        "differences": "/console/drift/",
        "search": "/console/search/?q=T-",
        "processes": "/console/processes/",
        "process": "/console/processes/restore_access/",
        "help": "/console/help/",
        "metrics": "/console/metrics/?window=30d",
        "preferences": "/console/me/",
        "nothing there": "/console/cases/C-0000000000/",
    }


def violations(page: Page, where: str) -> Iterator[str]:
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        result = Axe().run(page, options=OPTIONS).response
        assert result["passes"], "no rule was asked"
        for found in result["violations"]:
            places = [node["html"][:200] + " " + node["failureSummary"] for node in found["nodes"][:3]]
            yield f"{where}, {theme}: {found['id']} {places}"


@pytest.mark.parametrize("language", ["ru", "en"])
def test_axe_finds_nothing_on_any_page(
    running: Running, a_story: dict[str, str], new_context: Callable[..., BrowserContext], language: str
) -> None:
    context = new_context(locale=LOCALES[language])
    person = Visitor(context.new_page(), running.system.base_url, language)
    found: list[str] = []
    person.open("/console/sign-in/")
    found += violations(person.page, "sign-in")
    person.sign_in("approver")
    for where, path in a_story.items():
        person.open(path)
        found += violations(person.page, where)
    person.open(a_story["approval"])
    person.ask_to_approve()
    found += violations(person.page, "dialog")

    assert found == []


@pytest.mark.parametrize("language", ["ru", "en"])
def test_axe_finds_nothing_where_somebody_pauses_and_resumes(
    running: Running, new_context: Callable[..., BrowserContext], language: str
) -> None:
    """In an organisation of its own: what the other stories wait for goes on."""
    person = Visitor(new_context(locale=LOCALES[language]).new_page(), running.system.base_url, language)
    person.sign_in("globex-operator", "/console/pauses/")
    found = list(violations(person.page, "pauses"))
    person.page.get_by_role("textbox", name=REASON[language]).fill("–")
    person.page.locator("main form button.main").click()
    found += violations(person.page, "paused, with the banner")
    person.page.locator("main td a.button").click()
    found += violations(person.page, "asked to resume")
    person.page.get_by_role("textbox", name=REASON[language]).fill("–")
    person.page.locator("main form button.main").click()
    expect(person.page.locator("main td a.button")).to_have_count(0)
    assert found == []


@pytest.mark.parametrize("language", ["ru", "en"])
def test_axe_finds_nothing_where_an_administrator_grants_and_revokes(
    running: Running, new_context: Callable[..., BrowserContext], language: str
) -> None:
    """Up to the confirmation: nobody's role changes."""
    person = Visitor(new_context(locale=LOCALES[language]).new_page(), running.system.base_url, language)
    person.sign_in("admin", "/console/admin/people/acme/")
    found = list(violations(person.page, "people"))
    person.page.locator("main td a[href*='/revoke/']").first.click()
    found += violations(person.page, "asked to revoke")
    person.open("/console/admin/people/acme/grant/")
    found += violations(person.page, "asked for a grant")
    person.page.locator("[name=username]").fill("viewer")
    person.page.get_by_role("textbox", name=REASON[language]).fill("–")
    person.page.locator("main form button.main").click()
    expect(person.page.locator("[name=confirmed]")).to_have_count(1)
    found += violations(person.page, "confirmation of a grant")
    assert found == []
