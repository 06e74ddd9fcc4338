"""The six pictures of the README, in each language: the screens of a day at a size that a page of text can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from tests.flows.running import Running

from .pages import Page
from .story import Told
from .walking import LOCALES, enter

PICTURES = "docs/pictures"
SIZE = {"width": 1280, "height": 900}
COLOURS = 256


@dataclass(frozen=True, slots=True)
class Scene:
    page: Page
    theme: str


def scenes(home: str) -> Sequence[Scene]:
    """`home` is the organisation of whoever looks: each language has one of its own."""
    mine = "" if home == "acme" else f"{home}-"
    approver, operator = f"{mine}approver", f"{mine}operator"
    return (
        Scene(Page("home", "/console/", who=approver), "light"),
        Scene(Page("cases", "/console/cases/", who=operator), "dark"),
        Scene(Page("case", "/console/cases/{doubtful}/", who=operator), "light"),
        Scene(Page("approval", "/console/approvals/{proposal}/", who=approver), "dark"),
        Scene(Page("unknown", "/console/actions/{doubt}/", who=operator), "light"),
        Scene(Page("metrics", "/console/metrics/?window=30d", who=operator), "dark"),
    )


def take_pictures(browser: Browser, running: Running, told: Told, folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for language, home in (("ru", "acme"), ("en", "globex")):
        places = told.places if home == "acme" else _places(running, home)
        for scene in scenes(home):
            context = browser.new_context(
                locale=LOCALES[language], viewport=SIZE, color_scheme=scene.theme, reduced_motion="reduce"
            )
            enter(context, told, scene.page.who, language)
            tab = context.new_page()
            answer = tab.goto(running.system.base_url + scene.page.path.format_map(places))
            assert answer is not None and answer.ok, scene
            picture = folder / f"{scene.page.name}.{language}.png"
            tab.screenshot(path=picture)
            _shrink(picture)
            context.close()
    return 0


def _shrink(picture: Path) -> None:
    """To a palette: a third of the size."""
    with Image.open(picture) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)


def _places(running: Running, organisation: str) -> dict[str, str]:
    """Of the generated cases: the newest whose result is unknown, and a proposal that waits."""
    (doubt,) = running.ask(
        "SELECT c.public_id AS doubtful, a.public_id AS doubt FROM actions_action a"
        " JOIN cases_case c ON c.id = a.case_id JOIN accounts_organisation o ON o.id = c.organisation_id"
        " WHERE o.slug = %s AND a.status = 'UNKNOWN' AND a.kind = 'effect' AND c.state = 'NEEDS_ATTENTION'"
        " AND c.reason = 'unknown_too_long'"
        " ORDER BY c.state_since DESC LIMIT 1",
        organisation,
    )
    (waits,) = running.ask(
        "SELECT p.public_id AS proposal FROM approvals_proposal p JOIN cases_case c ON c.id = p.case_id"
        " JOIN accounts_organisation o ON o.id = c.organisation_id"
        " WHERE o.slug = %s AND c.state = 'WAITING_APPROVAL' AND p.has_effects ORDER BY p.id DESC LIMIT 1",
        organisation,
    )
    return {**doubt, **waits}
