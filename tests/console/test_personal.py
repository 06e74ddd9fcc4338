"""Personal texts on the case's page: hidden, shown one by one to who may see them, erased for good."""

from __future__ import annotations

from collections.abc import Callable

from accounts.principal import SYSTEM
from accounts.services import grant_role
from caseflow.domain.roles import RIGHTS_OF_ROLE, Right, Role
from tests.console.conftest import Desk
from tests.driving import CLAIM, Engine

DeskOf = Callable[..., Desk]


def test_a_text_is_hidden_until_an_approver_asks_for_it(engine: Engine, desk: DeskOf) -> None:
    story = engine.proposed()
    place = f"/console/cases/{story.case.public_id}/"
    approver = desk("approver")
    page = approver.get(place)
    assert CLAIM not in page.html
    assert "hidden: personal data" in page.text
    shown = approver.post(f"{place}show-text/", {"field": "intake.claim"})
    assert shown.text.count(CLAIM) == 1
    assert story.email not in shown.html
    assert "no-store" in shown.response.headers["Cache-Control"]
    assert shown.response.request["PATH_INFO"] == f"{place}show-text/"
    assert story.told("personal.revealed") == {"field": "intake.claim"}
    assert CLAIM not in approver.get(place).html
    address = approver.post(f"{place}show-text/", {"field": "fact.customer.email"})
    assert story.email in address.text
    assert address.inline == []


def test_a_reason_is_shown_beside_its_decision(engine: Engine, desk: DeskOf) -> None:
    story = engine.proposed()
    story.decide("return", reason="Клиентка плакала")
    place = f"/console/cases/{story.case.public_id}/"
    field = story.told("case.returned")["reason_field"]
    shown = desk("approver").post(f"{place}show-text/", {"field": field})
    assert "Клиентка плакала" in shown.text


def test_who_may_not_see_it_has_no_button_and_is_refused(engine: Engine, desk: DeskOf) -> None:
    story = engine.open()
    place = f"/console/cases/{story.case.public_id}/"
    for role in Role:
        rights = RIGHTS_OF_ROLE[role]
        if Right.SEE_CASES not in rights or Right.REVEAL in rights:
            continue
        person = engine.person(f"a-{role.value}")
        grant_role(person=person, organisation=engine.organisation, role=role, by=SYSTEM)
        one = desk(person.username)
        page = one.get(place)
        assert "hidden: personal data" in page.text
        assert "show-text" not in page.html
        refused = one.post(f"{place}show-text/", {"field": "intake.claim"}, status=403)
        assert CLAIM not in refused.html
        assert story.told("access.refused") == {"right": "reveal_personal", "field": "intake.claim"}


def test_a_stranger_gets_the_answer_for_a_case_that_does_not_exist(engine: Engine, desk: DeskOf) -> None:
    story = engine.open()
    stranger = desk("stranger")
    there = stranger.post(f"/console/cases/{story.case.public_id}/show-text/", {"field": "intake.claim"}, status=404)
    missing = stranger.post("/console/cases/C-0000000000/show-text/", {"field": "intake.claim"}, status=404)
    assert there.text == missing.text
    assert story.history() == ["case.opened"]


def test_an_erased_text_is_called_erased(engine: Engine, desk: DeskOf) -> None:
    story = engine.open()
    engine.owner.execute("DELETE FROM cases_casekey WHERE case_id = %s", [story.id])
    place = f"/console/cases/{story.case.public_id}/"
    approver = desk("approver")
    page = approver.get(place)
    assert "erased: personal data" in page.text
    assert "hidden: personal data" not in page.text
    after = approver.post(f"{place}show-text/", {"field": "intake.claim"})
    assert "The personal texts of this case were erased." in after.text
    assert "удалено: личные данные" in desk("approver", language="ru").get(place).text
