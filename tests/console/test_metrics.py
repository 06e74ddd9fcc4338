"""Metrics: numbers of the rows in sight, each chart with a table that says the same, in a fixed number of queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import psycopg
import pytest

from accounts.models import Organisation
from accounts.platform import grant_platform
from accounts.principal import SYSTEM
from accounts.services import grant_role
from audit.services import PLATFORM
from caseflow.domain.roles import Role
from operations.indicators import standing
from operations.indicators.scope import scope_of
from tests.console.conftest import Page
from tests.console.seeing import Desks, in_doubt, outsider
from tests.console.test_exports import export, on_record, taken
from tests.driving import Engine
from tests.generated.making import make_cases

PAGE = "/console/metrics/"
INDICATORS = ("h1", "queues", "h3", "h4", "exhausted", "h5", "h6", "h7", "h8", "h9", "trend", "durations")


@pytest.fixture
def made(as_owner: psycopg.Connection[Any], settings: Any) -> Callable[[int, int], Any]:
    """Make cases of every kind; some of them stand within the undo window, which the engine's tests do without."""

    def make(count: int, seed: int) -> None:
        settings.CASEFLOW_UNDO_SECONDS = 15
        make_cases(as_owner, count=count, seed=seed)

    return make


@pytest.fixture
def many(engine: Engine, made: Callable[[int, int], Any], desk: Desks) -> Callable[..., Any]:
    """A reader of every organisation with cases of every kind."""

    def make(count: int = 240, seed: int = 1, language: str = "en") -> Any:
        made(count, seed)
        for organisation in Organisation.objects.all():
            grant_role(person=engine.approver, organisation=organisation, role=Role.VIEWER, by=SYSTEM)
        return desk(language=language)

    return make


def section(page: Page, name: str) -> str:
    found = re.search(rf'<section class="card" aria-labelledby="{name}">(.*?)</section>', page.html, re.S)
    assert found, name
    return found[1]


def numbers(html: str, column: str) -> list[int]:
    """The cells of one column of a section's tables."""
    cells = re.findall(rf'<td data-label="{column}" class="number">(.*?)</td>', html, re.S)
    return [int(re.sub(r"<.*?>|\D", "", cell)) for cell in cells]


def test_every_indicator_has_a_chart_and_a_table_that_says_the_same(many: Callable[..., Any]) -> None:
    page = many().get(PAGE + "?window=30d")
    for name in INDICATORS:
        assert "<table" in section(page, name), name
        assert name == "exhausted" or "<svg" in section(page, name), name
    for chart in re.findall(r'<svg class="chart".*?</svg>', page.html, re.S):
        named = re.search(r'aria-labelledby="(\S+) (\S+)"', chart)
        assert named and f'<title id="{named[1]}">' in chart and f'<desc id="{named[2]}">' in chart
    ids = re.findall(r'\bid="([^"]+)"', page.html)
    assert len(ids) == len(set(ids))
    assert page.inline == []


def test_the_numbers_are_those_of_the_indicators_and_of_the_lists(engine: Engine, many: Callable[..., Any]) -> None:
    reader = many()
    page = reader.get(PAGE + "?window=30d")
    scope = scope_of(engine.approver)
    states = section(page, "h1")
    assert sum(numbers(states, "Cases")) == standing.count_totals(scope).open > 0
    assert sum(numbers(section(page, "h4"), "Cases")) == standing.count_totals(scope).attention > 0
    address = re.search(r'href="(/console/cases/\?[^"]*state=WAITING_APPROVAL[^"]*)">(\d+)<', states)
    assert address and f"{address[2]} cases" in reader.get(address[1].replace("&amp;", "&")).text


def test_the_five_parts_of_the_time_add_up_on_the_page(many: Callable[..., Any]) -> None:
    html = section(many().get(PAGE + "?window=30d"), "h9")
    shares = [float(found) for found in re.findall(r'data-label="Share" class="number">([\d.]+) %', html)]
    assert len(shares) == 6 and shares[-1] == 100.0
    assert abs(sum(shares[:-1]) - 100.0) < 0.3  # each is rounded
    # The whole bar is filled: every part begins where the one before it ends.
    rows = re.findall(r'<rect class="mark \w+" x="(\d+)" y="\d+" width="(\d+)"', html)
    marks = [(int(x), int(width)) for x, width in rows]
    for (x, width), (following, _) in pairwise(marks):
        assert x + width == following
    assert sum(width for _, width in marks) == 390


def test_the_choice_stands_in_the_address_and_narrows_what_is_counted(engine: Engine, many: Callable[..., Any]) -> None:
    reader = many()
    page = reader.get(PAGE + "?window=30d")
    everything = sum(numbers(section(page, "h1"), "Cases"))
    counted = []
    for organisation in Organisation.objects.all():
        narrowed = reader.get(f"{PAGE}?window=30d&organisation={organisation.slug}")
        assert 'href="?window=30d"' in narrowed.html and organisation.name in narrowed.text
        counted.append(sum(numbers(section(narrowed, "h1"), "Cases")))
    assert sum(counted) == everything and len([one for one in counted if one]) > 1
    assert sum(numbers(section(reader.get(f"{PAGE}?process=restore_access"), "h1"), "Cases")) == everything
    assert 'aria-current="true">7 days<' in reader.get(f"{PAGE}?window=7d").html
    # What makes no sense is left out.
    for query in ("window=1y", "process=none", "organisation=%00", "window=&process=&organisation="):
        assert 'aria-current="true">24 hours<' in reader.get(f"{PAGE}?{query}").html


def test_nothing_of_another_organisation_is_counted(engine: Engine, desk: Desks) -> None:
    in_doubt(engine)
    engine.open(payment={"amount": "10.00"}).run()
    stranger = outsider(engine, desk)
    for query in ("", "?organisation=acme"):
        page = stranger.get(PAGE + query)
        assert "<table" not in page.html and "Acme" not in page.text
    assert "There is nothing to measure yet" in stranger.get(PAGE).text
    assert "You see the cases of no organisation." in desk("nobody").get(PAGE).text


def test_it_says_when_there_is_too_little_to_measure(
    engine: Engine, desk: Desks, made: Callable[[int, int], Any]
) -> None:
    reader = desk()
    assert "There is nothing to measure yet" in reader.get(PAGE).text
    story = engine.proposed()
    page = reader.get(PAGE)
    assert "There is less than an hour of data" in page.text
    assert "No case was closed in this time." in page.text and "No result is unknown." in page.text
    made(30, 5)
    viewer = grant_and_return(engine, desk)
    assert "less than an hour" not in viewer.get(PAGE).text
    assert story.case.public_id not in viewer.get(PAGE).html


def grant_and_return(engine: Engine, desk: Desks) -> Any:
    """Somebody who sees the organisations of the generated cases alone."""
    for organisation in Organisation.objects.exclude(pk=engine.organisation.pk):
        grant_role(person=engine.person("outsider"), organisation=organisation, role=Role.VIEWER, by=SYSTEM)
    return desk("outsider")


def test_the_file_holds_what_the_page_shows_is_on_record_and_has_no_formula(
    engine: Engine, many: Callable[..., Any], desk: Desks
) -> None:
    reader = many(60)
    engine.rewrite("cases_case", "UPDATE cases_case SET reason = '=1+1' WHERE state = 'NEEDS_ATTENTION'", [])
    page = reader.get(PAGE + "?window=30d")
    assert page.field("query") == "?window=30d"
    rows = taken(export(reader, "metrics", "window=30d"))
    shown = re.findall(r'<td data-label="(.*?)" class="number">', page.html)
    assert [row["Column"] for row in rows] == shown
    counted = [row for row in rows if f'id="h1">{row["Indicator"]}<' in page.html and row["Column"] == "Cases"]
    assert [int(row["Value"]) for row in counted] == numbers(section(page, "h1"), "Cases")
    assert {row["Row"] for row in rows if "1+1" in row["Row"]} == {"'=1+1"}
    for organisation in Organisation.objects.all():
        recorded = {"what": "metrics", "form": "csv", "rows": len(rows), "window": "30d"}
        assert on_record(organisation.pk) == [recorded]
    # Whoever sees no case of these organisations takes nothing out, and whoever watches the platform is on its record.
    assert taken(export(desk("nobody"), "metrics", "organisation=acme")) == []
    watcher = engine.person("watcher")
    grant_platform(person=watcher, by=SYSTEM, reason="-")
    everything = taken(export(desk("watcher"), "metrics"))
    assert on_record(PLATFORM)[0]["rows"] == len(everything) > 0


@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_page_speaks_both_languages(many: Callable[..., Any], language: str) -> None:
    page = many(language=language).get(PAGE + "?window=30d")
    assert ("На что ушло время закрытых дел" in page.text) == (language == "ru")
    assert ("Where the time of closed cases went" in page.text) == (language == "en")
    assert "," not in "".join(re.findall(r' (?:x|y|width|height)="([^"]*)"', page.html))
