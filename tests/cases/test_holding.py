"""Taking a case, handing it over, letting it go, and notes: on record, for people with the right, ended by itself."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from accounts.principal import SYSTEM
from accounts.services import grant_role
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.errors import BadInput, CaseIsClosed, HeldByAnother, NotPermitted
from caseflow.domain.roles import Role
from cases.holding import add_note, find_hold, hand_over, hold_case, list_notes, release_case
from cases.models import Hold
from cases.revealing import reveal
from tests.driving import Engine, Story, engine, simulator

__all__ = ["engine", "simulator"]


@pytest.fixture
def colleague(engine: Engine):
    person = engine.person("colleague")
    grant_role(person=person, organisation=engine.organisation, role=Role.OPERATOR, by=SYSTEM)
    return person


def lapse(engine: Engine, story: Story) -> None:
    engine.owner.execute(
        "UPDATE cases_hold SET at = at - interval '2 hours', until = until - interval '2 hours' WHERE case_id = %s"
        " AND ended_at IS NULL",
        [story.id],
    )


def test_a_case_is_taken_once_and_held_longer_by_its_holder_only(engine: Engine, colleague) -> None:
    story = engine.proposed()
    before = story.case.version
    first = hold_case(case_id=story.id, person=engine.person("operator"))
    again = hold_case(case_id=story.id, person=engine.person("operator"))
    with pytest.raises(HeldByAnother) as refused:
        hold_case(case_id=story.id, person=colleague)

    assert (first.created, again.created) == (True, False)
    assert again.hold.pk == first.hold.pk and again.hold.until > first.hold.until
    assert refused.value.params["person"] == "Operator"
    assert story.history().count("hold.taken") == 1
    assert story.case.version == before


def test_a_hold_ends_by_itself_and_the_next_one_may_take_the_case(engine: Engine, colleague) -> None:
    story = engine.proposed()
    first = hold_case(case_id=story.id, person=engine.person("operator")).hold
    lapse(engine, story)
    assert find_hold(story.id) is None

    second = hold_case(case_id=story.id, person=colleague).hold

    first.refresh_from_db()
    assert first.ended_at == first.until
    assert find_hold(story.id) == second
    assert "hold.released" not in story.history()


def test_handing_over_goes_to_people_who_may_work_on_the_case_and_says_who_gave_it(engine: Engine, colleague) -> None:
    story = engine.proposed()
    hold_case(case_id=story.id, person=engine.person("operator"))
    for stranger in ("approver", "viewer", "nobody"):
        with pytest.raises(BadInput):
            hand_over(case_id=story.id, to=engine.person(stranger), person=engine.person("operator"))

    hand_over(case_id=story.id, to=colleague, person=engine.person("operator"))

    held = find_hold(story.id)
    assert held is not None and (held.person, held.given_by) == (colleague, engine.person("operator"))
    told = story.told("hold.handed_over")
    assert told["holder"] == "Colleague"
    event = AuditEvent.objects.get(case_id=story.id, kind="hold.handed_over")
    assert facts_of(event.body)["actor"]["name"] == "Operator"


def test_only_the_holder_lets_go(engine: Engine, colleague) -> None:
    story = engine.proposed()
    assert release_case(case_id=story.id, person=colleague) is False
    hold_case(case_id=story.id, person=engine.person("operator"))
    with pytest.raises(HeldByAnother):
        release_case(case_id=story.id, person=colleague)
    assert release_case(case_id=story.id, person=engine.person("operator")) is True
    assert find_hold(story.id) is None
    assert story.history().count("hold.released") == 1


@pytest.mark.parametrize("username", ["viewer", "approver", "recoverer", "stranger"])
def test_without_the_right_nothing_is_held_given_released_or_noted(engine: Engine, colleague, username: str) -> None:
    story, person = engine.proposed(), engine.person(username)
    for attempt in (
        lambda: hold_case(case_id=story.id, person=person),
        lambda: hand_over(case_id=story.id, to=colleague, person=person),
        lambda: release_case(case_id=story.id, person=person),
        lambda: add_note(case_id=story.id, text="x", principal=person),
    ):
        with pytest.raises(NotPermitted):
            attempt()
    assert not Hold.objects.exists()
    assert not list_notes(story.id).exists()


def test_nobody_works_on_a_closed_case_but_a_note_may_be_written(engine: Engine) -> None:
    story = engine.approved()
    story.run()
    operator = engine.person("operator")
    with pytest.raises(CaseIsClosed):
        hold_case(case_id=story.id, person=operator)
    with pytest.raises(CaseIsClosed):
        hand_over(case_id=story.id, to=operator, person=operator)
    add_note(case_id=story.id, text="Клиент доволен", principal=operator)
    assert story.history()[-1] == "note.added"


def test_a_note_is_personal_text_and_its_words_stand_in_no_row_and_no_event(engine: Engine) -> None:
    story, operator = engine.proposed(), engine.person("operator")
    add_note(case_id=story.id, text="Первая", principal=operator)
    note = add_note(case_id=story.id, text="  Позвонить Марии  ", principal=operator)

    assert [one.number for one in list_notes(story.id)] == [2, 1]
    assert reveal(case=story.case, field=note.field, person=operator) == "Позвонить Марии"
    with pytest.raises(NotPermitted):
        reveal(case=story.case, field=note.field, person=engine.person("viewer"))
    events = AuditEvent.objects.filter(case_id=story.id).values_list("body", flat=True)
    assert not any("Марии" in bytes(body).decode() for body in events)


@pytest.mark.parametrize("text", ["", "   ", "x" * 4001, "a\x00b", None, 7])
def test_a_note_of_a_wrong_form_is_refused(engine: Engine, text: object) -> None:
    story = engine.proposed()
    with pytest.raises(BadInput):
        add_note(case_id=story.id, text=text, principal=engine.person("operator"))
    assert "note.added" not in story.history()


def test_the_database_itself_keeps_a_case_from_two_holders_and_a_note_from_changes(engine: Engine, colleague) -> None:
    story = engine.proposed()
    held = hold_case(case_id=story.id, person=engine.person("operator")).hold
    add_note(case_id=story.id, text="Первая", principal=colleague)
    with pytest.raises(IntegrityError), transaction.atomic():
        Hold.objects.create(case_id=story.id, person=colleague, at=held.at, until=held.until)
    with pytest.raises(Exception, match=r"permission denied|append|Cannot"), transaction.atomic():
        connection.cursor().execute("UPDATE cases_note SET by_name = 'x'")


def test_a_hold_stops_nobody_who_decides(engine: Engine) -> None:
    story = engine.proposed()
    hold_case(case_id=story.id, person=engine.person("operator"))
    story.decide()
    story.run()
    assert story.state == "COMPLETED"
