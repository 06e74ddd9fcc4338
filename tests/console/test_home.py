"""The first page: what this person may act on stands first, what expires first on top, and nothing of others."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from tests.console.conftest import Page
from tests.console.seeing import Desks, in_doubt, outsider
from tests.driving import Engine, Story

PAGE = "/console/"


def moved(engine: Engine, story: Story, *, left: timedelta) -> Story:
    """A proposal as it is when so much time is left."""
    engine.rewrite(
        "approvals_proposal",
        "UPDATE approvals_proposal SET valid_until = clock_timestamp() + %s WHERE id = %s",
        [left, story.proposal.pk],
    )
    return story


def shown(page: Page) -> list[str]:
    return re.findall(r'class="main" href="/console/approvals/(P-\w+)/"', page.html)


def test_what_expires_first_stands_on_top_and_only_the_first_three(engine: Engine, desk: Desks) -> None:
    stories = [engine.proposed() for _ in range(5)]
    hours = [30, 2, 50, 1, 20]
    for story, left in zip(stories, hours, strict=True):
        moved(engine, story, left=timedelta(hours=left))
    page = desk().get(PAGE)
    assert shown(page) == [stories[place].proposal.public_id for place in (3, 1, 4)]
    first = stories[3].proposal.public_id
    assert f'class="button main" href="/console/approvals/{first}/"' in page.html
    assert "For me to decide 5" in page.text and "2 expire within 4 h 0 min" in page.text


def test_of_two_that_expire_together_the_older_one_comes_first(engine: Engine, desk: Desks) -> None:
    older, newer = engine.proposed(), engine.proposed()
    statement = "UPDATE approvals_proposal SET valid_until = now() + %s"
    engine.rewrite("approvals_proposal", statement, [timedelta(hours=9)])
    assert shown(desk().get(PAGE)) == [older.proposal.public_id, newer.proposal.public_id]


def test_only_what_the_person_may_decide_waits_for_them(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    assert shown(desk("approver").get(PAGE)) == [story.proposal.public_id]
    for username in ("viewer", "operator"):
        page = desk(username).get(PAGE)
        assert shown(page) == [] and "Nothing is waiting for you." in page.text
    moved(engine, story, left=timedelta(seconds=-1))
    assert "Nothing is waiting for you." in desk("approver").get(PAGE).text


def test_unknown_results_and_what_stopped_lead_to_their_lists(engine: Engine, desk: Desks) -> None:
    reader = desk()
    assert "No result is unknown." in reader.get(PAGE).text
    in_doubt(engine)
    engine.open(payment={"amount": "10.00"}).run()
    page = reader.get(PAGE)
    assert "Result unknown 1" in page.text and "The oldest was sent" in page.text
    assert 'href="/console/actions/?status=unknown&amp;kind=effect"' in page.html
    assert 'href="/console/attention/?reason=amount_differs"' in page.html
    assert "The amount differs" in reader.get("/console/attention/?reason=amount_differs").text


def test_nothing_of_another_organisation_stands_here(engine: Engine, desk: Desks) -> None:
    in_doubt(engine)
    engine.proposed(), engine.open(payment={"amount": "10.00"}).run()
    page = outsider(engine, desk).get(PAGE)
    assert "Nothing is waiting for you." in page.text and "There is nothing to sort out." in page.text
    assert "No result is unknown." in page.text and "Acme" not in page.text


@pytest.mark.parametrize(
    ("language", "words"), [("en", "1 expires within 4 h 0 min"), ("ru", "1 истекает в ближайшие 4 ч 0 мин")]
)
def test_the_page_speaks_both_languages(engine: Engine, desk: Desks, language: str, words: str) -> None:
    moved(engine, engine.proposed(), left=timedelta(hours=1))
    page = desk(language=language).get(PAGE)
    assert words in page.text and page.inline == []
