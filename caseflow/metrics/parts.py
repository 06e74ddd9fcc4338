"""The parts of a scrape: each asks one indicator or two, and says what it found as samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from audit.seals import newest_seal_at
from caseflow.sealing import folder_of_seals
from operations.indicators import advising, health, judging, lately, standing, times, upkeep, work
from operations.indicators.scope import PLATFORM, RECENT, Window
from operations.installing import why_held

from . import catalogue as the
from .catalogue import Metric

REASONS = ("elsewhere", "restored")  #: why an installation sends nothing


@dataclass(frozen=True, slots=True)
class Sample:
    metric: Metric
    labels: tuple[str, ...]
    value: float


Samples = Iterator[Sample]
#: Given the database's moment, from which ages are counted.
Part = Callable[[datetime], Samples]


def _states(now: datetime) -> Samples:
    for row in standing.count_states(PLATFORM):
        labels = (row.process, row.state)
        yield Sample(the.CASES_OPEN, labels, row.number)
        yield from _age(the.CASES_OPEN_AGE, labels, row.oldest, now)


def _stopped(now: datetime) -> Samples:
    for row in standing.count_stopped(PLATFORM):
        labels = (row.process, row.reason)
        yield Sample(the.ATTENTION, labels, row.number)
        yield from _age(the.ATTENTION_AGE, labels, row.oldest, now)


def _moves(now: datetime) -> Samples:
    for row in lately.count_moves(PLATFORM):
        yield Sample(the.MOVES, (row.process, row.move), row.number)


def _times(now: datetime) -> Samples:
    for row in times.measure_times(PLATFORM, RECENT):
        yield Sample(the.CLOSED, (row.process,), row.cases)
        for part, spread in row.parts.items():
            yield Sample(the.CLOSED_SECONDS, (row.process, part.value), spread.sum.total_seconds())
        yield Sample(the.CLOSED_QUANTILE, (row.process, "0.5"), row.total.median.total_seconds())
        yield Sample(the.CLOSED_QUANTILE, (row.process, "0.9"), row.total.p90.total_seconds())


def _queues(now: datetime) -> Samples:
    for row in work.measure_queues(PLATFORM):
        queue = (row.queue,)
        yield Sample(the.DUE, queue, row.due)
        yield Sample(the.LATER, queue, row.later)
        yield Sample(the.LEASED, queue, row.leased)
        yield from _age(the.DUE_AGE, queue, row.oldest_due, now)
        yield from _age(the.LEASED_AGE, queue, row.oldest_lease, now)


def _health(now: datetime) -> Samples:
    for row in health.measure_health(PLATFORM):
        queue = (row.queue,)
        yield Sample(the.SERVED, queue, row.has_worker)
        yield Sample(the.OVERDUE, queue, row.late)
        yield from _age(the.OVERDUE_AGE, queue, row.oldest, now)


def _given_up(now: datetime) -> Samples:
    for row in work.count_exhausted(PLATFORM, Window.DAY):
        yield Sample(the.GIVEN_UP, (row.stage, row.error), row.number)


def _attempts(now: datetime) -> Samples:
    for row in lately.count_attempts(PLATFORM):
        yield Sample(the.ATTEMPTS, (row.stage, row.outcome), row.number)


def _crews(now: datetime) -> Samples:
    for crew in upkeep.crews():
        for state, number in crew.states.items():
            yield Sample(the.PROCESSES, (crew.kind, state), number)
        yield from _age(the.BEAT_AGE, (crew.kind,), crew.beat_at, now)
        yield from _age(the.TURN_AGE, (crew.kind,), crew.turned_at, now)


def _calls(now: datetime) -> Samples:
    for row in lately.measure_calls(PLATFORM):
        labels = (row.system, row.kind, row.outcome)
        yield Sample(the.CALLS, labels, row.number)
        yield Sample(the.CALL_SECONDS, labels, row.seconds)
        yield Sample(the.CALL_SLOWEST, labels, row.slowest)


def _unknown(now: datetime) -> Samples:
    for row in standing.count_unknown(PLATFORM):
        labels = (row.system, row.kind)
        yield Sample(the.UNKNOWN, labels, row.number)
        yield from _age(the.UNKNOWN_AGE, labels, row.oldest, now)


def _drift(now: datetime) -> Samples:
    found = judging.count_drift(PLATFORM, Window.DAY)
    yield Sample(the.DRIFT, (), found.effects)
    yield Sample(the.DRIFT_NEWS, (), found.news)
    if found.last_run is not None:
        yield Sample(the.DRIFT_CHECKED, (), found.checked or 0)
        yield Sample(the.DRIFT_UNREADABLE, (), found.unreadable or 0)
    yield from _age(the.DRIFT_AGE, (), found.last_run, now)


def _notices(now: datetime) -> Samples:
    for row in upkeep.failed_notices(Window.DAY.length):
        yield Sample(the.NOTICES, (row.system, row.status), row.number)
    yield Sample(the.STAFF_UNSENT, (), upkeep.staff_mail_waiting().number)
    yield Sample(the.STAFF_FAILED, (), upkeep.staff_mail_failed(Window.DAY.length))


def _hooks(now: datetime) -> Samples:
    for channel, failing in upkeep.failing_hooks():
        yield Sample(the.HOOKS_FAILING, (channel,), failing.number)
        yield from _age(the.HOOKS_FAILING_AGE, (channel,), failing.oldest, now)
    for status, number in upkeep.count_deliveries():
        yield Sample(the.DELIVERIES, (status,), number)
    yield from _age(the.HOOKS_LAG, (), upkeep.read_for_hooks(), now)


def _models(now: datetime) -> Samples:
    for provider, since in upkeep.circuits():
        yield Sample(the.CIRCUIT, (provider,), since is not None)
        yield from _age(the.CIRCUIT_AGE, (provider,), since, now)
    for row in advising.measure_models(PLATFORM, RECENT):
        provider = row.proposer.partition(":")[2]
        results = {"accepted": row.accepted, "refused": row.refused, "missing": row.missing}
        results |= {"unserved": row.unserved, "unfinished": row.unfinished}
        for result, number in results.items():
            yield Sample(the.QUESTIONS, (row.process, provider, result), number)


def _decisions(now: datetime) -> Samples:
    for row in lately.count_decisions(PLATFORM):
        yield Sample(the.DECISIONS, (row.process, row.kind), row.number)


def _refused(now: datetime) -> Samples:
    found = judging.count_refused_approvals(PLATFORM, Window.DAY)
    # Always there, so that the first one is a step from nought and not a line that begins.
    for code, number in ({"stale_snapshot": 0} | dict(found.by_code)).items():
        yield Sample(the.REFUSED, (code,), number)
    yield Sample(the.OVERTAKEN, ("facts_changed",), found.facts_changed)
    yield Sample(the.OVERTAKEN, ("lapsed",), found.lapsed)


def _orders(now: datetime) -> Samples:
    yield from _waiting(the.ORDERS, the.ORDERS_AGE, upkeep.orders_waiting(), now)


def _pauses(now: datetime) -> Samples:
    for row in upkeep.count_pauses():
        yield Sample(the.PAUSES, (row.kind, row.key), row.number)


def _reports(now: datetime) -> Samples:
    yield from _waiting(the.LATE_REPORTS, the.LATE_REPORTS_AGE, upkeep.reports_late(), now)


def _record(now: datetime) -> Samples:
    yield from _waiting(the.UNNUMBERED, the.UNNUMBERED_AGE, upkeep.events_unnumbered(), now)
    folder = folder_of_seals()
    yield from _age(the.SEAL_AGE, (), newest_seal_at(folder) if folder else None, now)


def _installation(now: datetime) -> Samples:
    held = why_held()
    for why in REASONS:
        yield Sample(the.HELD, (why,), held == why)


def _rows(now: datetime) -> Samples:
    for table, rows in upkeep.estimate_rows():
        yield Sample(the.ROWS, (table,), rows)


PARTS: dict[str, Part] = {
    "states": _states, "attention": _stopped, "moves": _moves, "times": _times, "queues": _queues, "health": _health,
    "given_up": _given_up, "attempts": _attempts, "processes": _crews, "calls": _calls, "unknown": _unknown,
    "drift": _drift, "notices": _notices, "hooks": _hooks, "models": _models, "decisions": _decisions,
    "refused": _refused, "orders": _orders, "pauses": _pauses, "reports": _reports, "record": _record,
    "installation": _installation, "rows": _rows,
}  # fmt: skip


def _age(metric: Metric, labels: tuple[str, ...], since: datetime | None, now: datetime) -> Samples:
    """Nothing where there is nothing that could have an age."""
    if since is not None:
        yield Sample(metric, labels, max(0.0, (now - since).total_seconds()))


def _waiting(number: Metric, age: Metric, found: upkeep.Waiting, now: datetime) -> Samples:
    yield Sample(number, (), found.number)
    yield from _age(age, (), found.oldest, now)
