"""Help: every word of the console is explained in both languages, in the place that the pages link to."""

from __future__ import annotations

import re

import pytest
from django.utils import translation
from django.utils.translation import gettext

from caseflow.console.helping import GUARANTEES, LIMITS
from caseflow.domain import words
from tests.console.seeing import Desks, in_doubt
from tests.driving import Engine

PAGE = "/console/help/"
WORDS = {"state": words.STATES, "action": words.ACTIONS, "outcome": words.OUTCOMES, "reason": words.REASONS}


@pytest.mark.parametrize("language", ["ru", "en"])
def test_every_state_status_outcome_and_reason_is_explained(desk: Desks, language: str) -> None:
    page = desk(language=language).get(PAGE)
    with translation.override(language):
        for kind, known in WORDS.items():
            for code, word in known.items():
                assert f'id="{kind}-{code}"' in page.html
                assert gettext(word.label) in page.text and gettext(word.help).replace("  ", " ") in page.text, code
        for sentence in (*GUARANTEES, *LIMITS):
            assert str(sentence) in page.text
    assert page.inline == []


def test_a_link_to_a_word_finds_it(engine: Engine, desk: Desks) -> None:
    story = in_doubt(engine)
    reader = desk()
    page = reader.get(f"/console/actions/{story.effect.public_id}/")
    assert f'href="{PAGE}#action-UNKNOWN"' in page.html
    assert 'id="action-UNKNOWN"' in reader.get(PAGE).html


def test_help_stands_in_the_same_place_of_every_page(desk: Desks) -> None:
    reader = desk()
    for path in ("/console/", "/console/cases/", "/console/actions/", "/console/search/", PAGE):
        header = re.search(r"<header class=\"top\">.*?</header>", reader.get(path).html, re.S)
        assert header and f'href="{PAGE}"' in header[0]


def test_the_owners_of_the_outside_systems_are_named(desk: Desks) -> None:
    page = desk("nobody").get(PAGE)
    assert "subscriptions@example.org" in page.text and "payments@example.org" in page.text


def test_a_stranger_signs_in_first(desk: Desks) -> None:
    assert desk(None).client.get(PAGE).status_code == 302
