"""What protects the point of no return when nothing else would: each test fails when that one protection is taken out.

`make mutations` takes them out in turn.
"""

from __future__ import annotations

import threading

from django.db import connection, transaction

from accounts import access, gate
from accounts.principal import SYSTEM
from accounts.services import revoke_role
from actions.withdrawing import withdraw
from caseflow.domain.lifecycle import Event
from caseflow.domain.roles import Right, Role
from cases.advancing import advance_case
from tests.driving import Engine, hooks
from tests.steps import somebody_waits_for_us


def test_a_send_waits_for_a_withdrawal_that_is_being_stored_and_then_sends_nothing(engine: Engine) -> None:
    story = engine.approved()
    approver, proposal = engine.approver, story.proposal
    taking_back, sent = threading.Event(), threading.Event()
    waited: list[bool] = []

    def take_back() -> None:
        with transaction.atomic():
            withdraw(proposal=proposal, person=approver)
            taking_back.set()
            while not somebody_waits_for_us() and not sent.is_set():
                pass
            waited.append(not sent.is_set())
        connection.close()

    thread = threading.Thread(target=take_back)

    def begin_to_take_back() -> None:
        thread.start()
        assert taking_back.wait(10)

    hooks.at("after_read", begin_to_take_back)
    story.run()
    sent.set()
    thread.join(10)
    assert (story.writes(), waited) == ([], [True])
    assert (story.state, story.case.plan_begun) == ("WAITING_APPROVAL", False)


def test_a_role_is_not_taken_away_while_a_send_is_beginning(engine: Engine) -> None:
    """What a beginning send has read of rights stays true until its call is recorded."""
    approver, organisation = engine.approver, engine.organisation
    beginning, taken = threading.Event(), threading.Event()
    counted: list[bool] = []

    def begin() -> None:
        with transaction.atomic():
            gate.hold_shared()
            beginning.set()
            while not somebody_waits_for_us() and not taken.is_set():
                pass
            counted.append(access.persons_with_right(organisation.pk, Right.DECIDE).filter(pk=approver.pk).exists())
        connection.close()

    thread = threading.Thread(target=begin)
    thread.start()
    assert beginning.wait(10)
    assert revoke_role(person=approver, organisation=organisation, role=Role.APPROVER, by=SYSTEM)
    taken.set()
    thread.join(10)
    assert counted == [True]


def test_a_plan_changed_in_a_word_that_no_fact_rests_on_is_not_carried_out(engine: Engine) -> None:
    story = engine.approved()
    engine.rewrite(
        "approvals_proposal",
        "UPDATE approvals_proposal SET snapshot = convert_to(replace(convert_from(snapshot, 'UTF8'), 'restored',"
        " 'deleted'), 'UTF8') WHERE id = %s",
        [story.proposal.pk],
    )
    story.run()
    assert story.writes() == []
    assert story.standing == ("NEEDS_ATTENTION", "internal_error")


def test_a_case_closed_between_the_re_read_and_the_send_sends_nothing(engine: Engine) -> None:
    story = engine.approved()

    def close() -> None:
        with transaction.atomic():
            advance_case(story.row, Event.CLOSED_BY_PERSON, actor=SYSTEM)

    hooks.at("after_read", close)
    story.run()
    assert (story.state, story.writes(), story.case.plan_begun) == ("CLOSED_NO_CHANGE", [], False)


def test_a_key_whose_life_ends_between_the_look_up_and_the_send_is_not_sent_again(engine: Engine) -> None:
    story = engine.approved()
    story.fault("drop_before")
    story.run()

    def sleep_for_a_day() -> None:
        engine.owner.execute("UPDATE actions_action SET first_sent_at = first_sent_at - interval '23 hours'")

    hooks.at("after_lookup", sleep_for_a_day)
    story.run_later()
    assert (story.effect.status, len(story.writes())) == ("UNKNOWN", 1)
