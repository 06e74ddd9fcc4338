"""An order for many cases: a frozen list, each case once, by the rights that hold at its turn; the numbers add up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role, revoke_role
from approvals.models import Decision
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.bulk import RATES, pace_of
from caseflow.domain.errors import BadInput, BulkNotPossible, NotFound, NotPermitted
from caseflow.domain.roles import Role
from cases.holding import find_hold
from cases.models import Case, Task
from cases.working import work_on
from operations import bulk as ordering
from operations.bulk import cancel_bulk, pause_bulk, preview_bulk, resume_bulk
from operations.bulk_running import carry_next
from operations.bulk_selectors import count_reasons, counts_of, get_bulk, is_stalled, list_bulks
from operations.models import Bulk, BulkItem, Recovery
from tests.driving import Engine, Killed, Story, together
from tests.operations import standings as at
from tests.operations.bulks import (
    at_place,
    cases_of,
    confirmed,
    die,
    numbers,
    previewed,
    results,
    run_once,
    stopped,
    the_task,
)
from tests.operations.standings import stand


def told(organisation_id: int, kind: str) -> list[dict[str, Any]]:
    rows = AuditEvent.objects.filter(organisation_id=organisation_id, case_id=None, kind=kind).order_by("id")
    return [facts_of(row.body)["facts"] for row in rows]


def ordered_times(story: Story) -> int:
    return story.history().count("case.observe_again")


def adds_up(bulk: Bulk) -> bool:
    counts = numbers(bulk)
    return bulk.total == sum(counts.values()) == BulkItem.objects.filter(bulk=bulk).count()


# The preview


def test_a_preview_says_which_cases_are_affected_and_why_the_others_are_not(engine: Engine, settings: Any) -> None:
    two = stopped(engine, 2)
    others = [stand(start, engine, settings) for start in (at.checking, at.unknown, at.approved, at.completed)]
    bulk = previewed(engine, *two, *others)
    assert (bulk.status, bulk.total) == ("preview", 6)
    assert results(bulk) == [
        ("planned", ""),
        ("planned", ""),
        ("skipped", "checking"),
        ("skipped", "in_doubt"),
        ("skipped", "not_stopped"),
        ("skipped", "closed"),
    ]
    assert {number for _, _, number in count_reasons(bulk)} == {1}
    assert adds_up(bulk)
    assert [ordered_times(story) for story in two] == [0, 0]
    assert not Task.objects.filter(stage="bulk").exists()


def test_a_look_up_is_ordered_only_where_a_result_is_unknown(engine: Engine, settings: Any) -> None:
    stories = [
        stand(start, engine, settings)
        for start in (at.unknown, at.sent_and_unanswered, at.rejected_to_hand, at.waiting_for_decision)
    ]
    bulk = previewed(engine, *stories, kind="reconcile")
    assert results(bulk) == [
        ("planned", ""),
        ("planned", ""),
        ("skipped", "nothing_in_doubt"),
        ("skipped", "nothing_in_doubt"),
    ]
    confirmed(bulk)
    run_once(engine, bulk)
    for story in stories[:2]:
        story.run_later()
        assert story.state == "COMPLETED"
        assert len(story.writes()) == 1
    assert numbers(bulk) == {"planned": 0, "done": 2, "failed": 0, "skipped": 2}


def test_data_is_asked_for_by_somebody_who_may_decide_and_nobody_decides_for_many(engine: Engine) -> None:
    first, second = engine.proposed(), engine.proposed()
    done = engine.open(subscription={"status": "active"})
    done.run()
    nobody = previewed(engine, first, second, kind="ask_data")
    assert {reason for _, reason in results(nobody)} == {"not_permitted"}
    grant_role(person=engine.approver, organisation=engine.organisation, role=Role.RECOVERER, by=SYSTEM)
    bulk = confirmed(previewed(engine, first, second, done, kind="ask_data", person="approver"))
    run_once(engine, bulk)
    assert results(bulk) == [("done", ""), ("done", ""), ("skipped", "closed")]
    assert [story.standing for story in (first, second)] == [("WAITING_DATA", "data_asked")] * 2
    assert list(Decision.objects.values_list("kind", flat=True)) == ["ask_data", "ask_data"]
    for kind in ("approve", "close", "repeat", "send_notice", "result_by_hand", ""):
        with pytest.raises(BadInput) as refused:
            previewed(engine, first, kind=kind)
        assert refused.value.code == "unknown_kind"


def test_cases_are_handed_over_to_somebody_who_may_work_on_them(engine: Engine, settings: Any) -> None:
    grant_role(person=engine.person("colleague"), organisation=engine.organisation, role=Role.OPERATOR, by=SYSTEM)
    stories = [*stopped(engine, 2), stand(at.completed, engine, settings)]
    operator, colleague = engine.person("operator"), engine.person("colleague")
    asked: dict[str, Any] = {"person": operator, "cases": cases_of(*stories), "wanted": {}}
    bulk = confirmed(preview_bulk(kind="hand_over", to=colleague, **asked))
    run_once(engine, bulk)
    assert results(bulk) == [("done", ""), ("done", ""), ("skipped", "closed")]
    assert [find_hold(story.id).person for story in stories[:2]] == [colleague, colleague]  # type: ignore[union-attr]
    useless = preview_bulk(kind="hand_over", to=engine.person("viewer"), **asked)
    assert {reason for _, reason in results(useless)} == {"not_theirs", "closed"}
    for wrong in ({"kind": "hand_over"}, {"kind": "observe_again", "to": colleague}):
        with pytest.raises(BadInput):
            preview_bulk(**asked, **wrong)


def test_a_list_of_nothing_and_a_list_of_too_many_are_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput) as refused:
        previewed(engine)
    assert refused.value.code == "empty"
    monkeypatch.setattr(ordering, "MAX_CASES", 1)
    with pytest.raises(BadInput) as refused:
        previewed(engine, *stopped(engine, 2))
    assert refused.value.code == "too_many"
    assert not Bulk.objects.exists()


# The list is frozen


def test_what_fits_the_filter_later_is_not_touched(engine: Engine) -> None:
    one = stopped(engine)[0]
    everything = Case.objects.filter(state="NEEDS_ATTENTION")
    bulk = preview_bulk(person=engine.person("operator"), kind="observe_again", cases=everything, wanted={})
    later = stopped(engine)[0]
    confirmed(bulk)
    run_once(engine, bulk)
    assert [ordered_times(story) for story in (one, later)] == [1, 0]
    assert numbers(bulk)["done"] == bulk.total == 1


def test_a_case_that_moved_on_since_the_preview_is_left_alone_though_it_stopped_again(engine: Engine) -> None:
    moved, stayed = stopped(engine, 2)
    bulk = previewed(engine, moved, stayed)
    moved.order("observe_again")
    moved.run()
    assert moved.standing == ("NEEDS_ATTENTION", "amount_differs")
    confirmed(bulk)
    run_once(engine, bulk)
    assert results(bulk) == [("skipped", "moved_on"), ("done", "")]
    assert [ordered_times(story) for story in (moved, stayed)] == [1, 1]
    assert "recovery.refused" in moved.history()


def test_the_database_itself_adds_no_case_to_a_list_and_writes_a_result_once(engine: Engine) -> None:
    one, other = stopped(engine, 2)
    bulk = previewed(engine, one)
    case = other.case
    late: dict[str, Any] = {"bulk": bulk, "case": case, "case_version": case.version, "case_state": case.state}
    with pytest.raises(DatabaseError, match="frozen"), transaction.atomic():
        BulkItem.objects.create(position=2, **late)
    with pytest.raises(DatabaseError), transaction.atomic():
        BulkItem.objects.create(position=1, **late)
    confirmed(bulk)
    run_once(engine, bulk)
    assert numbers(bulk)["done"] == 1
    for change in ({"status": "planned", "ended_at": None, "recovery": None}, {"case": case}):
        with pytest.raises(DatabaseError), transaction.atomic():
            bulk.items.update(**change)
    with pytest.raises(DatabaseError), transaction.atomic():
        Bulk.objects.filter(pk=bulk.pk).update(reason="other")


# The confirmation


def test_a_bulk_starts_with_the_count_a_reason_and_a_rate_and_only_once(engine: Engine) -> None:
    bulk = previewed(engine, *stopped(engine, 2))
    for wrong in ({"count": 3}, {"count": "2"}, {"count": True}, {"reason": " "}, {"reason": "x" * 501}, {"rate": 7}):
        with pytest.raises(BadInput):
            confirmed(bulk, **wrong)
    assert not Task.objects.filter(stage="bulk").exists()
    with pytest.raises(BulkNotPossible) as refused:
        confirmed(bulk, person=engine.person("recoverer"))
    assert refused.value.params == {"reason": "another_person"}
    confirmed(bulk)
    with pytest.raises(BulkNotPossible) as refused:
        confirmed(bulk)
    assert refused.value.params == {"reason": "running"}
    assert Task.objects.filter(stage="bulk").count() == 1
    assert [one["cases"] for one in told(engine.organisation.pk, "bulk.ordered")] == [2]


def test_an_old_preview_and_one_that_affects_nothing_start_nothing(engine: Engine, settings: Any) -> None:
    empty = previewed(engine, stand(at.completed, engine, settings))
    with pytest.raises(BulkNotPossible) as refused:
        confirmed(empty)
    assert refused.value.params == {"reason": "nothing_planned"}
    old = previewed(engine, *stopped(engine))
    engine.rewrite(
        "operations_bulk",
        "UPDATE operations_bulk SET made_at = made_at - %s WHERE id = %s",
        [timedelta(hours=2), old.pk],
    )
    with pytest.raises(BulkNotPossible) as refused:
        confirmed(old)
    assert refused.value.params == {"reason": "preview_too_old"}


# Rights


def test_who_orders_no_recovery_previews_nothing_and_is_on_record(engine: Engine) -> None:
    story = stopped(engine)[0]
    for name in ("viewer", "approver"):
        with pytest.raises(NotPermitted):
            previewed(engine, story, person=name)
    assert not Bulk.objects.exists()
    assert [one["asked"] for one in told(engine.organisation.pk, "access.refused")] == ["bulk", "bulk"]


def test_only_cases_in_sight_come_into_a_list_and_only_where_they_may_be_ordered(engine: Engine) -> None:
    mine = stopped(engine)[0]
    seen, hidden = (create_organisation(slug=slug, name=slug.title()) for slug in ("globex", "initech"))
    operator = engine.person("operator")
    grant_role(person=operator, organisation=seen, role=Role.VIEWER, by=SYSTEM)
    for name in engine.DECIDERS:
        for organisation in (seen, hidden):
            grant_role(person=engine.person(name), organisation=organisation, role=Role.APPROVER, by=SYSTEM)
    theirs, strange = (stopped(engine, organisation=organisation)[0] for organisation in (seen, hidden))
    bulk = previewed(engine, mine, theirs, strange)
    assert results(bulk) == [("planned", ""), ("skipped", "not_permitted")]
    assert not bulk.items.filter(case_id=strange.id).exists()
    confirmed(bulk)
    run_once(engine, bulk)
    assert told(seen.pk, "bulk.ended") == [
        {"bulk": bulk.public_id, "order": "observe_again", "planned": 0, "done": 0, "failed": 0, "skipped": 1}
    ]
    assert told(hidden.pk, "bulk.ended") == []
    for name in ("recoverer", "viewer"):
        with pytest.raises(NotFound):
            get_bulk(engine.person(name), bulk.public_id)
    assert [row.public_id for row in list_bulks(operator)] == [bulk.public_id]


def test_a_right_that_is_lost_on_the_way_stops_every_case_after_it(engine: Engine) -> None:
    stories = stopped(engine, 3)
    bulk = confirmed(previewed(engine, *stories))
    operator = bulk.ordered_by

    def dismissed() -> None:
        revoke_role(person=operator, organisation=engine.organisation, role=Role.OPERATOR, by=SYSTEM)

    with at_place("bulk.item_committed", "item-1", do=dismissed):
        run_once(engine, bulk)
    assert results(bulk) == [("done", ""), ("failed", "not_permitted"), ("failed", "not_permitted")]
    assert [ordered_times(story) for story in stories] == [1, 0, 0]
    assert all("recovery.refused" in story.history() for story in stories[1:])
    assert Bulk.objects.get(pk=bulk.pk).status == "ended"


# Carried out


def test_every_case_keeps_its_own_event_and_the_bulk_is_on_record(engine: Engine) -> None:
    stories = stopped(engine, 3)
    bulk = confirmed(previewed(engine, *stories))
    assert told(engine.organisation.pk, "bulk.ordered")[0] | {"rate": 600} == {
        "bulk": bulk.public_id, "order": "observe_again", "cases": 3, "rate": 600,
    }  # fmt: skip
    run_once(engine, bulk)
    row = Bulk.objects.get(pk=bulk.pk)
    assert (row.status, the_task(bulk).status) == ("ended", "done")
    for story, item in zip(stories, bulk.items.order_by("position"), strict=True):
        facts = story.told("case.observe_again")
        assert item.recovery is not None
        assert (facts["bulk"], facts["recovery"]) == (bulk.public_id, item.recovery.public_id)
        assert item.recovery.asked_by == bulk.ordered_by
        story.run()
        assert story.standing == ("NEEDS_ATTENTION", "amount_differs")
    assert told(engine.organisation.pk, "bulk.ended")[0]["done"] == 3
    assert counts_of(get_bulk(bulk.ordered_by, bulk.public_id)).settled == bulk.total == 3


@pytest.mark.parametrize("place", ["bulk.item_committed", "bulk.before_commit"])
def test_a_bulk_killed_between_its_cases_goes_on_and_does_nothing_twice(engine: Engine, place: str) -> None:
    stories = stopped(engine, 5)
    bulk = confirmed(previewed(engine, *stories))
    with at_place(place, "item-3", do=die), pytest.raises(Killed):
        run_once(engine, bulk)
    done = 3 if place == "bulk.item_committed" else 2
    assert numbers(bulk) == {"planned": 5 - done, "done": done, "failed": 0, "skipped": 0}
    assert adds_up(bulk)
    assert [ordered_times(story) for story in stories] == [1] * done + [0] * (5 - done)
    run_once(engine, bulk)  # too early for the pace of the bulk: it waits
    run_once_later(engine, bulk)
    assert numbers(bulk) == {"planned": 0, "done": 5, "failed": 0, "skipped": 0}
    assert [ordered_times(story) for story in stories] == [1] * 5
    assert Recovery.objects.count() == 5
    assert Bulk.objects.get(pk=bulk.pk).status == "ended"


def run_once_later(engine: Engine, bulk: Bulk) -> None:
    """After the break of the pace."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("operations.bulk_running._too_early", lambda bulk, every: timedelta(0))
        run_once(engine, bulk)


def test_two_workers_at_the_same_list_give_every_case_one_turn(engine: Engine) -> None:
    stories = stopped(engine, 6)
    bulk = confirmed(previewed(engine, *stories))

    def work() -> int:
        return sum(1 for _ in iter(lambda: carry_next(bulk), False))

    counts = together(work, work)
    assert sum(counts) == 6, counts
    assert [ordered_times(story) for story in stories] == [1] * 6
    assert numbers(bulk)["done"] == 6


def test_a_paused_bulk_rests_and_goes_on_where_it_was(engine: Engine) -> None:
    stories = stopped(engine, 3)
    operator, recoverer = engine.person("operator"), engine.person("recoverer")
    bulk = confirmed(previewed(engine, *stories))
    with at_place("bulk.item_committed", "item-1", do=lambda: pause_bulk(bulk=bulk, person=recoverer) and None):
        run_once(engine, bulk)
    assert numbers(bulk) == {"planned": 2, "done": 1, "failed": 0, "skipped": 0}
    assert the_task(bulk).status == "done"
    with pytest.raises(BulkNotPossible):
        pause_bulk(bulk=bulk, person=operator)
    resume_bulk(bulk=bulk, person=operator)
    run_once_later(engine, bulk)
    assert numbers(bulk)["done"] == 3
    kinds = [kind for kind in ("bulk.paused", "bulk.resumed", "bulk.ended") if told(engine.organisation.pk, kind)]
    assert kinds == ["bulk.paused", "bulk.resumed", "bulk.ended"]


def test_cancelling_skips_the_rest_and_keeps_what_is_done(engine: Engine) -> None:
    stories = stopped(engine, 3)
    operator = engine.person("operator")
    bulk = confirmed(previewed(engine, *stories))
    with at_place("bulk.item_committed", "item-1", do=lambda: cancel_bulk(bulk=bulk, person=operator) and None):
        run_once(engine, bulk)
    assert results(bulk) == [("done", ""), ("skipped", "cancelled"), ("skipped", "cancelled")]
    assert adds_up(bulk)
    assert [ordered_times(story) for story in stories] == [1, 0, 0]
    for again in (resume_bulk, pause_bulk, cancel_bulk):
        with pytest.raises(BulkNotPossible):
            again(bulk=bulk, person=operator)


def test_pausing_and_cancelling_need_the_right_and_a_preview_is_dropped_by_who_made_it(engine: Engine) -> None:
    bulk = confirmed(previewed(engine, *stopped(engine)))
    for act in (pause_bulk, cancel_bulk, resume_bulk):
        with pytest.raises(NotPermitted):
            act(bulk=bulk, person=engine.person("viewer"))
    assert len(told(engine.organisation.pk, "access.refused")) == 3
    dropped = previewed(engine, *stopped(engine))
    cancel_bulk(bulk=dropped, person=dropped.ordered_by)
    assert numbers(dropped)["skipped"] == 1
    with pytest.raises(BulkNotPossible):
        confirmed(dropped, count=1)


def test_a_bulk_keeps_its_pace_also_under_another_worker(engine: Engine) -> None:
    bulk = confirmed(previewed(engine, *stopped(engine, 3)), rate=10)
    run_once(engine, bulk)
    assert numbers(bulk)["done"] == 1
    task = the_task(bulk)
    assert timedelta(seconds=5) < task.available_at - engine.now() <= timedelta(seconds=6)
    run_once(engine, bulk)  # rung too early, by whomever
    assert numbers(bulk)["done"] == 1
    assert the_task(bulk).available_at > engine.now()
    for rate in RATES:
        pace = pace_of(rate)
        assert pace.cases * timedelta(minutes=1) / pace.every == pytest.approx(rate)


def test_a_bulk_whose_tasks_gave_up_is_told_and_goes_on_by_order(
    engine: Engine, as_owner: psycopg.Connection[Any]
) -> None:
    bulk = confirmed(previewed(engine, *stopped(engine, 2)))
    assert not is_stalled(bulk)
    as_owner.execute("UPDATE cases_task SET lost = 100 WHERE id = %s", [the_task(bulk).pk])
    work_on(the_task(bulk).pk)
    assert the_task(bulk).status == "failed"
    assert is_stalled(bulk)
    resume_bulk(bulk=bulk, person=bulk.ordered_by)
    assert not is_stalled(bulk)
    run_once(engine, bulk)
    assert numbers(bulk)["done"] == 2


def test_a_case_that_cannot_be_ordered_fails_alone_and_not_the_list(engine: Engine) -> None:
    stories = stopped(engine, 3)
    bulk = confirmed(previewed(engine, *stories))
    engine.owner.execute("DELETE FROM cases_casekey WHERE case_id = %s", [stories[1].id])
    run_once(engine, bulk)
    assert [status for status, _ in results(bulk)] == ["done", "failed", "done"]
    assert adds_up(bulk)


def test_the_preview_costs_the_same_for_few_and_for_many(engine: Engine) -> None:
    few, many = stopped(engine, 1), stopped(engine, 4)
    person = engine.person("operator")
    for kind in ("observe_again", "reconcile", "ask_data"):
        counts = []
        for stories in (few, many):
            with CaptureQueriesContext(connection) as seen:
                preview_bulk(person=person, kind=kind, cases=cases_of(*stories), wanted={})
            counts.append(len(seen))
        assert counts[0] == counts[1], kind
