"""Orders of people against each other, the reconciler and the sender: one wins, the other is told what happened."""

from __future__ import annotations

from typing import Any

import pytest

from cases.working import work_on
from operations.authorising import authorise_recovery, take_back_recovery
from operations.models import Recovery
from operations.ordering import order_recovery
from tests.driving import Engine
from tests.operations import standings as at
from tests.operations.standings import stand
from tests.races.meeting import meet, promises_hold

ORDERS = ["together", "first", "second"]


@pytest.mark.parametrize("order", ORDERS)
def test_the_second_signature_against_an_order_to_ask_the_service(order: str, engine: Engine, settings: Any) -> None:
    """failures.md §6.10: what the reconciler finds afterwards is never written over by hand."""
    story = stand(at.unknown, engine, settings)
    recovery = story.order("result_by_hand").recovery
    version, approver, recoverer = story.case.version, engine.approver, engine.person("recoverer")

    result = meet(
        order,
        engine,
        story.id,
        lambda: authorise_recovery(recovery=recovery, person=approver, seen_version=version, action_status="UNKNOWN"),
        lambda: order_recovery(
            case_id=story.id, kind="reconcile", person=recoverer, seen_version=version, reason="Спросить"
        ),
    )

    won = {"first": [("done", "version_moved")], "second": [("version_moved", "done")]}
    assert result in won.get(order, [("done", "version_moved"), ("version_moved", "done")])
    by_hand = result[0] == "done"
    assert story.history().count("recovery.refused") == 1
    recovery.refresh_from_db()
    assert recovery.status == ("done" if by_hand else "refused")
    story.run_later()
    assert (story.state, story.effect.confirmed_by) == ("COMPLETED", "hand" if by_hand else "lookup")
    assert len(story.activations()) == 1
    promises_hold(engine)


@pytest.mark.parametrize("order", ORDERS)
def test_of_two_second_signatures_one_counts(order: str, engine: Engine, settings: Any) -> None:
    story = stand(at.unknown, engine, settings)
    recovery = story.order("result_by_hand").recovery
    seen = {"recovery": recovery, "seen_version": story.case.version, "action_status": "UNKNOWN"}
    people = [engine.approver, engine.person("second")]

    result = meet(
        order, engine, story.id, *(lambda person=person: authorise_recovery(person=person, **seen) for person in people)
    )

    assert sorted(result) == ["done", "recovery_ended"]
    assert story.history().count("case.result_by_hand") == 1
    promises_hold(engine)


@pytest.mark.parametrize("order", ORDERS)
def test_a_signature_against_taking_the_order_back(order: str, engine: Engine, settings: Any) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    recovery = story.order("finish_by_hand").recovery
    version, approver, operator = story.case.version, engine.approver, engine.person("operator")

    result = meet(
        order,
        engine,
        story.id,
        lambda: authorise_recovery(recovery=recovery, person=approver, seen_version=version),
        lambda: take_back_recovery(recovery=recovery, person=operator),
    )

    assert sorted(result) == ["done", "recovery_ended"]
    assert story.state == ("COMPLETED" if result[0] == "done" else "NEEDS_ATTENTION")
    assert Recovery.objects.get().status == ("done" if result[0] == "done" else "withdrawn")
    promises_hold(engine)


@pytest.mark.parametrize("order", ORDERS)
def test_closing_against_the_point_of_no_return(order: str, engine: Engine, settings: Any) -> None:
    """Closed first, nothing is sent; sent first, it cannot be closed any more."""
    story = stand(at.approved, engine, settings)
    version, operator, task = story.case.version, engine.person("operator"), story.task("execute").pk

    result = meet(
        order,
        engine,
        story.id,
        lambda: order_recovery(case_id=story.id, kind="close", person=operator, seen_version=version, reason="Дубль"),
        lambda: work_on(task),
    )

    story.run_later()
    closed = result[0] == "done"
    assert result[1] == "done"
    assert result[0] in ("done", "forbidden_transition", "version_moved")
    assert story.state == ("CLOSED_NO_CHANGE" if closed else "COMPLETED")
    assert len(story.writes()) == len(story.activations()) == (0 if closed else 1)
    promises_hold(engine)


@pytest.mark.parametrize("order", ORDERS)
def test_two_orders_for_one_version(order: str, engine: Engine, settings: Any) -> None:
    story = stand(at.refused, engine, settings)
    version, operator, recoverer = story.case.version, engine.person("operator"), engine.person("recoverer")
    about = {"case_id": story.id, "seen_version": version, "reason": "Решили"}

    result = meet(
        order,
        engine,
        story.id,
        lambda: order_recovery(kind="observe_again", person=operator, **about),
        lambda: order_recovery(kind="close", person=recoverer, **about),
    )

    assert sorted(result) == ["done", "version_moved"]
    assert story.case.version == version + 1
    assert Recovery.objects.count() == 1
    promises_hold(engine)
