"""Pages by key: none is skipped and none comes twice, forward and back, whatever moves on meanwhile."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from caseflow.console import listing
from tests.console.seeing import Desks, in_doubt
from tests.driving import Engine


def walk(reader: object, address: str, rel: str, *, meanwhile: object = None) -> tuple[list[list[str]], str]:
    """(names page by page, the last address)"""
    pages = []
    while True:
        html = reader.get(address).html  # type: ignore[attr-defined]
        pages.append(rows_of(html))
        found = re.search(rf'rel="{rel}" href="([^"]+)"', html)
        if callable(meanwhile):
            meanwhile()
        if not found:
            return pages, address
        address = address.partition("?")[0] + found[1].replace("&amp;", "&")


def rows_of(html: str) -> list[str]:
    """What each row of a list leads to, by the last word of its address."""
    return re.findall(r'<(?:th scope="row"[^>]*><a|a class="main") href="[^"]*/([^/"?]+)/[^/"]*"', html)


@pytest.mark.parametrize("sort", ["oldest", "newest"])
def test_pages_of_cases_go_forward_and_back_though_moments_are_equal(
    sort: str, engine: Engine, desk: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caseflow.console.listing.PAGE", 2)
    stories = [engine.open() for _ in range(5)]
    engine.owner.execute("UPDATE cases_case SET state_since = date_trunc('minute', state_since)")
    names = [story.case.public_id for story in stories]
    names = names if sort == "oldest" else names[::-1]
    reader = desk("viewer")
    forward, last = walk(reader, f"/console/cases/?sort={sort}", "next")
    assert forward == [names[:2], names[2:4], names[4:]]
    back, _ = walk(reader, last, "prev")
    assert back == forward[::-1]


def test_a_case_that_moved_on_keeps_the_place_of_the_page(
    engine: Engine, desk: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caseflow.console.listing.PAGE", 2)
    stories = [engine.open() for _ in range(4)]
    names = [story.case.public_id for story in stories]
    pages, _ = walk(desk("viewer"), "/console/cases/?state=RECEIVED", "next", meanwhile=lambda: stories[1].run("check"))
    assert pages == [names[:2], names[2:]]


def test_pages_of_actions_go_forward_and_back(engine: Engine, desk: Desks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caseflow.console.actions_page.PAGE", 1)
    names = [in_doubt(engine).effect.public_id for _ in range(3)]
    for query, wanted in (("status=unknown", names), ("", names[::-1])):
        forward, last = walk(desk("viewer"), f"/console/actions/?{query}", "next")
        assert [name for page in forward for name in page if name in names] == wanted
        assert walk(desk("viewer"), last, "prev")[0] == forward[::-1]


def test_an_address_that_names_no_place_opens_the_first_page(engine: Engine, desk: Desks) -> None:
    name, reader = engine.open().case.public_id, desk("viewer")
    for place in ("x", "C-0000000000", f"{name}.x", f"{name}.{'9' * 30}", f"{name}.²", "C-0000000000."):
        assert name in reader.get(f"/console/cases/?after={place}").html


def test_a_place_that_nothing_stands_behind_any_more_opens_the_first_page(engine: Engine, desk: Desks) -> None:
    names = [engine.open().case.public_id for _ in range(3)]
    reader = desk("viewer")
    for gone in (names[0], "C-0000000000"):
        pages, _ = walk(reader, f"/console/cases/?sort=newest&after={gone}", "next")
        assert pages == [names[::-1]]


def test_a_list_names_the_organisations_in_numbers_that_the_planner_knows(engine: Engine, desk: Desks) -> None:
    engine.open()
    reader, named = desk("viewer"), f'"organisation_id" IN ({engine.organisation.pk})'
    for address in ("/console/cases/", "/console/actions/", "/console/drift/"):
        with CaptureQueriesContext(connection) as seen:
            reader.get(address)
        assert any(named in query["sql"] and "LIMIT 51" in query["sql"] for query in seen), address


def test_a_case_that_moves_on_while_its_page_is_put_together_is_still_listed(
    engine: Engine, desk: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    story, counted = engine.open(), listing._counted

    def moves_on(*asked: Any) -> Any:
        found = counted(*asked)
        story.run("check")
        return found

    monkeypatch.setattr(listing, "_counted", moves_on)
    assert story.case.public_id in desk("viewer").get("/console/cases/").html


def test_a_text_that_fits_too_many_lists_the_first_and_counts_none(
    engine: Engine, desk: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caseflow.console.listing.MOST_NAMED", 2)
    for _ in range(4):
        engine.open()
    page = desk("viewer").get("/console/cases/?q=T-")
    assert "More than 2 cases fit this text" in page.text
    assert page.html.count('<th scope="row"') == 3
    tabs = page.html.partition('class="tabs states"')[2].partition("</nav>")[0]
    assert "Received" in tabs and 'class="count"' not in tabs
