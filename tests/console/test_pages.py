"""Every page, in both languages: complete, fresh, with nothing inline, and with a fixed number of queries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from babel.messages.pofile import read_po
from django.conf import settings as configured

from caseflow.domain import words
from tests.console.conftest import Desk
from tests.driving import Engine, Story

Desks = Callable[..., Desk]
CATALOGUE = Path(configured.BASE_DIR) / "locale" / "ru" / "LC_MESSAGES" / "django.po"


def pages_of(story: Story) -> list[str]:
    case, proposal = story.case.public_id, story.proposal.public_id
    return [
        "/console/",
        "/console/me/",
        "/console/cases/",
        f"/console/cases/{case}/",
        f"/console/cases/{case}/status/?seen=1",
        f"/console/cases/{case}/timeline/",
        f"/console/cases/{case}/facts/",
        f"/console/cases/{case}/proposals/",
        "/console/pauses/",
        "/console/approvals/",
        "/console/approvals/?view=all",
        "/console/attention/",
        "/console/actions/",
        "/console/actions/?status=unknown",
        "/console/drift/",
        "/console/search/?q=T-",
        "/console/processes/",
        "/console/processes/restore_access/",
        "/console/help/",
        f"/console/approvals/{proposal}/",
        *(f"/console/approvals/{proposal}/{step}/" for step in ("approve", "reject", "return", "ask-data")),
    ]


def sentences() -> list[str]:
    """English texts of several words, which no Russian page may show."""
    with CATALOGUE.open("rb") as file:
        found = [message.id for message in read_po(file) if message.id]
    texts = [text for one in found for text in (one if isinstance(one, tuple) else (one,))]
    return [text for text in texts if text.count(" ") >= 1 and "%" not in text and "{" not in text]


@pytest.mark.parametrize("language", ["ru", "en"])
def test_every_page_answers_and_says_its_language(engine: Engine, desk: Desks, language: str) -> None:
    engine.open(payment={"amount": "10.00"}).run()
    story = engine.proposed()
    reader = desk(language=language)
    for path in pages_of(story):
        page = reader.get(path)
        assert page.response.headers["Content-Language"] == language
        assert "no-store" in page.response.headers["Cache-Control"]
        policy = page.response.headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy and "unsafe" not in policy
        assert page.inline == [], path
        if "status" not in path:
            assert f'<html lang="{language}"' in page.html


def test_a_russian_page_shows_no_english_sentence(engine: Engine, desk: Desks) -> None:
    engine.open(payment={"amount": "10.00"}).run()
    waiting = engine.open(missing=["payments"])
    waiting.run()
    done = engine.approved()
    done.run()
    story = engine.proposed()
    reader, english = desk(language="ru"), sentences()
    cases = [f"/console/cases/{one.case.public_id}/" for one in (waiting, done)]
    actions = [f"/console/actions/{one.public_id}/" for one in (done.effect, done.notice)]
    for path in [*pages_of(story), *cases, *actions, "/console/cases/?state=COMPLETED&reason=x"]:
        text = reader.get(path).text
        assert [sentence for sentence in english if sentence in text] == [], path


STATE_WORDS = {
    "RECEIVED": "Принято",
    "CHECKING": "Проверяется",
    "WAITING_APPROVAL": "Ждёт решения",
    "EXECUTING": "Выполняется",
    "WAITING_DATA": "Ждёт данных",
    "NOTIFYING": "Уведомление",
    "NEEDS_ATTENTION": "Требует внимания",
    "COMPLETED": "Завершено",
    "CLOSED_NO_CHANGE": "Закрыто без изменений",
}


def test_the_list_has_a_tab_with_the_russian_word_of_each_state(desk: Desks) -> None:
    assert set(STATE_WORDS) == set(words.STATES)
    text = desk(language="ru").get("/console/cases/").text
    for word in STATE_WORDS.values():
        assert f"{word} 0" in text


def test_empty_pages_say_what_is_the_matter(engine: Engine, desk: Desks) -> None:
    reader = desk()
    assert "Nothing is waiting for you." in reader.get("/console/").text
    assert "There is nothing to sort out." in reader.get("/console/").text
    assert "There are no cases yet." in reader.get("/console/cases/").text
    assert "No case fits these filters." in reader.get("/console/cases/?q=T-nothing").text
    assert "You see the cases of no organisation." in desk("nobody").get("/console/cases/").text


def test_home_orders_by_the_time_that_is_left_and_groups_what_stopped(engine: Engine, desk: Desks) -> None:
    first, second = engine.proposed(), engine.proposed()
    engine.open(payment={"amount": "10.00"}).run()
    engine.open(payment={"amount": "10.00"}).run()
    page = desk().get("/console/")
    assert page.html.index(first.proposal.public_id) < page.html.index(second.proposal.public_id)
    assert "For me to decide 2" in page.text
    assert "The amount differs 2" in page.text


def test_the_list_counts_finds_and_keeps_its_filters_in_the_address(engine: Engine, desk: Desks) -> None:
    story, stopped = engine.proposed(), engine.open(payment={"amount": "10.00"})
    stopped.run()
    reader = desk()
    page = reader.get("/console/cases/")
    assert "Waiting for decision 1" in page.text and "Needs attention 1" in page.text and "2 cases" in page.text
    assert f'class="oldest" href="/console/cases/{stopped.case.public_id}/"' in page.html
    for text in (story.case.external_id, story.case.external_id[:6], story.subscription, f" {story.case.external_id} "):
        found = reader.get(f"/console/cases/?q={text}")
        assert story.case.public_id in found.html
    page = reader.get("/console/cases/?state=NEEDS_ATTENTION&reason=amount_differs")
    assert "1 case" in page.text
    assert story.case.public_id not in page.html
    assert 'href="?state=NEEDS_ATTENTION"' in page.html
    for name in (story.case.public_id, story.proposal.public_id.lower()):
        assert reader.get(f"/console/cases/?q={name}", 302).response.url == f"/console/cases/{story.case.public_id}/"
    reader.get("/console/cases/?state=NONE&sort=x&page=z&q=%00")


def test_history_shows_a_changed_fact_with_old_and_new_value(engine: Engine, desk: Desks) -> None:
    story = engine.approved()
    story.change("payments", status="refunded")
    story.run()
    page = desk().get(f"/console/cases/{story.case.public_id}/")
    assert "Facts changed; nothing was sent" in page.text
    assert "Payment: state confirmed refunded" in page.text
    assert 'id="e-1"' in page.html


def test_personal_text_is_on_no_page(engine: Engine, desk: Desks) -> None:
    story = engine.proposed(claim="Мой телефон 000")
    for path in pages_of(story):
        page = desk("operator").client.get(path).content.decode()
        assert "телефон" not in page
        assert story.email not in page


def test_a_failure_names_the_request(desk: Desks, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = desk(language="ru")

    def fail(*_: Any) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("caseflow.console.waiting.attention_groups", fail)
    reader.client.raise_request_exception = False
    page = reader.get("/console/", 500)
    assert page.response.headers["X-Request-Id"] in page.text
    assert "Сбой приложения" in page.text
    assert page.inline == []
    assert "on purpose" not in page.html
