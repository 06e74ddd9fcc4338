"""Pages that look again by themselves, in a real browser: nothing moves under a hand, and who pauses is left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect

from tests.flows.browsing import Visitor
from tests.flows.running import Running, Ticket

LIST = "/console/cases/?state=WAITING_APPROVAL&sort=newest"
A_LOOK = 11_000  #: milliseconds; a page looks every ten seconds
PAUSE, GO_ON = {"en": "Pause", "ru": "Приостановить"}, {"en": "Go on", "ru": "Продолжить"}
SHOW = {"en": "1 new, show", "ru": "Новых: 1, показать"}


@dataclass
class Reader:
    """Somebody who keeps a page open; `looks` counts the requests that nobody pressed for."""

    page: Page
    language: str
    looks: int = 0

    def __post_init__(self) -> None:
        self.page.on("request", self._note)

    def _note(self, request: Request) -> None:
        self.looks += request.headers.get("x-live") == "yes"

    def wait(self, looks: int = 1) -> None:
        """So much time passes for the page, whatever the clock on the wall says."""
        for _ in range(looks):
            self.page.clock.run_for(A_LOOK)

    def rows(self) -> list[str]:
        return self.page.locator("[data-rows] > * a[href^='/console/cases/']").all_inner_texts()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()


@pytest.fixture(params=["en", "ru"])
def reader(
    running: Running, new_context: Callable[..., BrowserContext], request: pytest.FixtureRequest
) -> Iterator[Reader]:
    language = request.param
    page = new_context(locale={"en": "en-GB", "ru": "ru-RU"}[language]).new_page()
    page.clock.install()
    visitor = Visitor(page, running.system.base_url, language)
    a_waiting_case(running)
    visitor.sign_in("approver", LIST)
    yield Reader(page, language)
    assert visitor.complaints == []


def a_waiting_case(running: Running) -> tuple[Ticket, str]:
    ticket = running.a_ticket()
    case = running.open(ticket)
    running.wait_for_state("WAITING_APPROVAL", case)
    return ticket, case


def test_a_list_tells_of_what_is_new_and_shows_it_when_asked(running: Running, reader: Reader) -> None:
    before = reader.rows()
    ticket, _ = a_waiting_case(running)
    reader.wait()
    expect(reader.page.get_by_role("button", name=SHOW[reader.language])).to_be_visible()
    assert reader.rows() == before and ticket.external_id not in reader.rows()
    reader.press(SHOW[reader.language])
    expect(reader.page.get_by_role("link", name=ticket.external_id)).to_be_visible()
    assert reader.rows() == [ticket.external_id, *before][: len(reader.rows())]


def test_who_pauses_or_has_a_dialog_open_is_left_alone(running: Running, reader: Reader) -> None:
    reader.press(PAUSE[reader.language])
    a_waiting_case(running)
    seen = reader.looks
    reader.wait(3)
    assert reader.looks == seen
    # A pause holds on the next page, too.
    reader.page.reload()
    expect(reader.page.get_by_role("button", name=GO_ON[reader.language])).to_be_visible()
    reader.wait(2)
    assert reader.looks == seen
    reader.page.evaluate(
        "() => { const d = document.createElement('dialog'); d.id = 'in-the-way';"
        " document.body.append(d); d.showModal(); }"
    )
    reader.page.evaluate("() => sessionStorage.clear()")
    reader.wait(2)
    assert reader.looks == seen
    reader.page.evaluate("() => document.getElementById('in-the-way').close()")
    reader.wait()
    assert reader.looks == seen + 1


def test_a_case_that_somebody_else_moves_is_brought_up_to_date(running: Running, reader: Reader) -> None:
    ticket, case = a_waiting_case(running)
    reader.page.goto(f"{running.system.base_url}/console/cases/{case}/")
    expect(reader.page.locator("#now [data-moving]")).to_have_count(0)
    running.complete(case)
    reader.wait()
    done = {"en": "Completed", "ru": "Завершено"}[reader.language]
    expect(reader.page.locator("#now .word").first).to_have_text(done)
    seen = reader.looks
    reader.wait(3)
    assert reader.looks == seen  # a closed case does not change
    assert ticket.external_id in reader.page.title()
