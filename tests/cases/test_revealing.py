"""A personal text is shown to who may see it, one at a time, and every look is on record."""

from __future__ import annotations

import pytest
from django.db import transaction

from accounts.principal import SYSTEM, actor_of_person
from accounts.services import create_service_account, grant_role
from audit.streams import read_links
from audit.verifying import verify
from caseflow.domain.errors import NotFound, NotPermitted, Purged
from caseflow.domain.roles import RIGHTS_OF_ROLE, RIGHTS_OF_SERVICES, Right, Role
from cases.advancing import record_event
from cases.heads import read_heads
from cases.models import PersonalText
from cases.revealing import reveal
from tests.driving import CLAIM, Engine, Story, fingerprint, hooks, together


@pytest.mark.parametrize("role", [role for role in Role if Right.REVEAL in RIGHTS_OF_ROLE[role]])
def test_who_may_reveal_sees_the_text_and_that_is_on_record(role: Role, engine: Engine) -> None:
    story = engine.open()
    person = engine.person("looker")
    grant_role(person=person, organisation=engine.organisation, role=role, by=SYSTEM)
    assert reveal(case=story.case, field="intake.claim", person=person) == CLAIM
    assert story.history() == ["case.opened", "personal.revealed"]
    assert story.told("personal.revealed") == {"field": "intake.claim"}
    last = story.case
    assert (last.version, last.state) == (1, "RECEIVED")


@pytest.mark.parametrize("role", [role for role in Role if Right.REVEAL not in RIGHTS_OF_ROLE[role]])
def test_who_may_not_reveal_sees_nothing_and_the_refusal_is_on_record(role: Role, engine: Engine) -> None:
    story = engine.open()
    person = engine.person("looker")
    grant_role(person=person, organisation=engine.organisation, role=role, by=SYSTEM)
    with pytest.raises(NotPermitted):
        reveal(case=story.case, field="intake.claim", person=person)
    assert story.told("access.refused") == {"right": "reveal_personal", "field": "intake.claim"}


def test_a_machine_never_reveals(engine: Engine) -> None:
    story = engine.open()
    machine = create_service_account(
        organisation=engine.organisation, name="intake", owner=engine.approver, rights=RIGHTS_OF_SERVICES, by=SYSTEM
    )
    with pytest.raises(NotPermitted):
        reveal(case=story.case, field="intake.claim", person=machine)


@pytest.mark.parametrize("field", ["intake.customer_id", "intake.other", "", "x" * 81, "intake.claim\x00", "a b"])
def test_a_field_that_the_case_does_not_have_is_not_found_and_not_recorded(field: str, engine: Engine) -> None:
    story, person = engine.open(), engine.approver
    before = fingerprint()
    with pytest.raises(NotFound):
        reveal(case=story.case, field=field, person=person)
    assert fingerprint() == before


def test_an_erased_text_is_not_shown_and_the_attempt_is_on_record(engine: Engine) -> None:
    story = engine.open()
    engine.owner.execute("DELETE FROM cases_casekey WHERE case_id = %s", [story.id])
    with pytest.raises(Purged):
        reveal(case=story.case, field="intake.claim", person=engine.approver)
    assert story.history() == ["case.opened", "personal.refused"]


def test_what_cannot_be_put_on_record_is_not_shown(engine: Engine) -> None:
    story, person = engine.open(), engine.approver
    with transaction.atomic(), pytest.raises(RuntimeError):
        reveal(case=story.case, field="intake.claim", person=person)
    assert story.history() == ["case.opened"]


def test_a_look_waits_for_no_writer_before_the_text_was_read(engine: Engine) -> None:
    """The record is a transaction of its own at the end: a worker may settle while somebody looks."""
    story, person = engine.open(), engine.approver
    hooks.at("after_read", lambda: reveal(case=story.case, field="intake.claim", person=person) and None)
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert "personal.revealed" in story.history()


def test_fifty_writers_leave_one_line_without_gaps(engine: Engine) -> None:
    story = engine.proposed()
    person = engine.approver
    row = story.row

    def note(number: int) -> None:
        with transaction.atomic():
            record_event(row, "case.note", actor=actor_of_person(person), facts={"number": number})

    def look() -> None:
        reveal(case=story.case, field="intake.claim", person=person)

    def decide_and_work() -> None:
        story.decide()
        story.run()

    before = story.case.audit_count
    notes = [lambda number=number: note(number) for number in range(24)]
    results = together(decide_and_work, *notes, *[look] * 25)
    assert [result for result in results if result is not None] == []
    case = story.case
    assert case.state == "COMPLETED"
    assert case.audit_count > before + 49
    assert _line(story) == list(range(1, case.audit_count + 1))
    assert verify(read_links(), heads=read_heads()).problems == []
    kinds = story.history()
    assert (kinds.count("case.note"), kinds.count("personal.revealed")) == (24, 25)
    assert PersonalText.objects.filter(case_id=story.id).exists()


def _line(story: Story) -> list[int]:
    return [link.seq for link in read_links() if link.stream == f"case:{story.id}"]
