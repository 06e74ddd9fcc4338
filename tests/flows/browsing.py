"""A person at the console, in the words that stand on the screen."""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import ConsoleMessage, Page, expect

from tests.flows.running import Ticket


@dataclass(frozen=True, slots=True)
class Words:
    """What the person reads; written down here, so that a lost translation is noticed."""

    language: str  #: its own name, on the button that chooses it
    user_name: str
    password: str
    sign_in: str
    ask_approve: str
    approve: str
    keep: str
    recorded: str
    withdraw: str
    withdrawn: str
    follow: str
    requested: str
    confirmed: str
    completed: str
    already: str
    another_fact: str
    waits_for_me: str  #: the mail to who may decide
    search: str
    cause: str
    truth: str
    next: str
    reconcile: str
    reason: str
    unknown: str
    print: str


WORDS = {
    "en": Words(
        language="English",
        user_name="Username",
        password="Password",
        sign_in="Sign in",
        ask_approve="Approve…",
        approve="Approve restoring",
        keep="Do not approve",
        recorded="Decision recorded.",
        withdraw="Withdraw",
        withdrawn="Decision withdrawn.",
        follow="Follow the result in case",
        requested="Requested, not confirmed",
        confirmed="Confirmed by the service",
        completed="Completed",
        already="This proposal is decided already",
        another_fact="1 other fact changed; it does not keep from deciding",
        waits_for_me="Caseflow: Proposal {id} waits for your decision.",
        search="Search by any id",
        cause="Why it stands here",
        truth="What is true",
        next="What comes next",
        reconcile="Check with the service",
        reason="Reason",
        unknown="Result unknown",
        print="Print the case",
    ),
    "ru": Words(
        language="Русский",
        user_name="Имя пользователя",
        password="Пароль",
        sign_in="Войти",
        ask_approve="Подтвердить…",
        approve="Подтвердить восстановление",
        keep="Не подтверждать",
        recorded="Решение записано.",
        withdraw="Отозвать",
        withdrawn="Решение отозвано.",
        follow="Следить за результатом в деле",
        requested="Запрошено, не подтверждено",
        confirmed="Подтверждено сервисом",
        completed="Завершено",
        already="По этому предложению решение уже принято",
        another_fact="1 другой факт изменился; решению это не мешает",
        waits_for_me="Caseflow: Предложение {id} ждёт вашего решения.",
        search="Поиск по любому номеру",
        cause="Почему дело здесь",
        truth="Что известно точно",
        next="Что дальше",
        reconcile="Сверить с сервисом",
        reason="Причина",
        unknown="Результат неизвестен",
        print="Распечатать дело",
    ),
}


class Visitor:
    """One browser page with one person, who reads one language. Remembers what the browser complained of."""

    def __init__(self, page: Page, base_url: str, language: str) -> None:
        self.page = page
        self.words = WORDS[language]
        self.complaints: list[str] = []
        self._base_url = base_url
        self._language = language
        page.set_default_timeout(20_000)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, path: str) -> None:
        self.page.goto(self._base_url + path)

    def press(self, name: str | re.Pattern[str]) -> None:
        self.page.get_by_role("button", name=name).click()

    def sign_in(self, username: str, path: str = "/console/") -> None:
        """Ask for a page, be asked who one is, and land on that page in one's own language."""
        self.open(path)
        self.choose_language()
        self.page.get_by_label(self.words.user_name).fill(username)
        self.page.get_by_label(self.words.password).fill(f"demo-{username}-2026")
        self.press(self.words.sign_in)
        expect(self.page).to_have_url(self._base_url + path)
        self.choose_language()

    def choose_language(self) -> None:
        """By its button; the choice is kept with the person."""
        self.press(self.words.language)
        expect(self.page.locator("html")).to_have_attribute("lang", self._language)

    def open_proposal(self, ticket: Ticket) -> None:
        """From the list of what waits for a decision."""
        self.open("/console/approvals/")
        self.page.get_by_role("listitem").filter(has_text=ticket.external_id).get_by_role("link").click()
        expect(self.page.get_by_role("link", name=ticket.external_id).first).to_be_visible()

    def ask_to_approve(self) -> None:
        """The confirmation: a dialog, or a page where no script runs."""
        self.page.get_by_role("link", name=self.words.ask_approve).click()
        expect(self.page.get_by_role("button", name=self.words.approve)).to_be_visible()

    def approve(self) -> None:
        self.ask_to_approve()
        self.press(self.words.approve)
        self.sees(self.words.recorded)

    def withdraw(self) -> None:
        self.press(re.compile(rf"^{self.words.withdraw}"))
        self.sees(self.words.withdrawn)

    def follow_the_result(self) -> None:
        self.page.get_by_role("link", name=re.compile(rf"^{self.words.follow}")).click()

    def sees(self, text: str) -> None:
        """Now or within the time in which the page brings itself up to date."""
        expect(self.page.get_by_text(text).first).to_be_visible(timeout=20_000)

    def sees_after_reloading(self, text: str) -> bool:
        """For a page that cannot bring itself up to date."""
        self.page.reload()
        return self.page.get_by_text(text).first.is_visible()
