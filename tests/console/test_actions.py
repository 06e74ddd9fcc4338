"""Actions and the desk of unknown results: a box says what is known, what is not, and what is safe."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from operations.models import DriftRun
from tests.console.conftest import Page
from tests.console.seeing import Desks, completed, in_doubt, outsider
from tests.console.test_navigation import badge
from tests.driving import Engine, Story
from tests.operations.test_drift import regular

LIST, UNKNOWN = "/console/actions/", "/console/actions/?status=unknown"


def page_of(desk: Desks, story: Story, person: str = "operator", language: str = "en") -> Page:
    return desk(person, language).get(f"{LIST}{story.effect.public_id}/")


def test_the_list_shows_status_age_and_where_each_action_belongs(engine: Engine, desk: Desks) -> None:
    doubt, done = in_doubt(engine), completed(engine)
    page = desk().get(LIST)
    assert "Result unknown 1" in page.text and "Confirmed by the service 2" in page.text
    assert "3 actions" in page.text
    for story in (doubt, done):
        assert f'href="/console/actions/{story.effect.public_id}/"' in page.html
        assert f'href="/console/cases/{story.case.public_id}/"' in page.html
    assert done.email not in page.html


def test_what_is_chosen_stands_in_the_address(engine: Engine, desk: Desks) -> None:
    doubt, done = in_doubt(engine), completed(engine)
    reader = desk()

    def shown(query: str) -> set[str]:
        html = reader.get(f"{LIST}?{query}").html
        ids = {"doubt": doubt.effect, "done": done.effect, "letter": done.notice}
        return {name for name, action in ids.items() if action.public_id in html}

    assert shown("") == {"doubt", "done", "letter"}
    assert shown("status=unknown") == shown("status=UNKNOWN") == {"doubt"}
    assert shown("status=confirmed&kind=effect") == {"done"}
    assert shown("kind=notice") == shown("system=mail") == {"letter"}
    assert shown("organisation=acme&system=subscriptions") == {"doubt", "done"}
    assert shown("organisation=another") == set()
    assert shown("status=maybe&kind=x&system=y&page=z") == {"doubt", "done", "letter"}
    page = reader.get(f"{LIST}?status=unknown&kind=effect")
    assert 'href="?kind=effect"' in page.html and 'href="?status=unknown"' in page.html
    reader.get(f"{LIST}?organisation=%00%ED%A0%80")


def test_the_number_in_the_navigation_is_the_length_of_the_desk(engine: Engine, desk: Desks) -> None:
    in_doubt(engine), in_doubt(engine), completed(engine)
    reader = desk()
    address = "/console/actions/?status=unknown&kind=effect"
    assert badge(reader.get(LIST), address) == 2
    assert "2 actions" in reader.get(address).text


def test_the_empty_desk_is_green_only_when_a_comparison_ran_lately(engine: Engine, desk: Desks) -> None:
    completed(engine)
    reader = desk()
    page = reader.get(UNKNOWN)
    assert "No result is unknown." in page.text
    assert "nobody has looked for differences" in page.text and "banner success" not in page.html

    regular("sample")
    page = reader.get(UNKNOWN)
    assert "banner success" in page.html and "was through" in page.text

    DriftRun.objects.update(ended_at=engine.now() - timedelta(hours=5), began_at=engine.now() - timedelta(hours=5))
    page = reader.get(UNKNOWN)
    assert "has not been through for" in page.text and "5 h 0 min" in page.text
    assert "banner success" not in page.html
    assert "check_drift" in page.text


def test_a_comparison_that_could_not_read_everything_does_not_make_the_desk_green(engine: Engine, desk: Desks) -> None:
    completed(engine)
    engine.outside.script("error_before", method="GET", path="/subscriptions/*", times=None)
    regular("sample")
    page = desk().get(UNKNOWN)
    assert "some systems did not answer" in page.text and "banner success" not in page.html


def test_the_empty_lists_say_why_they_are_empty(engine: Engine, desk: Desks) -> None:
    assert "There are no actions yet." in desk().get(LIST).text
    assert "You see the cases of no organisation." in desk("nobody").get(LIST).text
    assert "You see the cases of no organisation." in desk("nobody").get(UNKNOWN).text
    completed(engine)
    assert "No action fits these filters." in desk().get(f"{LIST}?status=refused").text
    assert "Among what fits these filters no result is unknown." in desk().get(f"{UNKNOWN}&system=mail").text


def test_a_confirmed_change_shows_its_proof(engine: Engine, desk: Desks) -> None:
    story = completed(engine)
    page = page_of(desk, story)
    action = story.effect
    assert "The state was read back from the service." in page.text
    for name in (action.public_id, action.key, action.external_id, story.proposal.digest):
        assert f'data-copy="{name}"' in page.html
    assert "Digest" in page.text and "agrees" in page.text and "does not agree" not in page.text
    assert page.text.count("yes:") == 4 and "no:" not in page.text
    assert "Subscription: state active active the same" in page.text
    assert "Request" in page.text and "accepted" in page.text and "1 try by a worker" in page.text
    assert "The same key twice is one change yes" in page.text
    assert "subscriptions@example.org" in page.text
    assert "Do not repeat" not in page.text


def test_the_box_says_what_is_known_what_is_not_and_that_the_living_key_makes_a_repeat_safe(
    engine: Engine, desk: Desks
) -> None:
    page = page_of(desk, in_doubt(engine))
    assert "Do not repeat it before the state is checked." in page.text
    assert "Requests sent under the one key: 1" in page.text
    assert "the request may have arrived although no answer came" in page.text
    assert "makes no second change until" in page.text
    assert "Caseflow goes on by itself: Check the result with the service" in page.text
    assert "no answer" in page.text


def test_past_the_life_of_its_key_a_repeat_is_called_unsafe(engine: Engine, desk: Desks) -> None:
    story = in_doubt(engine)
    engine.owner.execute("UPDATE actions_action SET first_sent_at = first_sent_at - interval '24 hours'")
    page = page_of(desk, story)
    assert "a repeat could make a second change, so none is sent" in page.text
    assert "past its life since" in page.text and "makes no second change until" not in page.text


@pytest.mark.parametrize(
    ("adapter", "sentence"),
    [
        ("LookupOnly", "“Not applied” counts only when it was asked after"),
        ("Keyless", "The service has no keys and cannot be asked, so a repeat is not available."),
    ],
)
def test_a_system_that_promises_less_is_not_repeated(
    engine: Engine, desk: Desks, settings: Any, adapter: str, sentence: str
) -> None:
    settings.ADAPTERS = settings.ADAPTERS | {"subscriptions": f"tests.adapters.{adapter}"}
    story = engine.approved()
    engine.outside.script("drop_after", path=f"/legacy/subscriptions/{story.subscription}/activate", times=1)
    story.run(stage="execute")
    assert story.effect.status == "UNKNOWN"
    page = page_of(desk, story)
    assert sentence in page.text
    assert "makes no second change until" not in page.text
    assert "old-billing@example.org" in page.text


def test_a_system_that_is_gone_is_said_to_be_gone(engine: Engine, desk: Desks, settings: Any) -> None:
    story = in_doubt(engine)
    settings.ADAPTERS = {name: path for name, path in settings.ADAPTERS.items() if name != "subscriptions"}
    page = page_of(desk, story)
    assert "this installation does not have the system any more" in page.text


def test_a_plan_that_was_tampered_with_does_not_agree(engine: Engine, desk: Desks) -> None:
    story = completed(engine)
    engine.rewrite(
        "approvals_proposal",
        "UPDATE approvals_proposal SET digest = repeat('0', 64) WHERE id = %s",
        [story.proposal.pk],
    )
    page = page_of(desk, story)
    assert "does not agree" in page.text


def test_only_who_may_order_a_recovery_is_sent_to_the_steps(engine: Engine, desk: Desks) -> None:
    story = engine.approved()
    story.fault("drop_before", times=None)
    story.run()
    engine.outside.script("error_before", path="/operations/*", times=None)
    engine.owner.execute("UPDATE cases_task SET deadline_at = clock_timestamp() WHERE stage = 'reconcile'")
    story.run_later()
    assert story.state == "NEEDS_ATTENTION"
    assert f"/console/cases/{story.case.public_id}/#recovery" in page_of(desk, story).html
    seen = page_of(desk, story, "viewer")
    assert "#recovery" not in seen.html
    assert "An operator or recoverer of the organisation orders it." in seen.text
    assert "a person orders the next step in the case" in seen.text


def test_another_organisations_actions_look_like_missing_ones(engine: Engine, desk: Desks) -> None:
    story = in_doubt(engine)
    stranger = outsider(engine, desk)
    hidden = stranger.get(f"{LIST}{story.effect.public_id}/", 404)
    missing = stranger.get(f"{LIST}A-0000000000/", 404)
    assert hidden.text == missing.text
    for path in (LIST, UNKNOWN, f"{LIST}?organisation=acme"):
        page = stranger.get(path)
        assert story.effect.public_id not in page.html and story.subscription not in page.html
        assert "0 actions" in page.text


@pytest.mark.parametrize("language", ["ru", "en"])
def test_list_and_page_speak_both_languages(engine: Engine, desk: Desks, language: str) -> None:
    story, done = in_doubt(engine), completed(engine)
    reader = desk("operator", language)
    for path in (LIST, UNKNOWN, f"{LIST}{story.effect.public_id}/", f"{LIST}{done.notice.public_id}/"):
        page = reader.get(path)
        assert page.inline == []
    page = reader.get(f"{LIST}{story.effect.public_id}/")
    assert ("Не повторяйте, пока не сверено состояние." in page.text) == (language == "ru")
    assert ("Do not repeat it" in page.text) == (language == "en")
    assert done.email not in reader.get(f"{LIST}{done.notice.public_id}/").html
