"""Staff are told by mail what waits for them: once each, as they choose, without data, and never by a copy."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail

from accounts.models import Person, StaffNotice
from accounts.principal import SYSTEM, actor_of_person
from accounts.services import create_organisation, grant_role
from approvals.models import Proposal
from caseflow.domain.roles import Role
from cases.holding import hold_case
from cases.models import Installation, Schedule, Task
from operations import telling_staff
from tests.driving import CLAIM, Engine, Story, run_due, test_processes
from tests.operations.standings import sent_and_unanswered

__all__ = ["test_processes"]


@pytest.fixture(autouse=True)
def _with_addresses(engine: Engine, settings: Any) -> None:
    settings.CASEFLOW_STAFF_MAIL = True
    settings.CASEFLOW_BASE_URL = "https://caseflow.example.org"
    for username in ("approver", "second", "third", "operator", "recoverer", "viewer"):
        person = engine.person(username)
        Person.objects.filter(pk=person.pk).update(email=f"{username}@example.org", language="en")


def tell(engine: Engine) -> list[tuple[str, str]]:
    """One run of the regular work, by a worker; who was told what by it."""
    mail.outbox.clear()
    engine.owner.execute(
        "INSERT INTO cases_task (organisation_key, process, stage, subject, generation, queue, status, attempt,"
        " returned, lost, available_at, last_error, last_error_text, fence, leased_by, created_at)"
        " VALUES (0, '', 'tell_staff', '', 0, 'slow', 'due', 0, 0, 0, clock_timestamp(), '', '', 0, '',"
        " clock_timestamp())"
    )
    run_due(stage="tell_staff")
    assert Task.objects.filter(stage="tell_staff").latest("id").status == "done"
    return sorted((letter.to[0].partition("@")[0], letter.subject) for letter in mail.outbox)


def waits(story: Story) -> str:
    return f"Caseflow: Proposal {story.proposal.public_id} waits for your decision."


def test_everybody_who_may_decide_is_told_once_that_a_proposal_waits(engine: Engine) -> None:
    story = engine.proposed()
    assert tell(engine) == [(name, waits(story)) for name in ("approver", "second", "third")]
    assert tell(engine) == []
    assert set(StaffNotice.objects.values_list("outcome", flat=True)) == {"sent"}


def test_a_mail_leads_to_the_page_and_holds_nothing_of_the_customer(engine: Engine) -> None:
    story = engine.proposed()
    tell(engine)
    letter = mail.outbox[0]
    assert f"https://caseflow.example.org/console/approvals/{story.proposal.public_id}/" in letter.body
    text = letter.subject + letter.body
    for secret in (CLAIM, story.email, story.customer, story.payment, story.subscription, story.case.external_id):
        assert secret not in text
    assert not re.search(r"\?|approve/", letter.body)


def test_causers_strangers_and_those_who_approved_before_are_not_told(engine: Engine, test_processes: None) -> None:
    other = create_organisation(slug="globex", name="Globex")
    stranger = engine.person("stranger")
    Person.objects.filter(pk=stranger.pk).update(email="stranger@example.org")
    grant_role(person=stranger, organisation=other, role=Role.APPROVER, by=SYSTEM)
    story = engine.open(process="two_approvers", actor=actor_of_person(engine.person("third")))
    story.run()
    story.decide()
    assert tell(engine) == [("second", waits(story))]


def test_what_a_person_does_not_want_is_not_sent(engine: Engine) -> None:
    Person.objects.filter(username="second").update(muted_notices=["waits"])
    Person.objects.filter(username="third").update(email="")
    engine.proposed()
    assert [name for name, _ in tell(engine)] == ["approver"]


def test_the_end_of_the_time_is_told_apart(engine: Engine) -> None:
    story = engine.proposed()
    tell(engine)
    story.age_proposal(timedelta(hours=22, minutes=30))
    subject = f"Caseflow: The time to decide on proposal {story.proposal.public_id} is nearly over."
    assert tell(engine) == [(name, subject) for name in ("approver", "second", "third")]
    assert tell(engine) == []


def test_a_return_is_told_to_the_holder_or_to_everybody_who_may_work_on_it(engine: Engine) -> None:
    colleague = engine.person("colleague")
    Person.objects.filter(pk=colleague.pk).update(email="colleague@example.org", language="en")
    grant_role(person=colleague, organisation=engine.organisation, role=Role.OPERATOR, by=SYSTEM)
    held, free = engine.proposed(), engine.proposed()
    tell(engine)
    hold_case(case_id=held.id, person=engine.person("operator"))
    held.decide("return")
    free.decide("return")
    told = tell(engine)
    first = {story.id: Proposal.objects.get(case_id=story.id, number=1).public_id for story in (held, free)}
    assert told == sorted(
        [
            ("operator", f"Caseflow: Proposal {first[held.id]} was returned for review."),
            ("operator", f"Caseflow: Proposal {first[free.id]} was returned for review."),
            ("colleague", f"Caseflow: Proposal {first[free.id]} was returned for review."),
        ]
    )


def test_a_result_unknown_for_too_long_is_told_to_who_may_recover(engine: Engine, settings: Any) -> None:
    story = sent_and_unanswered(engine, settings)
    assert [name for name, _ in tell(engine) if name in ("operator", "recoverer")] == []
    engine.owner.execute("UPDATE actions_action SET first_sent_at = first_sent_at - interval '1 hour'")
    action = story.effect.public_id
    subject = f"Caseflow: The result of change {action} is still unknown. Do not repeat it."
    assert tell(engine) == [("operator", subject), ("recoverer", subject)]
    assert f"/console/actions/{action}/" in mail.outbox[0].body


@pytest.mark.parametrize("why", ["restored", "copied", "no mail"])
def test_a_copy_a_restored_one_and_one_without_mail_tell_nobody(engine: Engine, settings: Any, why: str) -> None:
    engine.proposed()
    if why == "restored":
        Installation.objects.update(restored=True)
    elif why == "copied":
        Installation.objects.update(installation_id="00000000-0000-4000-8000-000000000000")
    else:
        settings.CASEFLOW_STAFF_MAIL = False
    assert tell(engine) == []
    assert not StaffNotice.objects.exists()


def test_a_mail_server_that_is_away_stops_nothing_and_is_not_asked_twice(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.proposed()

    def away(*_: object, **__: object) -> None:
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr(mail.EmailMessage, "send", away)
        assert tell(engine) == []
    assert set(StaffNotice.objects.values_list("outcome", flat=True)) == {"failed"}
    assert tell(engine) == []


def test_what_a_run_wrote_down_and_did_not_begin_is_sent_by_the_next(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.proposed()
    with monkeypatch.context() as patch:
        patch.setattr(telling_staff, "PORTION", timedelta(seconds=-1))
        assert tell(engine) == []
    assert len(tell(engine)) == 3


def test_each_reads_in_their_own_language(engine: Engine) -> None:
    Person.objects.filter(username="approver").update(language="ru")
    story = engine.proposed()
    told = dict(tell(engine))
    assert told["approver"] == f"Caseflow: Предложение {story.proposal.public_id} ждёт вашего решения."
    assert told["second"] == waits(story)


def test_it_is_regular_work(engine: Engine) -> None:
    schedule = Schedule.objects.get(name="staff.tell")
    assert (schedule.stage, schedule.every, schedule.queue) == ("tell_staff", timedelta(minutes=5), "slow")
