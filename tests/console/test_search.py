"""Search by any id: a whole id opens its object, everything else is a list, and what is out of sight is missing."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from actions.models import ExternalCall
from cases.models import Observation
from tests.console.conftest import Desk, Page
from tests.console.seeing import Desks, completed, in_doubt, outsider
from tests.driving import Engine, Story

PAGE = "/console/search/"


def look_for(reader: Desk, text: str) -> Page:
    return Page(reader.client.get(PAGE, {"q": text}))


def goes_to(reader: Desk, text: str) -> str:
    page = look_for(reader, text)
    return str(page.response.headers.get("Location", ""))


IDS: dict[str, Callable[[Story], str]] = {
    "case": lambda story: story.case.public_id,
    "case in small letters": lambda story: story.case.public_id.lower(),
    "ticket": lambda story: story.case.external_id,
    "ticket with what a copy drags along": lambda story: f" {story.case.external_id.replace('-', '‑')}\u200b ",
}
ACTION_IDS: dict[str, Callable[[Story], str]] = {
    "action": lambda story: story.effect.public_id,
    "key": lambda story: story.effect.key,
    "the service's own number": lambda story: story.effect.external_id,
    "a request for it": lambda story: ExternalCall.objects.filter(action=story.effect).latest("id").call_id,
}


@pytest.mark.parametrize("name", IDS)
def test_a_name_of_a_case_opens_the_case(engine: Engine, desk: Desks, name: str) -> None:
    story = engine.proposed()
    assert goes_to(desk(), IDS[name](story)) == f"/console/cases/{story.case.public_id}/"


@pytest.mark.parametrize("name", ACTION_IDS)
def test_an_id_of_an_action_opens_the_action(engine: Engine, desk: Desks, name: str) -> None:
    story = completed(engine)
    assert goes_to(desk(), ACTION_IDS[name](story)) == f"/console/actions/{story.effect.public_id}/"


def test_a_proposal_opens_by_its_id_and_by_its_digest(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    for name in (story.proposal.public_id, story.proposal.digest, story.proposal.digest.upper()):
        assert goes_to(desk(), name) == f"/console/approvals/{story.proposal.public_id}/"


def test_the_request_that_read_a_fact_opens_its_case(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    reading = Observation.objects.filter(case_id=story.id).latest("id")
    assert goes_to(desk(), reading.call_id) == f"/console/cases/{story.case.public_id}/"


def test_what_is_no_whole_id_gives_a_list_in_groups(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    again = engine.open(about=story)
    page = look_for(desk(), story.subscription)
    assert page.status == 200 and "2 hits" in page.text
    for one in (story, again):
        assert f'href="/console/cases/{one.case.public_id}/"' in page.html
    page = look_for(desk(), story.case.external_id[:-2])
    assert "1 hit" in page.text and story.case.external_id in page.text


def test_more_than_a_screenful_is_left_to_the_list_of_cases(engine: Engine, desk: Desks) -> None:
    for _ in range(22):
        engine.open()
    page = look_for(desk(), "T-")
    assert "20 hits" in page.text
    assert 'href="/console/cases/?q=T-"' in page.html


def test_the_header_of_every_page_leads_here(desk: Desks) -> None:
    assert re.search(r'role="search" action="/console/search/"', desk().get("/console/").html)


def test_the_empty_answers_say_why(engine: Engine, desk: Desks) -> None:
    engine.proposed()
    assert "Nothing was found among the organisations" in look_for(desk(), "T-nothing").text
    assert "You see the cases of no organisation." in look_for(desk("nobody"), "T-nothing").text
    page = desk().get(PAGE)
    assert "A whole id opens its page." in page.text and "hits" not in page.text


@pytest.mark.parametrize("name", [*IDS, *ACTION_IDS, "proposal", "digest", "subject", "reading"])
def test_what_belongs_to_another_organisation_answers_like_what_is_missing(
    engine: Engine, desk: Desks, name: str
) -> None:
    story = completed(engine)
    more: dict[str, Callable[[Story], str]] = {
        "proposal": lambda story: story.proposal.public_id,
        "digest": lambda story: story.proposal.digest,
        "subject": lambda story: story.subscription,
        "reading": lambda story: Observation.objects.filter(case_id=story.id).latest("id").call_id,
    }
    text = (IDS | ACTION_IDS | more)[name](story)
    stranger = outsider(engine, desk)
    hidden, missing = look_for(stranger, text), look_for(stranger, "Z-missing")
    assert (hidden.status, missing.status) == (200, 200)
    assert hidden.text == missing.text
    assert f"/{story.case.public_id}/" not in hidden.html


def test_a_viewer_finds_what_a_viewer_may_see(engine: Engine, desk: Desks) -> None:
    story = in_doubt(engine)
    assert goes_to(desk("viewer"), story.effect.key) == f"/console/actions/{story.effect.public_id}/"


@pytest.mark.parametrize("text", ["\x00", "%", "_", "'; --", "\u202e", "x" * 900, "A-", "🙁", "\ud800"])
def test_strange_words_find_nothing_and_break_nothing(engine: Engine, desk: Desks, text: str) -> None:
    engine.proposed()
    written = "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))
    page = Page(desk().client.get(f"{PAGE}?q={written}"))
    assert page.status == 200
    assert "/console/cases/C-" not in page.html


@pytest.mark.parametrize(("language", "title"), [("ru", "Поиск"), ("en", "Search")])
def test_the_page_speaks_both_languages(engine: Engine, desk: Desks, language: str, title: str) -> None:
    story = engine.proposed()
    reader = desk(language=language)
    for page in (look_for(reader, story.subscription), look_for(reader, "nothing"), reader.get(PAGE)):
        assert f"<h1>{title}</h1>" in page.html and page.inline == []
