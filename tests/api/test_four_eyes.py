"""Who caused a proposal never decides on it, whatever they did and whatever they say, over the API."""

from __future__ import annotations

import pytest

from approvals.models import Decision
from tests.api.conftest import browser_of, machine_of
from tests.causers import CAUSES, causer_in
from tests.driving import Engine

DECISIONS = (
    {"decision": "approve"},
    {"decision": "reject", "next": "close", "reason": "x"},
    {"decision": "reject", "next": "by_hand", "reason": "x"},
    {"decision": "return", "reason": "x"},
    {"decision": "ask_data", "reason": "x"},
)


@pytest.mark.parametrize("cause", CAUSES)
def test_every_kind_of_causer_is_refused(cause: str, engine: Engine) -> None:
    causer = causer_in(engine)
    story = CAUSES[cause](engine, causer)
    caller, before = browser_of(causer), Decision.objects.count()
    path = f"/api/v1/proposals/{story.proposal.public_id}/"
    seen = {"digest": story.proposal.digest, "version": story.case.version}

    assert caller.get(path).json()["obstacle"] == "causer_may_not_decide"
    for decision in DECISIONS:
        answer = caller.post(f"{path}decision/", decision | seen)
        assert (answer.status_code, answer.json()["code"]) == (403, "causer_may_not_decide")

    assert (story.state, story.writes(), Decision.objects.count()) == ("WAITING_APPROVAL", [], before)
    assert story.told("decision.refused")["code"] == "causer_may_not_decide"
    assert browser_of(engine.person("third")).post(f"{path}decision/", DECISIONS[0] | seen).status_code == 201


def test_a_machine_never_decides_whoever_owns_it(engine: Engine) -> None:
    story = engine.proposed()
    machine = machine_of(engine.organisation, owner=engine.approver)
    seen = {"digest": story.proposal.digest, "version": story.case.version}

    for decision in DECISIONS:
        answer = machine.post(f"/api/v1/proposals/{story.proposal.public_id}/decision/", decision | seen)
        assert (answer.status_code, answer.json()["code"]) == (403, "service_never_decides")
    assert story.state == "WAITING_APPROVAL"
