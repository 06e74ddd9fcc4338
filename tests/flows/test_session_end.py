"""Before a session ends by itself its person is asked, and what was typed stays where it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.flows.browsing import Visitor
from tests.flows.running import Running
from tests.flows.test_pages_look_again import a_waiting_case

LOCALES = {"ru": "ru-RU", "en": "en-GB"}
SAID = {
    "ru": ("Сеанс закончится через 2 минуты. Введённая причина сохранится.", "Продолжить работу", "Сеанс закончился."),
    "en": (
        "Your session ends in 2 minutes. The reason you typed is kept.",
        "Stay signed in",
        "Your session has ended.",
    ),
}
TYPED = "Платёж чужой: see the bank's letter"


@pytest.mark.parametrize("language", ["ru", "en"])
def test_who_types_a_reason_is_asked_before_the_session_ends_and_stays_with_one_key(
    running: Running, new_context: Callable[..., BrowserContext], language: str
) -> None:
    soon, stay, over = SAID[language]
    _, case = a_waiting_case(running)
    page = new_context(locale=LOCALES[language]).new_page()
    page.clock.install()
    person = Visitor(page, running.system.base_url, language)
    person.sign_in("approver", f"/console/approvals/{running.proposals(case)[-1]['id']}/")
    page.locator("a[data-dialog='dialog-reject']").click()
    reason = page.locator("#dialog-reject textarea")
    reason.fill(TYPED)
    warning = page.locator("#session-end")

    page.clock.fast_forward("26:00")
    expect(warning).to_be_hidden()
    page.clock.fast_forward("02:00")
    expect(warning).to_be_visible()
    expect(warning).to_contain_text(soon)
    expect(page.get_by_role("button", name=stay)).to_be_focused()
    with page.expect_response("**/console/me/stay/") as answer:
        page.keyboard.press("Enter")
    assert answer.value.status == 200
    expect(warning).to_be_hidden()
    expect(reason).to_have_value(TYPED)
    expect(reason).to_be_focused()

    # Asked once: who closes the warning is told again only when it is too late.
    page.clock.fast_forward("28:30")
    expect(warning).to_contain_text(soon)
    page.keyboard.press("Escape")
    page.clock.fast_forward("01:00")
    expect(warning).to_be_hidden()
    page.clock.fast_forward("01:00")
    expect(warning.get_by_text(over)).to_be_visible()
    expect(page.get_by_role("button", name=stay)).to_be_hidden()
    expect(reason).to_have_value(TYPED)
    assert person.complaints == []
