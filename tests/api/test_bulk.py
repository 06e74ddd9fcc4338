"""Orders for many cases over the API: the same list, the same numbers, the same refusals as in the console."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.domain.roles import Role
from operations.models import Bulk
from tests.api.conftest import Caller, browser_of, machine_of
from tests.driving import Engine
from tests.operations.bulks import WHY, run_once, stopped

PLACE = "/api/v1/bulk/"


@pytest.fixture
def operator(engine: Engine) -> Caller:
    return browser_of(engine.person("operator"))


def test_a_bulk_from_the_filter_to_the_result_of_every_case(engine: Engine, operator: Caller) -> None:
    stories = stopped(engine, 3)
    answer = operator.post(PLACE, {"kind": "observe_again", "filter": {"state": "NEEDS_ATTENTION"}})
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert answer["Location"] == made["links"]["self"] == f"{PLACE}{made['id']}/"
    assert (made["status"], made["total"]) == ("preview", 3)
    assert made["counts"] == {"planned": 3, "done": 0, "failed": 0, "skipped": 0}
    wrong = operator.post(made["links"]["confirm"], {"count": 4, "reason": WHY})
    assert (wrong.status_code, wrong.json()["code"], wrong.json()["path"]) == (400, "wrong_count", "$.count")
    started = operator.post(made["links"]["confirm"], {"count": 3, "reason": WHY, "rate": 600})
    assert (started.status_code, started.json()["status"]) == (200, "running")
    twice = operator.post(made["links"]["confirm"], {"count": 3, "reason": WHY})
    assert (twice.status_code, twice.json()["code"], twice.json()["reason"]) == (409, "bulk_not_possible", "running")
    run_once(engine, Bulk.objects.get(public_id=made["id"]))
    ended = operator.get(made["links"]["self"]).json()
    assert (ended["status"], ended["counts"]["done"]) == ("ended", 3)
    assert sum(ended["counts"].values()) == ended["total"]
    first = operator.get(made["links"]["items"], limit=2).json()
    rest = operator.get(first["next"]).json()
    items = first["results"] + rest["results"]
    assert rest["next"] is None
    assert {item["case"] for item in items} == {story.case.public_id for story in stories}
    assert all(item["recovery"].startswith("R-") and item["status"] == "done" for item in items)
    assert operator.get(made["links"]["items"], status="failed").json()["results"] == []
    assert [one["id"] for one in operator.get(PLACE).json()["results"]] == [made["id"]]


def test_named_cases_have_to_be_in_sight(engine: Engine, operator: Caller) -> None:
    mine = stopped(engine)[0].case.public_id
    other = create_organisation(slug="globex", name="Globex")
    for name in engine.DECIDERS:
        grant_role(person=engine.person(name), organisation=other, role=Role.APPROVER, by=SYSTEM)
    theirs = stopped(engine, organisation=other)[0].case.public_id
    for names in ([mine, theirs], [mine, "C-0000000000"], ["C-\u0000"], ["ы"]):
        assert operator.post(PLACE, {"kind": "observe_again", "cases": names}).status_code in (400, 404), names
    assert operator.post(PLACE, {"kind": "observe_again", "cases": [mine]}).status_code == 201
    assert Bulk.objects.count() == 1


def test_pausing_going_on_and_cancelling(engine: Engine, operator: Caller) -> None:
    names = [story.case.public_id for story in stopped(engine, 2)]
    links = operator.post(PLACE, {"kind": "observe_again", "cases": names}).json()["links"]
    early = operator.post(links["pause"])
    assert (early.status_code, early.json()["reason"]) == (409, "preview")
    operator.post(links["confirm"], {"count": 2, "reason": WHY})
    assert operator.post(links["pause"]).json()["status"] == "paused"
    assert operator.post(links["resume"]).json()["status"] == "running"
    ended = operator.post(links["cancel"]).json()
    assert (ended["status"], ended["counts"]["skipped"]) == ("cancelled", 2)
    shown = operator.get(links["items"]).json()["results"][0]
    assert (shown["reason"], shown["reason_text"]) == ("cancelled", "Отменено до своей очереди.")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"kind": "approve", "filter": {}}, "unknown_kind"),
        ({"kind": "observe_again"}, "wrong_data"),
        ({"kind": "observe_again", "filter": {"state": "COMPLETED"}}, "empty"),
        ({"kind": "observe_again", "filter": {"colour": "red"}}, "unknown_field"),
        ({"kind": "hand_over", "filter": {}, "to": "nobody"}, "unknown_holder"),
    ],
)
def test_a_wrong_preview_says_what_is_wrong(engine: Engine, operator: Caller, body: Any, code: str) -> None:
    stopped(engine)
    answer = operator.post(PLACE, body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_machines_and_people_without_the_right_order_nothing(engine: Engine, operator: Caller) -> None:
    case = stopped(engine)[0].case.public_id
    body = {"kind": "observe_again", "cases": [case]}
    machine = machine_of(engine.organisation)
    assert machine.post(PLACE, body).json()["code"] == "service_never_recovers"
    viewer = browser_of(engine.person("viewer"))
    assert (viewer.post(PLACE, body).status_code, viewer.post(PLACE, body).json()["code"]) == (403, "not_permitted")
    links = operator.post(PLACE, body).json()["links"]
    operator.post(links["confirm"], {"count": 1, "reason": WHY})
    assert viewer.get(links["self"]).status_code == 200
    for step in ("pause", "resume", "cancel"):
        assert viewer.post(links[step]).status_code == 403
        assert machine.post(links[step]).status_code == 403
    stranger = browser_of(engine.person("stranger"))
    assert stranger.get(links["self"]).status_code == 404
    assert stranger.post(links["cancel"]).status_code == 404
    assert stranger.get(PLACE).json()["results"] == []
