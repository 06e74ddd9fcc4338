"""Processes: numbers that agree with the lists they lead to, and a picture that agrees with the code's own table."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.console.history import history_of
from caseflow.console.path import path_of
from caseflow.domain.drawing import arrows_of
from caseflow.domain.lifecycle import STANDARD, Event, State
from caseflow.domain.roles import Role
from tests.console.conftest import Page
from tests.console.seeing import Desks, completed, outsider
from tests.driving import Engine, processes

LIST, PAGE = "/console/processes/", "/console/processes/restore_access/"


def node(page: Page, state: str) -> str:
    """What a state's box in the picture says aloud."""
    found = re.search(rf'<a href="[^"]*state={state}[^"]*" aria-label="([^"]*)"', page.html)
    assert found, state
    return found[1]


def test_the_list_counts_what_is_open_closed_and_stopped(engine: Engine, desk: Desks) -> None:
    engine.proposed(), completed(engine)
    engine.open(payment={"amount": "10.00"}).run()
    page = desk().get(LIST)
    row = re.search(r'<tr>\s*<th scope="row"><a href="/console/processes/restore_access/">.*?</tr>', page.html, re.S)
    assert row and [re.sub("<.*?>", "", cell) for cell in re.findall(r'class="number">(.*?)</td>', row[0])][:2] == [
        "2",
        "1",
    ]
    assert 'href="/console/attention/?process=restore_access"' in page.html


def test_each_state_has_its_number_and_leads_to_the_list_of_just_these_cases(engine: Engine, desk: Desks) -> None:
    engine.proposed(), engine.proposed(), completed(engine)
    reader = desk()
    page = reader.get(PAGE)
    assert node(page, "WAITING_APPROVAL").startswith("Waiting for decision: 2, the oldest")
    assert node(page, "COMPLETED") == "Completed: 1"
    assert node(page, "EXECUTING") == "Executing: 0"
    for state, number in {"WAITING_APPROVAL": 2, "COMPLETED": 1, "EXECUTING": 0}.items():
        address = f"/console/cases/?process=restore_access&state={state}"
        assert address.replace("&", "&amp;") in page.html
        assert f"{number} case" in reader.get(address).text


def test_a_stopped_case_is_counted_where_it_stopped_and_found_there(engine: Engine, desk: Desks) -> None:
    engine.open(payment={"amount": "10.00"}).run()
    refused = engine.approved()
    refused.fault("error_before", status=410)
    refused.run()
    reader = desk()
    page = reader.get(PAGE)
    for state, word in {"CHECKING": "Checking", "EXECUTING": "Executing"}.items():
        assert f'aria-label="{word}, stopped here: 1"' in page.html
        address = f"/console/attention/?process=restore_access&stopped_in={state}"
        assert address.replace("&", "&amp;") in page.html
        assert "1 case has stopped" in reader.get(address).text
    assert "Needs attention: 2, the oldest" in node(page, "NEEDS_ATTENTION")


def test_the_picture_and_the_table_show_every_way_of_the_code(desk: Desks) -> None:
    page = desk().get(PAGE)
    assert page.html.count('<g class="edge ') == len(arrows_of(STANDARD))
    assert page.html.count('<g class="node ') == len(State)
    rows = re.search(r'id="table".*', page.html, re.S)
    assert rows and rows[0].count("<tr>") == len(list(STANDARD)) + 1
    codes = [event.value for event in Event if "_" in event.value]
    assert [code for code in codes if re.search(rf"\b{code}\b", page.text)] == []
    mermaid = desk().get(f"{PAGE}mermaid/")
    assert mermaid.response.headers["Content-Type"].startswith("text/plain")
    assert "EXECUTING --> NOTIFYING" in mermaid.html


def test_the_organisation_can_be_chosen_in_the_address(engine: Engine, desk: Desks) -> None:
    other = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.approver, organisation=other, role=Role.APPROVER, by=SYSTEM)
    engine.proposed(), engine.proposed(organisation=other)
    reader = desk()
    assert node(reader.get(PAGE), "WAITING_APPROVAL").startswith("Waiting for decision: 2")
    page = reader.get(f"{PAGE}?organisation=globex")
    assert node(page, "WAITING_APPROVAL").startswith("Waiting for decision: 1")
    assert "process=restore_access&amp;organisation=globex&amp;state=WAITING_APPROVAL" in page.html
    assert "/console/processes/restore_access/?organisation=globex" in reader.get(f"{LIST}?organisation=globex").html
    reader.get(f"{PAGE}?organisation=%00%27--"), reader.get(f"{LIST}?organisation=%00")


def test_empty_pages_say_why_they_are_empty(engine: Engine, desk: Desks, settings: Any) -> None:
    assert "This process has no cases yet." in desk().get(PAGE).text
    assert "This organisation has no case of this process." in desk().get(f"{PAGE}?organisation=x").text
    for path in (LIST, PAGE):
        assert "You see the cases of no organisation." in desk("nobody").get(path).text
    with processes(settings):
        settings.PROCESSES = []
        from cases.processes import all_processes

        all_processes.cache_clear()
        assert "No process is installed." in desk().get(LIST).text


def test_another_organisations_cases_are_not_counted(engine: Engine, desk: Desks) -> None:
    engine.proposed()
    engine.open(payment={"amount": "10.00"}).run()
    stranger = outsider(engine, desk)
    page = stranger.get(PAGE)
    assert node(page, "WAITING_APPROVAL") == "Waiting for decision: 0"
    assert "stopped here" not in page.text.replace("Stopped here", "")
    assert "0 cases" in stranger.get(f"{PAGE}?organisation=acme").text


@pytest.mark.parametrize("path", ["", "mermaid/"])
def test_a_process_that_is_not_installed_is_not_found(desk: Desks, path: str) -> None:
    desk().get(f"/console/processes/refunds/{path}", 404)


def test_a_process_that_was_taken_out_stands_in_the_list_while_it_has_cases(
    engine: Engine, desk: Desks, settings: Any
) -> None:
    with processes(settings, "tests.process_examples.NoApproval"):
        engine.open(process="no_approval")
    page = desk().get(LIST)
    assert "no_approval" in page.text and "This process is not installed here" in page.text
    assert "/console/processes/no_approval/" not in page.html


@pytest.mark.parametrize(("language", "word"), [("ru", "Где стоят дела"), ("en", "Where the cases stand")])
def test_the_pages_speak_both_languages(engine: Engine, desk: Desks, language: str, word: str) -> None:
    engine.proposed()
    reader = desk(language=language)
    page = reader.get(PAGE)
    assert word in page.text and page.inline == []
    assert ("Every way from state to state" in page.text) == (language == "en")
    assert reader.get(LIST).inline == []


def test_the_way_of_a_case_shows_each_state_it_passed_and_where_it_is(engine: Engine) -> None:
    story = engine.proposed()
    story.decide("return")
    story.run()
    path = path_of(history_of(story.case), story.state)
    assert path.steps == ["Received", "Checking", "Waiting for decision", "Checking", "Waiting for decision"]
    passed = {station.state.code: station.passed for station in path.stations}
    assert passed["CHECKING"] == 2 and passed["RECEIVED"] == 1 and passed["EXECUTING"] == 0
    assert [station.state.code for station in path.stations if station.is_here] == ["WAITING_APPROVAL"]
    assert {(arrow.source, arrow.target) for arrow in path.picture.arrows} == {
        (State.RECEIVED, State.CHECKING),
        (State.CHECKING, State.WAITING_APPROVAL),
        (State.WAITING_APPROVAL, State.CHECKING),
    }
