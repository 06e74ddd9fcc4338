"""How a person wants to read: it is kept with them and stands on every page from then on."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Person
from tests.console.conftest import Desk
from tests.console.seeing import Desks

PAGE = "/console/me/"
CHOSEN = {"language": "en", "time_zone": "Europe/Moscow", "theme": "dark", "density": "compact", "shortcuts": "on"}


def saved(reader: Desk, **changes: Any) -> Person:
    reader.post(PAGE, CHOSEN | changes)
    assert reader.person is not None
    return Person.objects.get(pk=reader.person.pk)


def test_density_and_theme_are_kept_and_stand_on_every_page(desk: Desks) -> None:
    reader = desk()
    assert 'data-density="comfortable"' in reader.get("/console/").html
    assert saved(reader).density == "compact"
    for path in ("/console/", "/console/cases/", PAGE):
        assert 'data-theme="dark" data-density="compact"' in reader.get(path).html
    assert 'data-density="comfortable"' in desk("viewer").get("/console/").html  # it is one person's own


def test_shortcuts_that_are_switched_off_are_gone_with_their_script(desk: Desks) -> None:
    reader = desk()
    assert "shortcuts.js" in reader.get("/console/").html and 'id="shortcuts"' in reader.get("/console/").html
    fields = {name: value for name, value in CHOSEN.items() if name != "shortcuts"}
    reader.post(PAGE, fields)
    page = reader.get("/console/")
    assert "shortcuts.js" not in page.html and 'id="shortcuts"' not in page.html
    assert "shortcuts.js" not in desk(None).get("/console/sign-in/").html


def test_what_is_not_offered_is_refused_and_what_is_left_out_stays(desk: Desks) -> None:
    reader = desk()
    saved(reader)
    fields = {name: value for name, value in CHOSEN.items() if name != "density"}
    reader.post(PAGE, fields)
    reader.post(PAGE, CHOSEN | {"density": "enormous"}, status=400)
    assert reader.person is not None and Person.objects.get(pk=reader.person.pk).density == "compact"


@pytest.mark.parametrize(("language", "words"), [("en", "Keyboard shortcuts"), ("ru", "Клавиши быстрого доступа")])
def test_the_page_speaks_both_languages(desk: Desks, language: str, words: str) -> None:
    page = desk(language=language).get(PAGE)
    assert words in page.text and page.inline == []
