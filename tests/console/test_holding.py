"""Somebody else is here (console.md §1, 16): who has a case, in one press, on its page and in the lists."""

from __future__ import annotations

from collections.abc import Callable

from accounts.principal import SYSTEM
from accounts.services import grant_role
from caseflow.domain.roles import Role
from cases.models import Case
from tests.console.conftest import Desk
from tests.console.seeing import outsider
from tests.driving import Engine

Desks = Callable[..., Desk]


def colleague(engine: Engine, desk: Desks) -> Desk:
    grant_role(person=engine.person("colleague"), organisation=engine.organisation, role=Role.OPERATOR, by=SYSTEM)
    return desk("colleague")


def test_a_case_is_taken_and_let_go_with_one_press_and_everybody_sees_by_whom(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    path = f"/console/cases/{story.case.public_id}/"
    operator, viewer = desk("operator"), desk("viewer")
    assert "Nobody has taken this case." in operator.get(path).text

    page = operator.post(f"{path}take/")

    assert "You have this case now." in page.text and "Let go of this case" in page.text
    seen = viewer.get(path)
    assert "Operator has this case." in seen.text
    for address in ("take/", "release/", "hand-over/", "note/"):
        assert f'action="{path}{address}"' not in seen.html
    assert "Operator" in viewer.get("/console/cases/").text
    assert story.case.public_id in operator.get("/console/cases/?holder=me").html
    assert story.case.public_id not in operator.get("/console/cases/?holder=nobody").html
    assert "You have let go of this case." in operator.post(f"{path}release/").text
    assert story.case.public_id in operator.get("/console/cases/?holder=nobody").html


def test_a_held_case_is_taken_over_or_handed_over_on_record(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    path = f"/console/cases/{story.case.public_id}/"
    operator, other = desk("operator"), colleague(engine, desk)
    operator.post(f"{path}take/")

    refused = other.post(f"{path}take/", status=409)
    assert "Somebody else has this case" in refused.text and "Operator has it until" in refused.text
    assert "Take this case over" in other.get(path).text
    assert "You have this case now." in other.post(f"{path}hand-over/").text
    given = other.post(f"{path}hand-over/", {"to": "operator"})
    assert "Operator has this case now." in given.text
    assert "Handed over by Colleague." in desk("operator").get(path).text
    assert story.history().count("hold.handed_over") == 2
    other.post(f"{path}hand-over/", {"to": "viewer"}, status=400)


def test_a_note_is_hidden_until_it_is_shown_on_record(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    path = f"/console/cases/{story.case.public_id}/"
    operator = desk("operator")
    page = operator.post(f"{path}note/", {"text": "Позвонить <b>Марии</b>"})
    assert "Марии" not in page.html and 'id="note-1"' in page.html
    shown = operator.post(f"{path}show-text/", {"field": "note.1"})
    assert "Позвонить &lt;b&gt;Марии&lt;/b&gt;" in shown.html
    assert story.history()[-1] == "personal.revealed"
    operator.post(f"{path}note/", {"text": " "}, status=400)


def test_who_may_not_work_on_a_case_is_refused_on_record_and_a_stranger_sees_nothing(
    engine: Engine, desk: Desks
) -> None:
    story = engine.proposed()
    path = f"/console/cases/{story.case.public_id}/"
    stranger = outsider(engine, desk)
    for address in ("take/", "release/", "hand-over/", "note/"):
        desk("viewer").post(f"{path}{address}", {"text": "x"}, status=403)
        assert story.history()[-1] == "access.refused"
        stranger.post(f"{path}{address}", {"text": "x"}, status=404)


def test_the_way_back_to_the_ticket_is_a_link_only_where_it_is_of_the_web(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    path = f"/console/cases/{story.case.public_id}/"
    Case.objects.filter(pk=story.id).update(source_url="https://helpdesk.example.org/T-1")
    assert 'href="https://helpdesk.example.org/T-1" rel="noopener noreferrer"' in desk().get(path).html
    for bad in ("javascript:alert(1)", "data:text/html,x", "//elsewhere.example.org"):
        Case.objects.filter(pk=story.id).update(source_url=bad)
        assert f'href="{bad}' not in desk().get(path).html
