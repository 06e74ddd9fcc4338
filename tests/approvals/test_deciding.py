"""A person decides on what they saw: this digest, this version, these facts, in time, and nobody else's case."""

from __future__ import annotations

import threading
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Person
from accounts.principal import SYSTEM, actor_of_person
from accounts.services import create_organisation, grant_role, revoke_role
from approvals.deciding import Decided
from approvals.models import Decision
from approvals.snapshots import opened
from caseflow.domain.errors import (
    AlreadyDecided,
    BadInput,
    CauserMayNotDecide,
    NotDecidable,
    NotPermitted,
    ProposalExpired,
    StaleSnapshot,
)
from caseflow.domain.roles import Role
from cases.models import Task
from cases.publishing import NewTask, publish
from cases.rows import lock_case
from cases.supplying import supply_data
from tests.driving import Engine, Story, decisions, fingerprint, together


def refused(story: Story, code: str) -> dict[str, Any]:
    """The recorded refusal; nothing but it was written and nothing will be sent."""
    told = story.told("decision.refused")
    assert told["code"] == code
    assert not Task.objects.filter(case_id=story.id, stage="execute").exists()
    return told


def test_an_approval_is_stored_with_what_the_person_saw_and_moves_the_case(engine: Engine) -> None:
    story = engine.proposed()
    version, digest = story.case.version, story.proposal.digest
    decided = story.decide()
    assert decided.created
    row = Decision.objects.get()
    assert (row.kind, row.digest, row.case_version, row.decisive) == ("approve", digest, version, True)
    assert story.state == "EXECUTING"
    told = story.told("case.quorum_reached")
    assert (told["digest"], told["seen_version"]) == (digest, version)
    assert (story.task("execute").subject, story.task("execute").available_at) == (
        story.told("case.proposal_ready")["actions"][0],
        row.undo_until,
    )


def test_the_request_is_not_sent_before_the_time_to_undo_is_over(engine: Engine, settings: Any) -> None:
    settings.CASEFLOW_UNDO_SECONDS = 15
    story = engine.approved()
    story.run()
    assert (story.state, story.writes()) == ("EXECUTING", [])
    wait = (story.task("execute").available_at - timezone.now()).total_seconds()
    assert 13 < wait <= 15
    story.run_later()
    assert story.state == "COMPLETED"


def test_the_same_word_twice_is_one_decision(engine: Engine) -> None:
    story = engine.proposed()
    version = story.case.version
    story.decide()
    again = story.decide(seen_version=version)
    assert not again.created
    assert decisions(story) == [("approver", "approve", True)]
    story.run()
    assert len(story.activations()) == 1
    assert not story.decide(seen_version=version).created


def test_a_digest_that_is_missing_cut_or_written_otherwise_never_passes(engine: Engine) -> None:
    story, approver = engine.proposed(), engine.approver
    right = story.proposal.digest
    before = fingerprint()
    for digest in ("", right[:-1], right + "0", right.upper(), " " + right, right + "\n", "g" * 64, "０" * 64, None, 7):
        if digest != right:
            with pytest.raises(BadInput) as refusal:
                story.decide(person=approver, seen_digest=digest)
            assert (refusal.value.code, refusal.value.params["path"]) == ("bad_digest", "$.digest")
    assert fingerprint() == before


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ({"kind": "approve_all"}, "$.decision"),
        ({"kind": "withdraw"}, "$.decision"),
        ({"seen_version": "3"}, "$.version"),
        ({"seen_version": True}, "$.version"),
        ({"seen_version": None}, "$.version"),
        ({"reason": None}, "$.reason"),
        ({"reason": "x" * 4001}, "$.reason"),
        ({"reason": "a\x00b"}, "$.reason"),
        ({"kind": "return", "reason": "  "}, "$.reason"),
        ({"kind": "reject", "next": "close", "reason": ""}, "$.reason"),
        ({"kind": "reject"}, "$.next"),
        ({"kind": "reject", "next": "delete"}, "$.next"),
        ({"kind": "approve", "next": "close"}, "$.next"),
    ],
)
def test_a_decision_that_is_not_whole_is_refused_with_its_place_and_nothing_is_stored(
    said: dict[str, Any], path: str, engine: Engine
) -> None:
    story, approver = engine.proposed(), engine.approver
    before = fingerprint()
    with pytest.raises(BadInput) as refusal:
        story.decide(said.get("kind", "approve"), person=approver, **{k: v for k, v in said.items() if k != "kind"})
    assert refusal.value.params["path"] == path
    assert fingerprint() == before


def test_a_decision_on_another_digest_sends_nothing_and_says_what_differs(engine: Engine) -> None:
    story = engine.proposed()
    with pytest.raises(StaleSnapshot) as refusal:
        story.decide(seen_digest="0" * 64)
    assert refusal.value.params["differences"] == {"digest": {"then": "0" * 64, "now": story.proposal.digest}}
    assert story.state == "WAITING_APPROVAL"
    assert refused(story, "stale_snapshot")["differences"] == refusal.value.params["differences"]


@pytest.mark.parametrize("step", [-1, 1])
def test_a_decision_on_another_version_of_the_case_sends_nothing(step: int, engine: Engine) -> None:
    story = engine.proposed()
    version = story.case.version
    with pytest.raises(StaleSnapshot) as refusal:
        story.decide(seen_version=version + step)
    assert refusal.value.params["differences"] == {"version": {"then": version + step, "now": version}}
    refused(story, "stale_snapshot")


def test_a_decision_on_a_proposal_that_another_one_replaced_sends_nothing(engine: Engine) -> None:
    story = engine.proposed()
    old = story.proposal
    supply_data(case_id=story.id, data={"claim": "Ещё"}, actor=SYSTEM)
    story.run()
    with pytest.raises(StaleSnapshot) as refusal:
        story.decide(proposal=old)
    assert refusal.value.params["differences"] == {"proposal": {"then": old.public_id, "now": story.proposal.public_id}}
    assert decisions(story) == []
    story.decide()
    assert story.state == "EXECUTING"


def test_a_minute_past_the_end_of_validity_nothing_can_be_decided_and_a_person_is_asked(engine: Engine) -> None:
    story = engine.proposed()
    story.age_proposal(timedelta(hours=24, minutes=1))
    with pytest.raises(ProposalExpired):
        story.decide()
    refused(story, "proposal_expired")
    assert story.state == "WAITING_APPROVAL"
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "decision_expired")
    with pytest.raises(NotDecidable):
        story.decide()
    assert (story.writes(), decisions(story)) == ([], [])


def test_an_expiry_that_comes_after_the_decision_moves_nothing(engine: Engine) -> None:
    story = engine.approved()
    story.run_later("expire")
    assert story.state == "COMPLETED"
    assert story.task("expire").status == "obsolete"


def test_approval_and_expiry_at_the_same_instant_have_one_winner(engine: Engine) -> None:
    approver = engine.approver
    for _ in range(3):
        story = engine.proposed()
        story.make_due("expire")  # the clock says so, the row's validity is still open
        version, digest = story.case.version, story.proposal.digest
        approval, _expiry = together(
            lambda s=story, v=version, d=digest: s.decide(person=approver, seen_version=v, seen_digest=d),
            lambda s=story: s.run("expire"),
        )
        won = isinstance(approval, Decided)
        assert story.history().count("case.quorum_reached") == won
        assert story.history().count("case.expired") == (not won)
        assert len(decisions(story)) == won


def test_who_opened_the_case_does_not_decide_on_it(engine: Engine) -> None:
    opener = engine.person("second")
    grant_role(person=opener, organisation=engine.organisation, role=Role.OPERATOR, by=SYSTEM)
    story = engine.proposed(actor=actor_of_person(opener))
    with pytest.raises(CauserMayNotDecide):
        story.decide(person=opener)
    refused(story, "causer_may_not_decide")
    story.decide(person=engine.approver)
    assert story.state == "EXECUTING"


def test_who_supplied_data_does_not_decide_on_it(engine: Engine) -> None:
    helper = engine.person("second")
    story = engine.proposed()
    supply_data(case_id=story.id, data={"claim": "Ещё"}, actor=actor_of_person(helper))
    story.run()
    with pytest.raises(CauserMayNotDecide):
        story.decide(person=helper)


@pytest.mark.parametrize("who", ["viewer", "operator", "nobody"])
def test_without_the_right_to_decide_nothing_is_decided(who: str, engine: Engine) -> None:
    story = engine.proposed()
    with pytest.raises(NotPermitted):
        story.decide(person=engine.person(who))
    refused(story, "not_permitted")
    assert decisions(story) == []


def test_a_right_in_another_organisation_a_lost_one_and_a_superuser_decide_nothing(engine: Engine) -> None:
    story = engine.proposed()
    stranger, former, root = engine.person("stranger"), engine.person("second"), engine.person("root")
    globex = create_organisation(slug="globex", name="Globex")
    grant_role(person=stranger, organisation=globex, role=Role.APPROVER, by=SYSTEM)
    revoke_role(person=former, organisation=engine.organisation, role=Role.APPROVER, by=SYSTEM)
    root.is_superuser = root.is_staff = True
    root.save()
    for person in (stranger, former, root):
        with pytest.raises(NotPermitted):
            story.decide(person=person)
    assert story.history().count("decision.refused") == 3
    assert (decisions(story), story.state) == ([], "WAITING_APPROVAL")


def test_a_fact_that_was_read_anew_while_the_version_stayed_refuses_the_decision_and_shows_both(engine: Engine) -> None:
    story = engine.proposed()
    version = story.case.version
    story.change("payments", status="refunded")
    publish(story.row, [NewTask("observe")])
    story.run()
    assert (story.case.version, story.state) == (version, "WAITING_APPROVAL")
    with pytest.raises(StaleSnapshot) as refusal:
        story.decide()
    assert refusal.value.params["differences"] == {"payment.status": {"then": "confirmed", "now": "refunded"}}
    refused(story, "stale_snapshot")
    story.change("payments", status="confirmed")
    publish(story.row, [NewTask("observe")])
    story.run()
    story.decide()
    assert story.state == "EXECUTING"


def test_of_two_approvals_at_the_same_instant_one_decides_and_the_other_is_told_by_whom(engine: Engine) -> None:
    story = engine.proposed()
    people, held = [engine.approver, engine.person("second")], threading.Event()

    def hold() -> None:
        """Nobody is first until both are under way."""
        with transaction.atomic():
            lock_case(story.id)
            held.set()
            while how_many_wait() < len(people):
                pass

    def decide(person: Person) -> Decided:
        assert held.wait(30)
        return story.decide(person=person)

    _, *results = together(hold, *(partial(decide, person) for person in people))
    winners = [result for result in results if isinstance(result, Decided)]
    losers = [result for result in results if isinstance(result, AlreadyDecided)]
    assert (len(winners), len(losers)) == (1, 1)
    winner = winners[0].decision.person
    assert losers[0].params["person"] == winner.get_full_name()
    assert losers[0].params["at"] == winners[0].decision.at.isoformat()
    assert decisions(story) == [(winner.username, "approve", True)]
    story.run()
    assert story.state == "COMPLETED"
    assert len(story.activations()) == 1


def how_many_wait() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        number: int = cursor.fetchone()[0]
        return number


def test_of_an_approval_and_a_rejection_at_the_same_instant_one_counts(engine: Engine) -> None:
    approver, second = engine.approver, engine.person("second")
    for _ in range(3):
        story = engine.proposed()
        version = story.case.version
        results = together(
            lambda s=story, v=version: s.decide(person=approver, seen_version=v),
            lambda s=story, v=version: s.decide("reject", person=second, seen_version=v, next="close"),
        )
        assert sorted(type(result).__name__ for result in results) == ["AlreadyDecided", "Decided"]
        assert len(decisions(story)) == 1
        story.run()
        approved = isinstance(results[0], Decided)
        assert story.state == ("COMPLETED" if approved else "CLOSED_NO_CHANGE")
        assert len(story.activations()) == approved


def test_below_the_quorum_nothing_moves_and_the_second_approver_decides(engine: Engine, test_processes: None) -> None:
    story = engine.proposed(process="two_approvers")
    version = story.case.version
    story.decide()
    story.run()
    assert (story.state, story.case.version, story.writes()) == ("WAITING_APPROVAL", version, [])
    assert story.told("decision.approved") | {"approvals": 1, "quorum": 2} == story.told("decision.approved")
    assert not story.decide().created  # one person counts once
    assert story.state == "WAITING_APPROVAL"
    story.decide(person=engine.person("second"))
    assert decisions(story) == [("approver", "approve", False), ("second", "approve", True)]
    story.run()
    assert story.state == "COMPLETED"


def test_one_approver_at_two_windows_is_no_quorum(engine: Engine, test_processes: None) -> None:
    story = engine.proposed(process="two_approvers")
    approver = engine.approver
    results = together(*[lambda: story.decide(person=approver)] * 4)
    assert sorted(result.created for result in results) == [False, False, False, True]
    assert story.state == "WAITING_APPROVAL"


def test_three_who_reach_the_quorum_at_the_same_instant_move_the_case_once(
    engine: Engine, test_processes: None
) -> None:
    story = engine.proposed(process="two_approvers")
    people = [engine.approver, engine.person("second"), engine.person("third")]
    results = together(*(lambda person=person: story.decide(person=person) for person in people))
    assert sorted(type(result).__name__ for result in results) == ["AlreadyDecided", "Decided", "Decided"]
    assert sorted(decisive for _, _, decisive in decisions(story)) == [False, True]
    story.run()
    assert story.state == "COMPLETED"
    assert len(story.activations()) == 1


def test_who_approved_below_the_quorum_may_still_return_it(engine: Engine, test_processes: None) -> None:
    story = engine.proposed(process="two_approvers")
    story.decide()
    story.decide("return")
    assert story.state == "CHECKING"
    assert decisions(story) == [("approver", "approve", False), ("approver", "return", True)]


def test_a_returned_proposal_is_checked_again_and_its_return_makes_nobody_a_causer(engine: Engine) -> None:
    story = engine.proposed()
    first = story.proposal
    story.decide("return")
    story.run()
    assert (story.state, story.proposal.number) == ("WAITING_APPROVAL", first.number + 1)
    assert story.proposal.causers == []
    first_action, second_action = (
        [action["id"] for action in _actions(proposal)] for proposal in (first, story.proposal)
    )
    assert set(first_action).isdisjoint(second_action)
    story.decide()
    story.run()
    assert len(story.activations()) == 1


def _actions(proposal: Any) -> list[dict[str, Any]]:
    actions: list[dict[str, Any]] = opened(proposal.snapshot)["actions"]
    return actions


def test_a_proposal_returned_three_times_goes_to_a_person(engine: Engine) -> None:
    story = engine.proposed()
    for _ in range(2):
        story.decide("return")
        story.run()
        assert story.state == "WAITING_APPROVAL"
    story.decide("return")
    assert story.standing == ("NEEDS_ATTENTION", "returned_too_often")
    assert story.case.returns == 3


def test_a_rejection_closes_the_case_or_hands_it_to_a_person(engine: Engine) -> None:
    closed, by_hand = engine.proposed(), engine.proposed()
    closed.decide("reject", next="close")
    by_hand.decide("reject", next="by_hand")
    assert (closed.state, closed.case.outcome) == ("CLOSED_NO_CHANGE", "no_change")
    assert by_hand.standing == ("NEEDS_ATTENTION", "rejected_by_hand")
    for story in (closed, by_hand):
        story.run_later()
        assert story.writes() == []
        with pytest.raises(AlreadyDecided):
            story.decide(person=engine.person("second"))


def test_an_approver_who_asks_for_data_gets_a_new_proposal_when_it_comes(engine: Engine) -> None:
    story = engine.proposed()
    story.decide("ask_data")
    assert story.standing == ("WAITING_DATA", "data_asked")
    until = story.case.wait_until
    assert until is not None and story.task("data_due").available_at == until
    supply_data(case_id=story.id, data={"claim": "Чек приложен"}, actor=SYSTEM)
    story.run()
    assert (story.state, story.proposal.number) == ("WAITING_APPROVAL", 2)


def test_data_that_an_approver_asked_for_and_that_never_comes_goes_to_a_person(engine: Engine) -> None:
    story = engine.proposed()
    story.decide("ask_data")
    story.run_later("data_due")
    assert story.standing == ("NEEDS_ATTENTION", "waited_too_long")
