"""A walk through pages in a browser, in one language and some themes: what axe, browser and policy say of each."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage
from playwright.sync_api import Page as Tab

from .pages import Page
from .story import Told

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
#: Without reading every style sheet a second time: no rule of these tags needs it.
OPTIONS = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"], "preload": False}
LOCALES = {"ru": "ru-RU", "en": "en-GB"}
WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 320, "height": 640}
#: A browser tells of every answer that is no success, also of one that is expected.
_ANSWERED = re.compile(r"Failed to load resource: the server responded with a status of (\d+)")
_LISTEN = """
window.refusedByPolicy = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.refusedByPolicy.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
});
"""


@dataclass
class Found:
    """What is wrong, one sentence each, and how long was looked."""

    pages: int = 0
    violations: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    policy: list[str] = field(default_factory=list)
    too_wide: list[str] = field(default_factory=list)
    seconds: float = 0.0
    axe_seconds: float = 0.0

    @property
    def everything(self) -> list[str]:
        return [*self.violations, *self.console, *self.policy, *self.too_wide]

    def __iadd__(self, other: Found) -> Found:
        for name in ("pages", "violations", "console", "policy", "too_wide", "seconds", "axe_seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


@dataclass(frozen=True)
class Looks:
    """How pages are looked at: the language, the themes, and where pictures go (nowhere: none are taken)."""

    language: str
    themes: Sequence[str]
    pictures: Path | None = None


class Walk:
    """One browser context for each person, who signed in once."""

    def __init__(self, browser: Browser, base_url: str, told: Told, looks: Looks) -> None:
        self.found = Found()
        self._browser = browser
        self._base_url = base_url
        self._told = told
        self._looks = looks
        self._tabs: dict[str, Tab] = {}
        self._where = ""
        self._expected = 200

    def walk(self, pages: Sequence[Page]) -> Found:
        begun = time.monotonic()
        try:
            for page in pages:
                self._look(page)
        finally:
            for tab in self._tabs.values():
                tab.context.close()
        self.found.seconds = time.monotonic() - begun
        return self.found

    def _look(self, page: Page) -> None:
        tab = self.tab(page.who)
        self._where, self._expected = f"{page.name}, {self._looks.language}", page.status
        tab.set_viewport_size(WIDE)
        path = page.path.format_map(self._told.places)
        answer = tab.goto(self._base_url + path)
        assert answer is not None and answer.status == page.status, f"{self._where}: {answer and answer.status}"
        assert urlsplit(tab.url).path == path.partition("?")[0], f"{self._where}: led to {tab.url}"
        if page.press:
            tab.locator(page.press).first.click()
            tab.locator("dialog[open]").wait_for()
        self.examine(tab, page)

    def examine(self, tab: Tab, page: Page) -> None:
        """What is wrong with the page as it stands there."""
        for theme in self._looks.themes:
            tab.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
            self._ask_axe(tab, theme)
            self._picture(tab, page, theme)
        tab.set_viewport_size(NARROW)
        width = tab.evaluate("() => document.documentElement.scrollWidth")
        if width > NARROW["width"]:
            self.found.too_wide.append(f"{self._where}: {width} px on a screen of {NARROW['width']} px")
        tab.emulate_media(color_scheme=self._looks.themes[0], reduced_motion="reduce")  # type: ignore[arg-type]
        self._picture(tab, page, f"{self._looks.themes[0]}-narrow")
        self.found.policy += [f"{self._where}: {said}" for said in tab.evaluate("() => window.refusedByPolicy")]
        self.found.pages += 1

    def _ask_axe(self, tab: Tab, theme: str) -> None:
        begun = time.monotonic()
        self.found.violations += violations(tab, f"{self._where}, {theme}")
        self.found.axe_seconds += time.monotonic() - begun

    def _picture(self, tab: Tab, page: Page, variant: str) -> None:
        if self._looks.pictures is None:
            return
        folder = self._looks.pictures / f"{self._looks.language}-{variant}"
        tab.screenshot(path=folder / f"{page.name}.png", full_page=not page.press)

    def tab(self, who: str) -> Tab:
        """The page of this person, or of somebody who has not signed in."""
        if who not in self._tabs:
            context = self._browser.new_context(locale=LOCALES[self._looks.language], viewport=WIDE)  # type: ignore[arg-type]
            context.add_init_script(_LISTEN)
            if who:
                enter(context, self._told, who, self._looks.language)
            tab = context.new_page()
            tab.on("console", self._hear)
            tab.on("pageerror", lambda error: self.found.console.append(f"{self._where}: {error}"))
            self._tabs[who] = tab
        return self._tabs[who]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        answered = _ANSWERED.match(message.text)
        if not (answered and int(answered[1]) == self._expected):
            self.found.console.append(f"{self._where}: {message.text}")


def enter(context: BrowserContext, told: Told, who: str, language: str) -> None:
    """Let the browser go on with the session of somebody who signed in, in this language."""
    person = told.person(who)
    person.send("/console/language/", language=language, next="/console/help/")
    address = told.running.system.base_url
    context.add_cookies([{"name": name, "value": value, "url": address} for name, value in person.cookies.items()])


def violations(tab: Tab, where: str) -> Iterator[str]:
    """What axe has against the page as it stands."""
    result: Mapping[str, Any] = _axe().run(tab, options=OPTIONS).response
    assert result["passes"], "no rule was asked"
    for found in result["violations"]:
        places = [node["html"][:200] + " " + node["failureSummary"] for node in found["nodes"][:3]]
        yield f"{where}: {found['id']} {places}"


@cache
def _axe() -> Axe:
    return Axe()
