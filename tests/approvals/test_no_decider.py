"""A plan that too few people may decide on does not wait for nobody: the case says so, and what to do."""

from __future__ import annotations

import io
import threading
import time
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import translation

from accounts.models import Person
from accounts.principal import SYSTEM, actor_of_person
from accounts.services import create_organisation, grant_role, revoke_role
from actions.withdrawing import withdraw
from approvals import proposing
from approvals.deciders import CAUSERS, deciders_of, lacking
from approvals.models import Proposal
from caseflow.domain.roles import Right, Role
from caseflow.invariants.running import ask_all
from caseflow.statements import rows_of
from cases.supplying import supply_data
from tests.driving import Engine, Story, run_due, together
from tests.model_stage.conftest import Oracle, oracle

__all__ = ["oracle"]

ACT = {"role": Role.APPROVER, "by": SYSTEM}


def revoke(engine: Engine, *names: str) -> None:
    for name in names:
        revoke_role(person=engine.person(name), organisation=engine.organisation, **ACT)


def stopped(story: Story) -> tuple[str, str, list[str]]:
    return (*story.standing, story.writes())


SAYS_SO = ("NEEDS_ATTENTION", "no_decider", [])


def test_a_plan_that_nobody_may_decide_on_is_not_proposed(engine: Engine) -> None:
    revoke(engine, "approver", "second", "third")
    story = engine.open()
    story.run()

    assert stopped(story) == SAYS_SO
    told = story.told("case.person_needed")
    assert (told["quorum"], told["permitted"], told["decision"]) == (1, 0, "restore_access")
    assert not Proposal.objects.filter(case_id=story.id).exists()


def test_the_only_approver_who_took_part_is_nobody(engine: Engine) -> None:
    revoke(engine, "second", "third")
    story = engine.open(actor=actor_of_person(engine.approver))
    story.run()

    assert stopped(story) == SAYS_SO


def test_two_are_needed_and_one_is_left(engine: Engine, test_processes: None) -> None:
    revoke(engine, "third")
    story = engine.open(process="two_approvers", actor=actor_of_person(engine.person("second")))
    story.run()

    assert stopped(story) == SAYS_SO
    assert (story.told("case.person_needed")["quorum"], story.told("case.person_needed")["permitted"]) == (2, 1)


def test_of_more_causers_than_were_thought_of_beforehand_none_is_counted_and_nobody_else_overlooked(
    engine: Engine,
) -> None:
    for name in ("approver", "second", "third", "fourth", "fifth"):
        grant_role(person=engine.person(name), organisation=engine.organisation, **ACT)
    approval = {"right": Right.DECIDE.value, "quorum": 1, "four_eyes": True}
    told = rows_of(*deciders_of(engine.organisation.pk, approval))
    causers = [key for (key,) in told]
    assert len(causers) == CAUSERS + 1
    assert lacking(engine.organisation.pk, approval, causers, told) == {}


def test_after_a_grant_somebody_asks_again_and_the_case_goes_on(engine: Engine) -> None:
    revoke(engine, "approver", "second", "third")
    story = engine.open()
    story.run()
    grant_role(person=engine.person("newcomer"), organisation=engine.organisation, **ACT)
    assert stopped(story) == SAYS_SO  # a grant alone moves nothing

    story.order("observe_again")
    story.run()

    assert story.state == "WAITING_APPROVAL"
    story.decide(person=engine.person("newcomer"))
    story.run()
    assert story.state == "COMPLETED"


def test_a_waiting_plan_whose_last_decider_loses_the_right_says_so(engine: Engine) -> None:
    revoke(engine, "second", "third")
    story, other = engine.proposed(), engine.proposed(actor=actor_of_person(engine.person("second")))
    run_due()
    assert (story.state, other.state) == ("WAITING_APPROVAL", "WAITING_APPROVAL")

    revoke(engine, "approver")
    run_due()

    assert stopped(story) == stopped(other) == SAYS_SO
    assert story.told("case.person_needed")["proposal"] == story.proposal.public_id
    assert not any(finding.violations for _, finding in ask_all())


def test_a_plan_that_enough_may_still_decide_on_goes_on_waiting(engine: Engine, test_processes: None) -> None:
    one, two = engine.proposed(), engine.proposed(process="two_approvers")
    revoke(engine, "approver")
    run_due()
    assert (one.state, two.state) == ("WAITING_APPROVAL", "WAITING_APPROVAL")

    revoke(engine, "second")
    run_due()
    assert (one.state, two.state) == ("WAITING_APPROVAL", "NEEDS_ATTENTION")


def test_another_organisation_is_not_touched(engine: Engine) -> None:
    story = engine.proposed()
    globex = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("stranger"), organisation=globex, **ACT)
    theirs = engine.proposed(organisation=globex)
    revoke(engine, "approver", "second", "third")
    run_due()

    assert (story.state, theirs.state) == ("NEEDS_ATTENTION", "WAITING_APPROVAL")


def test_a_decision_made_before_the_look_stands(engine: Engine) -> None:
    revoke(engine, "second", "third")
    story = engine.proposed()
    story.decide()
    revoke(engine, "approver")

    run_due()

    # The send saw that the approval may not be used; checked again, nobody is left to ask.
    assert "case.approval_lapsed" in story.history()
    assert stopped(story) == SAYS_SO


def test_a_plan_withdrawn_after_data_came_is_not_left_to_who_supplied_it(engine: Engine) -> None:
    revoke(engine, "third")
    story, second = engine.approved(), engine.person("second")
    supply_data(case_id=story.id, data={"claim": "Ещё"}, actor=actor_of_person(second))
    supply_data(case_id=story.id, data={"claim": "Ещё раз"}, actor=actor_of_person(engine.approver))

    withdraw(proposal=story.proposal, person=engine.approver)
    run_due(stage="find_deciders")

    assert stopped(story) == SAYS_SO


@pytest.mark.parametrize("proposer", ["rules", "model"])
def test_a_right_taken_while_a_plan_is_being_stored_is_seen(
    proposer: str, engine: Engine, oracle: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan has counted its deciders, the right is taken and looked for, and only then is the plan committed."""
    oracle.chosen(proposer)
    revoke(engine, "second", "third")
    story, count = engine.open(), proposing.lacking
    look = threading.Thread(target=on_a_connection_of_its_own, args=(lambda: run_due(stage="find_deciders"),))

    def count_and_lose(*arguments: Any) -> dict[str, int]:
        found = count(*arguments)
        together(lambda: revoke(engine, "approver"))
        look.start()
        until_somebody_waits_for_a_lock()
        return found

    monkeypatch.setattr(proposing, "lacking", count_and_lose)
    run_due(case=story.id)
    look.join(30)

    assert "case.proposal_ready" in story.history()
    assert stopped(story) == SAYS_SO


def on_a_connection_of_its_own(work: Any) -> None:
    try:
        work()
    finally:
        connection.close()


def until_somebody_waits_for_a_lock() -> None:
    end = time.monotonic() + 5
    with connection.cursor() as cursor:
        while True:
            cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
            if cursor.fetchone() == (True,):
                return
            assert time.monotonic() < end, "nobody waited for the case"


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_case_page_and_the_command_say_what_to_do(language: str, engine: Engine) -> None:
    revoke(engine, "approver", "second", "third")
    story = engine.open()
    story.run()
    viewer = engine.person("viewer")
    Person.objects.filter(pk=viewer.pk).update(language=language)
    client, out = Client(), io.StringIO()
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(f"/console/cases/{story.case.public_id}/").content.decode()
    translation.deactivate()
    call_command("explain_case", story.case.public_id, "--as", "viewer", "--language", language, stdout=out)

    words = {
        "en": ("Too few people may decide", "grant the role “Approver”"),
        "ru": ("Слишком мало людей может решить", "выдать кому-нибудь роль «Согласующий»"),
    }
    for word in words[language]:
        assert word in page
        assert word in out.getvalue()
