"""Out of sight is the 404 of what does not exist; in sight without the right is a 403."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.domain.roles import Role
from tests.console.conftest import Desk
from tests.driving import Engine, fingerprint

Desks = Callable[..., Desk]


def without_token(html: str) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"|value="/console/[^"]*"', "", html)


@pytest.fixture
def outsider(engine: Engine, desk: Desks) -> Desk:
    """An approver of another organisation."""
    other = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("outsider"), organisation=other, role=Role.APPROVER, by=SYSTEM)
    return desk("outsider")


@pytest.mark.parametrize(
    "path", ["cases/{case}/", "cases/{case}/status/", "approvals/{proposal}/", "approvals/{proposal}/approve/"]
)
def test_missing_and_not_yours_look_the_same(engine: Engine, outsider: Desk, path: str) -> None:
    story = engine.proposed()
    mine = {"case": story.case.public_id, "proposal": story.proposal.public_id}
    missing = {"case": "C-0000000000", "proposal": "P-0000000000"}
    hidden = outsider.get(f"/console/{path.format(**mine)}", 404)
    absent = outsider.get(f"/console/{path.format(**missing)}", 404)
    assert without_token(hidden.html) == without_token(absent.html)


@pytest.mark.parametrize("step", ["approve", "reject", "return", "ask-data", "withdraw"])
def test_nothing_of_another_organisation_can_be_changed(engine: Engine, outsider: Desk, step: str) -> None:
    story = engine.proposed()
    outsider.get("/console/")
    before = fingerprint()
    said = {"digest": story.proposal.digest, "version": str(story.case.version), "reason": "x", "next": "close"}
    outsider.post(f"/console/approvals/{story.proposal.public_id}/{step}/", said, status=404)
    outsider.post(f"/console/cases/{story.case.public_id}/supply/", {"payment_id": "PAY-1"}, status=404)
    assert fingerprint() == before


def test_another_organisations_cases_are_in_no_list_and_no_count(engine: Engine, outsider: Desk) -> None:
    story = engine.proposed()
    for path in ("", "approvals/", "approvals/?view=all", "cases/", f"cases/?q={story.case.external_id}"):
        page = outsider.get(f"/console/{path}")
        assert story.case.public_id not in page.html
        assert story.proposal.public_id not in page.html
    assert "0 cases" in outsider.get("/console/cases/").text


def test_a_viewer_sees_a_proposal_with_buttons_that_say_why_they_are_off(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    page = desk("viewer").get(f"/console/approvals/{story.proposal.public_id}/")
    assert "You may look at this proposal, but not decide on it. Who may decide: Approver, Second, Third." in page.text
    assert "/approve/" not in page.html
    assert "disabled" in page.html


def test_a_viewer_who_presses_all_the_same_is_refused_and_recorded(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    viewer, address = desk("viewer"), f"/console/approvals/{story.proposal.public_id}/approve/"
    viewer.get(address, 403)
    assert "decision.refused" not in story.history()
    said = {"digest": story.proposal.digest, "version": str(story.case.version)}
    page = viewer.post(address, said, status=403)
    assert "decide proposals" in page.text
    assert story.history()[-1] == "decision.refused"
    assert story.state == "WAITING_APPROVAL"


def test_who_may_not_supply_data_is_refused_and_recorded(engine: Engine, desk: Desks) -> None:
    story = engine.open(missing=["payments"])
    story.run()
    viewer = desk("viewer")
    page = viewer.get(f"/console/cases/{story.case.public_id}/")
    assert "You do not have the right to supply data here." in page.text
    viewer.post(f"/console/cases/{story.case.public_id}/supply/", {"payment_id": "PAY-1"}, status=403)
    assert story.history()[-1] == "access.refused"
    assert story.state == "WAITING_DATA"


@pytest.mark.parametrize("name", ["%00", "C-7K3QX9TM4A%00", "..", "C-%F0%9F%98%80", "P-'--"])
def test_a_strange_name_is_not_found(desk: Desks, name: str) -> None:
    page = desk().client.get(f"/console/cases/{name}/")
    assert page.status_code == 404


def test_a_machine_has_no_console(engine: Engine, desk: Desks) -> None:
    assert desk(None).client.get("/console/", headers={"Authorization": "Bearer cf_a_b"}).status_code == 302
