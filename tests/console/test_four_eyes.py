"""Who caused a proposal never decides on it, whatever they did and whatever they press, in the console."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from approvals.models import Decision
from tests.causers import CAUSES, causer_in
from tests.console.conftest import Desk
from tests.driving import Engine

FORMS = {
    "approve": {},
    "reject": {"next": "close", "reason": "x"},
    "return": {"reason": "x"},
    "ask-data": {"reason": "x"},
}


@pytest.mark.parametrize("cause", CAUSES)
def test_every_kind_of_causer_is_refused(cause: str, engine: Engine, desk: Callable[..., Desk]) -> None:
    causer = causer_in(engine)
    story = CAUSES[cause](engine, causer)
    at_desk, before = desk("second"), Decision.objects.count()
    address = f"/console/approvals/{story.proposal.public_id}/"
    seen = {"digest": story.proposal.digest, "version": str(story.case.version)}

    shown = at_desk.get(address)
    assert "took part" in shown.text
    assert "/approve/" not in shown.html
    assert story.proposal.public_id not in at_desk.get("/console/approvals/").html
    for step, said in FORMS.items():
        page = at_desk.post(f"{address}{step}/", seen | said, status=403)
        assert "Another person has to decide" in page.text

    assert (story.state, story.writes(), Decision.objects.count()) == ("WAITING_APPROVAL", [], before)
    assert desk("third").press("approve", story.proposal.public_id).status == 200
    assert story.state == "EXECUTING"
