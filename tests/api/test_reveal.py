"""Revealing over the API: masked by default, one text at a time, on record, and erased for good."""

from __future__ import annotations

from accounts.principal import SYSTEM
from accounts.services import grant_role
from caseflow.domain.roles import Role
from tests.api.conftest import browser_of, machine_of
from tests.driving import CLAIM, Engine


def test_an_operator_reveals_one_text_and_the_rest_stays_masked(engine: Engine) -> None:
    story = engine.proposed()
    operator = browser_of(engine.person("operator"))
    case = f"/api/v1/cases/{story.case.public_id}/"
    assert operator.get(case).json()["intake"]["claim"] == {"masked": True}
    answer = operator.post(f"{case}reveal/", {"field": "intake.claim"})
    assert (answer.status_code, answer.json()) == (200, {"field": "intake.claim", "text": CLAIM})
    assert "no-store" in answer.headers["Cache-Control"]
    assert operator.get(case).json()["intake"]["claim"] == {"masked": True}
    assert story.told("personal.revealed") == {"field": "intake.claim"}


def test_who_may_not_is_refused_and_who_may_not_see_the_case_finds_nothing(engine: Engine) -> None:
    story = engine.open()
    case = f"/api/v1/cases/{story.case.public_id}/"
    recoverer = engine.person("somebody")
    grant_role(person=recoverer, organisation=engine.organisation, role=Role.RECOVERER, by=SYSTEM)
    refused = browser_of(recoverer).post(f"{case}reveal/", {"field": "intake.claim"})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_permitted")
    assert story.told("access.refused") == {"right": "reveal_personal", "field": "intake.claim"}
    stranger = browser_of(engine.person("stranger"))
    assert stranger.post(f"{case}reveal/", {"field": "intake.claim"}).status_code == 404
    machine = machine_of(engine.organisation)
    assert machine.post(f"{case}reveal/", {"field": "intake.claim"}).status_code == 403


def test_a_field_that_is_not_there_and_an_odd_body_are_refused(engine: Engine) -> None:
    story = engine.open()
    operator = browser_of(engine.person("operator"))
    place = f"/api/v1/cases/{story.case.public_id}/reveal/"
    for body, status in (
        ({"field": "intake.customer_id"}, 404),
        ({"field": ""}, 404),
        ({"field": 7}, 400),
        ({}, 400),
        ({"field": "intake.claim", "all": True}, 400),
    ):
        assert operator.post(place, body).status_code == status, body
    assert story.history() == ["case.opened"]


def test_erased_texts_are_called_erased_everywhere(engine: Engine) -> None:
    story = engine.proposed()
    engine.owner.execute("DELETE FROM cases_casekey WHERE case_id = %s", [story.id])
    operator = browser_of(engine.person("operator"))
    case = f"/api/v1/cases/{story.case.public_id}/"
    shown = operator.get(case).json()
    assert (shown["intake"]["claim"], shown["erased"]) == ({"erased": True}, True)
    facts = {one["name"]: one["value"] for one in operator.get(f"{case}facts/").json()["results"]}
    assert facts["customer"]["email"] == {"erased": True}
    gone = operator.post(f"{case}reveal/", {"field": "intake.claim"})
    assert (gone.status_code, gone.json()["code"]) == (410, "purged")
