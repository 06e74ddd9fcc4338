"""Indicators say what the rows say, of the organisations in sight, each with one query (requirements H1–H9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Organisation
from actions.models import Action, ActionKind
from approvals.models import Decision, Proposal
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.times import Part
from cases.models import Attempt, Case, Task
from cases.times import COLUMNS
from operations.indicators import judging, standing, times, work
from operations.indicators.scope import PLATFORM, Scope, Window, scope_of
from operations.models import DriftFinding
from tests.factories import make_organisation, make_person
from tests.generated.making import make_cases

NOW = (
    standing.count_states,
    standing.count_stopped,
    standing.count_unknown,
    standing.count_totals,
    work.measure_queues,
)
OVER_TIME = (
    work.measure_retries,
    work.count_retry_causes,
    work.count_exhausted,
    judging.count_refused_approvals,
    judging.count_drift,
    judging.measure_proposals,
    judging.count_broken_answers,
    times.measure_times,
    times.measure_trend,
)


@pytest.fixture
def cases(committing_database: None, as_owner: psycopg.Connection[Any]) -> Iterator[Callable[[int, int], None]]:
    def make(count: int, seed: int) -> None:
        make_cases(as_owner, count=count, seed=seed)

    yield make


def keys(scope: Scope) -> list[int]:
    if scope.organisations is None:
        return list(Organisation.objects.values_list("pk", flat=True))
    return list(scope.organisations)


def since(window: Window) -> datetime:
    return datetime.now(UTC) - window.length


def all_of(scope: Scope, window: Window) -> list[Any]:
    return [ask(scope) for ask in NOW] + [ask(scope, window) for ask in OVER_TIME]


def test_each_number_is_what_plain_rows_say(cases: Callable[[int, int], None]) -> None:
    cases(240, 1)
    window = Window.MONTH
    for scope in (PLATFORM, scope_of(make_person("viewer", Organisation.objects.get(slug="globex"), "viewer"))):
        mine = Case.objects.filter(organisation__in=keys(scope))
        standing_is_plain(scope, mine)
        work_is_plain(scope, window)
        judging_is_plain(scope, window, mine)
        times_are_plain(scope, window, mine)


def standing_is_plain(scope: Scope, mine: Any) -> None:
    rows = list(mine.filter(closed_at=None))
    assert rows
    assert {row.state: row.number for row in standing.count_states(scope)} == Counter(row.state for row in rows)
    everything = {row.state: row.number for row in standing.count_states(scope, closed=True)}
    assert everything == Counter(mine.values_list("state", flat=True))
    for row in standing.count_states(scope):
        assert row.oldest == min(case.state_since for case in rows if case.state == row.state)
    stopped = [case for case in rows if case.state == "NEEDS_ATTENTION"]
    assert {row.reason: row.number for row in standing.count_stopped(scope)} == Counter(case.reason for case in stopped)
    doubts = list(Action.objects.filter(case__in=mine, status="UNKNOWN"))
    assert sum(row.number for row in standing.count_unknown(scope)) == len(doubts)
    totals = standing.count_totals(scope)
    effects = [action for action in doubts if action.kind == ActionKind.EFFECT]
    assert (totals.open, totals.attention, totals.unknown) == (len(rows), len(stopped), len(effects))
    assert totals.oldest_attention == min(case.state_since for case in stopped)
    assert totals.oldest_unknown == min((action.first_sent_at for action in effects), default=None)


def work_is_plain(scope: Scope, window: Window) -> None:
    mine = Task.objects.filter(organisation_key__in=keys(scope))
    due = mine.filter(status="due", available_at__lte=datetime.now(UTC))
    assert sum(row.due for row in work.measure_queues(scope)) == due.count() > 0
    recent = list(mine.filter(created_at__gt=since(window)))
    tried = Counter(task.stage for task in recent if task.attempt > task.returned)
    again = Counter(task.stage for task in recent if task.attempt - task.returned > 1)
    found = work.measure_retries(scope, window)
    assert {row.stage: row.tried for row in found} == tried
    assert {row.stage: row.retried for row in found if row.retried} == again
    assert all(0 <= row.share <= 1 for row in found)
    causes = Attempt.objects.filter(task__in=mine, begun_at__gt=since(window), outcome__in=["fault", "worker_lost"])
    assert sum(row.attempts for row in work.count_retry_causes(scope, window)) == causes.count()
    given_up = mine.filter(status="failed", ended_at__gt=since(window))
    assert sum(row.number for row in work.count_exhausted(scope, window)) == given_up.count()


def judging_is_plain(scope: Scope, window: Window, mine: Any) -> None:
    events = AuditEvent.objects.filter(organisation_id__in=keys(scope), at__gt=since(window))
    refused = Counter(facts_of(event.body)["facts"]["code"] for event in events.filter(kind="decision.refused"))
    found = judging.count_refused_approvals(scope, window)
    assert dict(found.by_code) == refused
    assert found.stale == refused["stale_snapshot"]
    assert found.facts_changed == events.filter(kind="case.facts_changed").count()
    drifted = DriftFinding.objects.filter(action__case__in=mine, at__gt=since(window))
    assert judging.count_drift(scope, window).effects == drifted.count()
    assert (judging.count_drift(scope, window).checked is None) == (scope != PLATFORM)
    made = Proposal.objects.filter(case__in=mine, needs_approval=True, at__gt=since(window))
    said = Counter(Decision.objects.filter(proposal__in=made).values_list("kind", flat=True))
    (row,) = judging.measure_proposals(scope, window)
    assert row.made == made.count()
    assert (row.approved, row.rejected, row.returned, row.data_asked, row.withdrawn) == tuple(
        said[kind] for kind in ("approve", "reject", "return", "ask_data", "withdraw")
    )
    assert row.undecided == made.exclude(decisions__decisive=True).count()
    broken = [event for event in events.filter(kind="case.person_needed") if "problem" in facts_of(event.body)["facts"]]
    assert sum(row.number for row in judging.count_broken_answers(scope, window)) == len(broken)


def times_are_plain(scope: Scope, window: Window, mine: Any) -> None:
    closed = list(mine.filter(closed_at__gt=since(window)))
    (row,) = times.measure_times(scope, window)
    assert row.cases == len(closed)
    lives = sorted(case.closed_at - case.created_at for case in closed)
    assert row.total.median == lives[-(-len(lives) // 2) - 1]
    assert row.total.p90 == lives[-(-len(lives) * 9 // 10) - 1]
    assert row.total.sum == sum(lives, timedelta())
    assert sum((row.parts[part].sum for part in Part), timedelta()) == row.total.sum
    for part, column in COLUMNS.items():
        assert row.parts[part].sum // timedelta(microseconds=1) == sum(getattr(case, column) for case in closed)
    assert sum(row.share(part) for part in Part) == pytest.approx(1)
    points = times.measure_trend(scope, window)
    assert len(points) == 30
    assert all(later.begun - point.begun == window.step for point, later in pairwise(points))
    for point in points:
        over = point.begun + window.step
        here = [case for case in closed if point.begun <= case.closed_at < over]
        assert point.opened == mine.filter(created_at__gte=point.begun, created_at__lt=over).count()
        assert point.completed == sum(case.state == "COMPLETED" for case in here)
        assert point.completed + point.closed_without_change == len(here)
        assert (point.median is None) == (not here)


def test_the_scopes_of_all_organisations_add_up_to_the_platform(cases: Callable[[int, int], None]) -> None:
    cases(150, 1)
    each = [Scope((key,)) for key in keys(PLATFORM)]
    assert len(each) == 3
    assert sum(standing.count_totals(scope).open for scope in each) == standing.count_totals(PLATFORM).open
    for ask in (work.measure_retries, work.count_retry_causes):
        whole = sum(getattr(row, "tried", 0) or row.attempts for row in ask(PLATFORM, Window.MONTH))
        assert sum(getattr(row, "tried", 0) or row.attempts for s in each for row in ask(s, Window.MONTH)) == whole


def test_who_sees_no_case_sees_no_number(cases: Callable[[int, int], None]) -> None:
    cases(60, 1)
    nobody = scope_of(make_person("nobody"))
    assert nobody.organisations == ()
    other = scope_of(make_person("other", make_organisation("other"), "viewer"))
    for scope in (nobody, other):
        assert standing.count_states(scope, closed=True) == standing.count_stopped(scope) == []
        assert standing.count_totals(scope).open == 0
        assert work.measure_queues(scope) == work.measure_retries(scope, Window.MONTH) == []
        assert times.measure_times(scope, Window.MONTH) == judging.measure_proposals(scope, Window.MONTH) == []
        assert judging.count_refused_approvals(scope, Window.MONTH).by_code == {}
        assert judging.count_drift(scope, Window.MONTH).effects == 0
        assert sum(point.opened for point in times.measure_trend(scope, Window.MONTH)) == 0


def test_each_indicator_is_one_query_however_many_rows_there_are(cases: Callable[[int, int], None]) -> None:
    viewer = make_person("viewer", make_organisation("acme"), "viewer")
    counted = []
    for count, seed in ((60, 1), (120, 2)):
        cases(count, seed)
        with CaptureQueriesContext(connection) as queries:
            scope = scope_of(viewer)
        assert len(queries) == 1
        for window in Window:
            with CaptureQueriesContext(connection) as queries:
                all_of(scope, window)
            counted.append(len(queries))
    assert counted == [len(NOW) + len(OVER_TIME)] * len(counted)


def test_a_narrowed_scope_stays_in_sight(cases: Callable[[int, int], None]) -> None:
    cases(6, 1)
    viewer = make_person("viewer", Organisation.objects.get(slug="globex"), "viewer")
    assert len(scope_of(viewer, "globex").organisations or ()) == 1
    assert scope_of(viewer, "acme").organisations == ()


@pytest.mark.parametrize(("window", "points"), [(Window.DAY, 24), (Window.WEEK, 28), (Window.MONTH, 30)])
def test_a_trend_has_no_gap_where_nothing_happened(database: None, window: Window, points: int) -> None:
    found = times.measure_trend(PLATFORM, window)
    assert len(found) == points
    assert {(point.opened, point.completed, point.median) for point in found} == {(0, 0, None)}
    assert found[-1].begun <= datetime.now(UTC) < found[-1].begun + window.step
