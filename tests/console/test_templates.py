"""What stands in the templates' own source, whatever a page happens to show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

FOLDER = Path(settings.BASE_DIR) / "templates"
PAGES = sorted(FOLDER.rglob("*.html"))
SCRIPTS = sorted((Path(settings.BASE_DIR) / "static" / "console").glob("*.js"))
FORBIDDEN = {
    "a script inside a page": r"<script(?![^>]*\bsrc=)[^>]*>",
    "a style inside a page": r"<style\b|\sstyle\s*=",
    "a handler inside a page": r"\son[a-z]+\s*=\s*[\"']",
    "an address that runs": r"javascript:",
    "a file of another site": r"(?:src|href)=[\"'](?:https?:)?//",
    "text that is not escaped": r"\|safe\b|autoescape off",
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_template_holds_nothing_that_the_content_policy_refuses(path: Path) -> None:
    source = path.read_text()
    assert [name for name, pattern in FORBIDDEN.items() if re.search(pattern, source)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_every_form_that_changes_something_carries_the_token(path: Path) -> None:
    for form in re.findall(r'<form\b[^>]*method="post"[^>]*>.{0,40}', path.read_text()):
        assert "csrf_token" in form


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_of_the_console_builds_no_code_and_no_style(path: Path) -> None:
    source = path.read_text()
    assert not re.search(r"\beval\b|new Function|\.style\b|innerHTML|document\.write", source)


def test_no_button_says_only_yes_or_ok() -> None:
    labels = [
        label
        for path in PAGES
        for button in re.findall(r"<button\b.*?</button>", path.read_text(), re.S)
        for label in re.findall(r'translate "([^"]*)"', button)
    ]
    assert len(labels) > 20
    assert {
        label for label in labels if label.strip(" !.").lower() in ("ok", "yes", "no", "submit", "confirm")
    } == set()
