"""People at their desks: signed in, reading one language, pressing what the pages offer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import pytest
from django.conf import settings as configured
from django.test import Client

from accounts.models import Person
from tests.driving import Engine, engine, simulator, test_processes

__all__ = ["engine", "simulator", "test_processes"]


class _Reader(HTMLParser):
    """What stands on a page for the eyes, and what could run or paint past the content policy."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.inline: list[str] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self._inside.append(tag)
        if tag == "style" or (tag == "script" and "src" not in names):
            self.inline.append(tag)
        self.inline += [name for name in names if name == "style" or name.startswith("on")]
        self.inline += [value for value in names.values() if value and value.strip().lower().startswith("javascript:")]
        self.words += [value for name in ("aria-label", "title", "placeholder") if (value := names.get(name))]

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and not {"script", "style", "pre"} & set(self._inside):
            self.words.append(" ".join(data.split()))


@dataclass
class Page:
    """An answer, read."""

    response: Any

    def __post_init__(self) -> None:
        self._reader = _Reader()
        self._reader.feed(self.html)

    @property
    def status(self) -> int:
        return int(self.response.status_code)

    @property
    def html(self) -> str:
        return str(self.response.content.decode())

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._reader.words).split())

    @property
    def inline(self) -> list[str]:
        return self._reader.inline

    def field(self, name: str) -> str:
        found = re.search(rf'name="{name}" value="([^"]*)"', self.html)
        assert found, f"no field {name}"
        return found[1]


class Desk:
    """One person's browser."""

    def __init__(self, person: Person | None, language: str) -> None:
        self.person = person
        self.client = Client()
        if person is None:
            self.client.cookies[configured.LANGUAGE_COOKIE_NAME] = language
        else:
            Person.objects.filter(pk=person.pk).update(language=language)
            self.client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")

    def get(self, path: str, status: int = 200) -> Page:
        page = Page(self.client.get(path))
        assert page.status == status, (page.status, page.text[:300])
        return page

    def post(self, path: str, data: dict[str, Any] | None = None, *, status: int = 200, follow: bool = True) -> Page:
        page = Page(self.client.post(path, data or {}, follow=follow))
        assert page.status == status, (page.status, page.text[:300])
        return page

    def seen(self, proposal: str) -> dict[str, str]:
        """The hidden fields of the proposal's page, as a form would send them."""
        page = self.get(f"/console/approvals/{proposal}/")
        return {"digest": page.field("digest"), "version": page.field("version")}

    def press(self, step: str, proposal: str, *, status: int = 200, **fields: str) -> Page:
        return self.post(f"/console/approvals/{proposal}/{step}/", self.seen(proposal) | fields, status=status)


@pytest.fixture
def desk(engine: Engine) -> Callable[..., Desk]:
    def sit_down(username: str | None = "approver", language: str = "en") -> Desk:
        return Desk(engine.person(username) if username else None, language)

    return sit_down
