"""The page of differences: whether anybody looked, and what differs, without a word about other organisations."""

from __future__ import annotations

from datetime import timedelta

import pytest

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.domain.roles import Role
from operations.models import DriftFinding, DriftRun
from tests.console.seeing import Desks, completed, outsider
from tests.driving import Engine, Story
from tests.operations.test_drift import regular

PAGE = "/console/drift/"


def drifted(engine: Engine, **ticket: object) -> Story:
    story = completed(engine, **ticket)
    story.change("subscriptions", status="inactive")
    return story


def test_a_difference_shows_what_was_confirmed_what_is_now_since_when_and_whom_to_ask(
    engine: Engine, desk: Desks
) -> None:
    story, quiet = drifted(engine), completed(engine)
    regular("day")
    page = desk().get(PAGE)
    assert "1 change differs" in page.text
    assert "Subscription: state: active now inactive" in page.text
    assert f'href="/console/actions/{story.effect.public_id}/"' in page.html
    assert f'href="/console/cases/{story.case.public_id}/"' in page.html
    assert "subscriptions@example.org" in page.text
    assert quiet.effect.public_id not in page.html
    assert "Differences found later" in desk().get(f"/console/actions/{story.effect.public_id}/").text


def test_the_same_difference_is_one_row_and_each_run_says_what_it_found(engine: Engine, desk: Desks) -> None:
    drifted(engine)
    first, second = regular("day"), regular("day")
    assert DriftFinding.objects.count() == 2
    page = desk().get(PAGE)
    assert "1 change differs" in page.text
    for run in (first, second):
        assert f'href="?run={run.pk}"' in page.html
    assert "1 change differs" in desk().get(f"{PAGE}?run={first.pk}").text


def test_what_is_chosen_stands_in_the_address(engine: Engine, desk: Desks) -> None:
    story = drifted(engine)
    run = regular("day")
    reader = desk()
    for query, found in {
        "": True,
        "system=subscriptions&organisation=acme": True,
        f"run={run.pk}": True,
        "system=mail": False,
        "organisation=another": False,
        "run=999999": False,
        "run=x&system=y&page=z": True,
    }.items():
        assert (story.effect.public_id in reader.get(f"{PAGE}?{query}").html) == found, query
    page = reader.get(f"{PAGE}?system=subscriptions&run={run.pk}")
    assert f'href="?run={run.pk}"' in page.html and 'href="?system=subscriptions"' in page.html
    reader.get(f"{PAGE}?run=" + "9" * 18)


def test_no_difference_is_good_news_only_after_a_comparison(engine: Engine, desk: Desks) -> None:
    completed(engine)
    reader = desk()
    page = reader.get(PAGE)
    assert "No difference is on record; that says little before a comparison is through." in page.text
    assert "No comparison is on record yet." in page.text
    regular("sample")
    page = reader.get(PAGE)
    assert "No difference was found." in page.text and "banner success" in page.html
    assert "a sample of all confirmed changes" in page.text
    DriftRun.objects.update(ended_at=engine.now() - timedelta(hours=3))
    assert "has not been through for" in reader.get(PAGE).text
    assert "No difference fits these filters." in reader.get(f"{PAGE}?system=mail").text
    assert "You see the cases of no organisation." in desk("nobody").get(PAGE).text


def test_another_organisations_differences_and_numbers_stay_out_of_sight(engine: Engine, desk: Desks) -> None:
    story = drifted(engine)
    run = regular("day")
    assert run.differing == 1
    stranger = outsider(engine, desk)
    for query in ("", f"?run={run.pk}", "?organisation=acme"):
        page = stranger.get(PAGE + query)
        assert story.effect.public_id not in page.html
        assert "0 changes differ" in page.text
    # Of a run of the platform one sees that it ran, and of the order of others not even that.
    assert "Differences in your organisations" in page.text and f'href="?run={run.pk}"' not in page.html
    DriftRun.objects.update(task=None)
    assert "No comparison is on record yet." in stranger.get(PAGE).text
    assert f'href="?run={run.pk}"' in desk().get(PAGE).html


def test_a_run_counts_for_each_reader_what_they_may_see(engine: Engine, desk: Desks) -> None:
    drifted(engine)
    other = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.approver, organisation=other, role=Role.APPROVER, by=SYSTEM)
    drifted(engine, organisation=other)
    run = regular("day")
    assert f'href="?run={run.pk}">2<' in desk("approver").get(PAGE).html
    assert f'href="?run={run.pk}">1<' in desk("viewer").get(PAGE).html


@pytest.mark.parametrize(
    ("language", "title"), [("ru", "Расхождения с внешними системами"), ("en", "Differences with")]
)
def test_the_page_speaks_both_languages(engine: Engine, desk: Desks, language: str, title: str) -> None:
    drifted(engine)
    regular("day")
    page = desk(language=language).get(PAGE)
    assert title in page.text and page.inline == []
    assert ("Last seen" in page.text) == (language == "en")
