"""An order for many cases by the keyboard alone, with real workers; axe finds nothing on its pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.flows.browsing import Visitor
from tests.flows.keyboard import tab_to
from tests.flows.running import Running
from tests.walk.walking import LOCALES, violations

NewContext = Callable[..., BrowserContext]
SAID = {
    "en": ("2 cases will have their turn.", "2 of 2", "Every case of the list had its turn."),
    "ru": ("2 дела будут поставлены в очередь.", "2 из 2", "Все дела списка обработаны."),
}


@pytest.mark.parametrize("language", ["ru", "en"])
def test_two_cases_are_checked_again_by_the_keyboard_alone(
    running: Running, new_context: NewContext, language: str
) -> None:
    cases = [running.open(running.a_ticket(payment={"amount": "1.00"})) for _ in range(2)]
    running.wait_for_state("NEEDS_ATTENTION", *cases)
    affected, through, ended = SAID[language]
    person = Visitor(new_context(locale=LOCALES[language]).new_page(), running.system.base_url, language)
    page, keyboard = person.page, person.page.keyboard
    person.sign_in("operator", "/console/cases/?state=NEEDS_ATTENTION&sort=newest")
    found = list(violations(page, "list with boxes"))
    for case in sorted(cases, key=lambda one: page.content().index(f'value="{one}"')):
        tab_to(page, f'input[value="{case}"]')
        keyboard.press("Space")
        expect(page.locator(f'input[value="{case}"]')).to_be_checked()
    tab_to(page, "#bulk-form button")
    keyboard.press("Enter")
    person.sees(affected)
    found += violations(page, "preview")
    tab_to(page, "#id_count")
    keyboard.type("2")
    tab_to(page, "#id_reason")
    keyboard.type("–")
    tab_to(page, "form .buttons button.main")
    keyboard.press("Enter")
    person.sees(through)
    person.sees(ended)
    found += violations(page, "result")
    person.open("/console/bulk/")
    found += violations(page, "list of orders")
    for case in cases:
        assert running.history(case).count("case.observe_again") == 1
    assert found == []
    assert person.complaints == []
