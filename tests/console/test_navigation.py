"""The left navigation: its numbers are those of the lists behind its entries, and they cost one query."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.console.navigation import ENTRIES, counts_for
from caseflow.domain.lifecycle import OPEN
from caseflow.domain.roles import Role
from tests.console.conftest import Desk, Page
from tests.driving import Engine, Story

Desks = Callable[..., Desk]


def badge(page: Page, address: str) -> int:
    """The number beside the entry that leads to `address`."""
    found = re.search(rf'href="{re.escape(address)}"[^>]*>.*?class="count">(\d+)<', page.html.replace("&amp;", "&"))
    assert found, address
    return int(found[1])


def in_doubt(engine: Engine) -> Story:
    story = engine.approved()
    story.fault("drop_after")
    story.run()
    assert story.effect.status == "UNKNOWN"
    return story


def test_every_number_is_the_length_of_the_list_that_its_entry_leads_to(engine: Engine, desk: Desks) -> None:
    engine.proposed()
    engine.proposed()
    engine.open(payment={"amount": "10.00"}).run()
    in_doubt(engine)
    engine.approved().run()
    reader = desk()
    page = reader.get("/console/")

    assert badge(page, "/console/approvals/") == 2
    assert len(re.findall(r'class="main" href="/console/approvals/P-', reader.get("/console/approvals/").html)) == 2
    tabs = reader.get("/console/cases/").html
    shown = {state: re.search(rf'\?state={state}"[^>]*>[^<]*<span class="count">(\d+)', tabs) for state in OPEN}
    assert badge(page, "/console/cases/") == sum(int(found[1]) for found in shown.values() if found) == 4


def test_one_query_counts_everything_however_much_there_is(engine: Engine) -> None:
    person = engine.approver
    engine.proposed()
    for _ in range(2):
        with CaptureQueriesContext(connection) as seen:
            counts = counts_for(person)
        assert len(seen) == 1
        engine.proposed()
        engine.open(payment={"amount": "10.00"}).run()
    assert counts.decisions == 2


def test_nothing_of_another_organisation_is_counted(engine: Engine, desk: Desks) -> None:
    engine.proposed()
    engine.open(payment={"amount": "10.00"}).run()
    in_doubt(engine)
    other = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("outsider"), organisation=other, role=Role.APPROVER, by=SYSTEM)
    counts = counts_for(engine.person("outsider"))
    assert (counts.decisions, counts.attention, counts.open, counts.unknown) == (0, 0, 0, 0)
    counts = counts_for(engine.person("viewer"))
    assert (counts.decisions, counts.attention, counts.open, counts.unknown) == (0, 1, 3, 1)


@pytest.mark.parametrize(("language", "words"), [("ru", "Мне нужно решить"), ("en", "For me to decide")])
def test_the_page_that_is_shown_is_marked_in_the_navigation(
    engine: Engine, desk: Desks, language: str, words: str
) -> None:
    story = engine.proposed()
    reader = desk(language=language)
    marked = {
        "/console/": ("/console/", "page"),
        "/console/approvals/": ("/console/approvals/", "page"),
        f"/console/approvals/{story.proposal.public_id}/": ("/console/approvals/", "true"),
        f"/console/cases/{story.case.public_id}/": ("/console/cases/", "true"),
    }
    for path, (entry, current) in marked.items():
        page = reader.get(path)
        assert f'href="{entry}" aria-current="{current}"' in page.html
        assert page.html.count('aria-current="page"') <= 1
        assert words in page.text


def test_an_entry_without_a_page_is_not_offered(desk: Desks) -> None:
    page = desk().get("/console/")
    for address in re.findall(r'<nav class="side".*?</nav>', page.html, re.S)[0].split('href="')[1:]:
        desk().get(address.split('"')[0].replace("&amp;", "&"))
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)
