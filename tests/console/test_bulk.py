"""Orders for many cases in the browser, chosen in a list, previewed, confirmed by their count, watched to the end."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accounts.principal import SYSTEM
from accounts.services import grant_role
from caseflow.domain.roles import Role
from operations.bulk import pause_bulk
from operations.models import Bulk
from tests.console.conftest import Page
from tests.console.seeing import Desks, outsider
from tests.driving import Engine, Story
from tests.operations import standings as at
from tests.operations.bulks import WHY, at_place, confirmed, numbers, previewed, run_once, stopped
from tests.operations.standings import stand

LIST = "/console/cases/"
NEW = "/console/bulk/new/"


def address(bulk: Bulk, step: str = "") -> str:
    return f"/console/bulk/{bulk.public_id}/" + (f"{step}/" if step else "")


def chosen(*stories: Story, kind: str = "observe_again", **more: str) -> dict[str, Any]:
    return {"which": "chosen", "kind": kind, "case": [story.case.public_id for story in stories]} | more


def the_bulk() -> Bulk:
    return Bulk.objects.latest("pk")


@pytest.mark.parametrize("language", ["en", "ru"])
def test_from_the_list_to_the_preview_to_the_result_of_every_case(
    language: str, engine: Engine, settings: Any, desk: Desks
) -> None:
    stories = [*stopped(engine, 2), stand(at.checking, engine, settings)]
    operator = desk("operator", language)
    page = operator.get(LIST)
    for story in stories:
        assert f'name="case" value="{story.case.public_id}"' in page.html
    page = operator.post(NEW, {"which": "all", "kind": "observe_again", "query": page.field("query")})
    title = {"en": "Check 3 cases again?", "ru": "Повторить проверку для 3 дел?"}[language]
    button = {"en": "Check 2 cases again", "ru": "Повторить проверку 2 дел"}[language]
    skipped = {"en": "1 case is skipped.", "ru": "Пропущено 1 дело."}[language]
    why = {"en": "The case is being checked already.", "ru": "Дело уже проверяется."}[language]
    for text in (title, button, skipped, why):
        assert text in page.text
    assert page.inline == []
    assert the_bulk().wanted == {"list": "?"}
    wrong = operator.post(address(the_bulk()), {"count": "3", "reason": WHY, "rate": "600"}, status=400)
    assert {"en": "Type 2 to confirm.", "ru": "Чтобы подтвердить, введите 2."}[language] in wrong.text
    page = operator.post(address(the_bulk()), {"count": "2", "reason": WHY, "rate": "600"})
    assert {"en": "1 of 3", "ru": "1 из 3"}[language] in page.text
    assert "data-moving" in page.html
    run_once(engine, the_bulk())
    page = operator.get(address(the_bulk()))
    assert {"en": "3 of 3", "ru": "3 из 3"}[language] in page.text
    assert {"en": "Every case of the list had its turn.", "ru": "Все дела списка обработаны."}[language] in page.text
    assert "data-moving" not in page.html
    assert page.inline == []
    done = operator.get(address(the_bulk()) + "?status=done")
    assert all((story.case.external_id in done.text) is (story is not stories[2]) for story in stories)
    assert the_bulk().public_id in operator.get("/console/bulk/").text


def test_the_chosen_rows_and_nothing_else_come_into_the_list(engine: Engine, desk: Desks) -> None:
    first, second = stopped(engine, 2)
    operator = desk("operator")
    operator.post(NEW, chosen(second) | {"query": "?state=NEEDS_ATTENTION"})
    assert [item.case_id for item in the_bulk().items.all()] == [second.id]
    assert the_bulk().wanted == {"chosen": "rows"}
    operator.post(NEW, {"which": "all", "kind": "observe_again", "query": f"?q={first.case.external_id}"})
    assert [item.case_id for item in the_bulk().items.all()] == [first.id]


def test_what_cannot_be_previewed_says_why_above_the_same_list(engine: Engine, desk: Desks) -> None:
    story = stopped(engine)[0]
    operator = desk("operator")
    for said, sentence in (
        ({"which": "chosen", "kind": "observe_again"}, "Choose at least one case."),
        (chosen(story, kind="approve"), "Choose what to order."),
        (chosen(story, kind="hand_over", to="nobody"), "Name a colleague who may work on these cases."),
        (chosen(story, kind="hand_over", to="viewer"), "Name a colleague who may work on these cases."),
    ):
        page = operator.post(NEW, said | {"query": "?state=NEEDS_ATTENTION"})
        assert sentence in page.text
        assert "Need attention" in page.text
    assert not Bulk.objects.exists()
    grant_role(person=engine.person("colleague"), organisation=engine.organisation, role=Role.OPERATOR, by=SYSTEM)
    page = operator.post(NEW, chosen(story, kind="hand_over", to="colleague"))
    assert "Hand 1 case over?" in page.text
    assert "The colleague: Colleague." in page.text


def test_a_list_offers_what_its_reader_may_order(engine: Engine, desk: Desks) -> None:
    stopped(engine)
    kinds = r'<option value="(observe_again|reconcile|ask_data|hand_over)"'
    offered = {
        name: re.findall(kinds, desk(name).get(LIST).html) for name in ("operator", "recoverer", "viewer", "approver")
    }
    assert offered == {
        "operator": ["observe_again", "reconcile", "hand_over"],
        "recoverer": ["observe_again", "reconcile"],
        "viewer": [],
        "approver": [],
    }
    assert 'name="case"' not in desk("viewer").get(LIST).html


def test_who_may_not_order_is_refused_and_a_stranger_finds_nothing(engine: Engine, desk: Desks) -> None:
    story = stopped(engine)[0]
    desk("viewer").post(NEW, chosen(story), status=403)
    bulk = confirmed(previewed(engine, story))
    stranger = outsider(engine, desk)
    page = stranger.post(NEW, chosen(story))
    assert "Choose at least one case." in page.text
    stranger.get(address(bulk), 404)
    stranger.get(address(bulk, "status"), 404)
    for step in ("pause", "resume", "cancel"):
        stranger.post(address(bulk, step), status=404)
        desk("viewer").post(address(bulk, step), status=403)
    assert bulk.public_id not in stranger.get("/console/bulk/").text
    assert "/pause/" not in desk("viewer").get(address(bulk)).html
    assert Bulk.objects.get(pk=bulk.pk).status == "running"


def test_only_who_previewed_it_confirms_it(engine: Engine, desk: Desks) -> None:
    bulk = previewed(engine, *stopped(engine))
    page = desk("recoverer").get(address(bulk))
    assert "Only who made the preview confirms it." in page.text
    assert 'name="count"' not in page.html
    page = desk("recoverer").post(address(bulk), {"count": "1", "reason": WHY, "rate": "60"}, status=409)
    assert "Only who made the preview confirms it." in page.text
    assert numbers(bulk)["planned"] == 1


def test_pausing_going_on_and_skipping_the_rest(engine: Engine, desk: Desks) -> None:
    stories = stopped(engine, 3)
    bulk = confirmed(previewed(engine, *stories))
    recoverer, person = desk("recoverer"), engine.person("recoverer")
    with at_place("bulk.item_committed", "item-1", do=lambda: pause_bulk(bulk=bulk, person=person) and None):
        run_once(engine, bulk)
    page = recoverer.get(address(bulk))
    assert "Paused" in page.text
    assert "1 of 3" in page.text
    assert "It goes on with the next case." in recoverer.post(address(bulk, "resume")).text
    again = recoverer.post(address(bulk, "cancel"))
    assert "The rest is skipped." in again.text
    assert "3 of 3" in again.text
    late = recoverer.post(address(bulk, "pause"), status=409)
    assert "It was cancelled." in late.text
    assert numbers(bulk) == {"planned": 0, "done": 1, "failed": 0, "skipped": 2}


def test_the_moving_part_alone_is_the_same_and_says_when_it_stands_still(engine: Engine, desk: Desks) -> None:
    bulk = confirmed(previewed(engine, *stopped(engine)))
    operator = desk("operator")
    part: Page = operator.get(address(bulk, "status"))
    assert "<html" not in part.html
    assert "data-moving" in part.html
    engine.owner.execute("UPDATE cases_task SET status = 'failed', ended_at = now() WHERE stage = 'bulk'")
    page = operator.get(address(bulk))
    assert "It stands still: its worker stopped again and again." in page.text
    operator.post(address(bulk, "resume"))
    run_once(engine, bulk)
    assert numbers(bulk)["done"] == 1


def test_previews_are_limited(engine: Engine, settings: Any, desk: Desks) -> None:
    settings.CASEFLOW_LIMITS = settings.CASEFLOW_LIMITS | {"bulk": (1, 3600)}
    story = stopped(engine)[0]
    operator = desk("operator")
    operator.post(NEW, chosen(story))
    operator.post(NEW, chosen(story), status=429)
    assert Bulk.objects.count() == 1
