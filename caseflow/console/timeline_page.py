"""The whole history of a case: events, tries and requests in one order, and only the failed or pending on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from actions.models import ExternalCall
from actions.selectors import Entry, timeline
from cases.models import Attempt, Case

from . import words
from .history import Detail, Happened, happened_line

#: Events that tell of something that did not go as it was meant.
FAILED_EVENTS = frozenset(
    {
        "action.unknown",
        "action.not_applied",
        "action.refused",
        "case.exhausted",
        "case.effect_refused",
        "case.effect_unknown",
        "case.effect_not_applied",
        "case.notices_unconfirmed",
        "case.facts_changed",
        "case.approval_lapsed",
        "case.partly_done",
        "case.expired",
        "case.waited_too_long",
        "access.refused",
        "decision.refused",
        "recovery.refused",
        "transition.refused",
        "settlement.late",
        "drift.found",
    }
)
FAILED_CALLS = frozenset({"refused", "not_applied", "unknown"})
FINE_ATTEMPTS = frozenset({"done", "given_back", "cancelled"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line. An event carries its own details; a try and a request have few."""

    type: str
    anchor: str
    title: str
    at: datetime
    since_previous: timedelta | None
    actor: str
    event: Happened | None
    details: Sequence[Detail]
    failed: bool
    pending: bool


#: What `?show=` may be, in the order of the tabs.
SHOWS: Mapping[str, tuple[Promise, Callable[[Line], bool]]] = {
    "": (gettext_lazy("All"), lambda line: True),
    "events": (gettext_lazy("Events"), lambda line: line.type == "event"),
    "attempts": (gettext_lazy("Attempts"), lambda line: line.type == "attempt"),
    "calls": (gettext_lazy("Requests"), lambda line: line.type == "call"),
    "failed": (gettext_lazy("Failed only"), lambda line: line.failed),
    "pending": (gettext_lazy("Pending only"), lambda line: line.pending),
}


@dataclass(frozen=True, slots=True)
class Tab:
    """One kind of lines, and how many there are."""

    name: str
    label: str
    number: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class TimelinePage:
    lines: Sequence[Line]
    tabs: Sequence[Tab]
    complete: bool
    total: int


def gather(case: Case, show: str) -> TimelinePage:
    """Three queries, however long the history is."""
    found = timeline(case.pk)
    lines: list[Line] = []
    before: datetime | None = None
    for entry in found.entries:
        lines.append(_line(entry, entry.at - before if before else None))
        before = entry.at
    chosen = show if show in SHOWS else ""
    tabs = [
        Tab(name, str(label), sum(fits(line) for line in lines), name == chosen)
        for name, (label, fits) in SHOWS.items()
    ]
    return TimelinePage([line for line in lines if SHOWS[chosen][1](line)], tabs, found.complete, len(lines))


def _line(entry: Entry, span: timedelta | None) -> Line:
    if entry.event is not None:
        event = happened_line(entry.event, span)
        failed = entry.event.kind in FAILED_EVENTS
        return Line("event", f"e-{event.number}", event.title, entry.at, span, event.actor, event, (), failed, False)
    if entry.attempt is not None:
        return _attempt(entry.attempt, span)
    if entry.call is None:
        raise ValueError("an entry is an event, an attempt or a call")
    return _call(entry.call, span)


def _attempt(attempt: Attempt, span: timedelta | None) -> Line:
    stage = attempt.task.stage
    said = {"step": str(words.STAGES.get(stage, stage)), "number": attempt.number}
    details = [
        Detail(gettext("Task"), str(attempt.task_id), "copy"),
        Detail(gettext("Result"), words.attempt_outcome(attempt.outcome) if attempt.ended_at else gettext("not ended")),
    ]
    if attempt.error:
        details.append(Detail(gettext("Error"), attempt.error))
    return Line(
        type="attempt",
        anchor=f"t-{attempt.pk}",
        title=gettext("%(step)s: attempt %(number)d") % said,
        at=attempt.begun_at,
        since_previous=span,
        actor=attempt.worker,
        event=None,
        details=details,
        failed=attempt.ended_at is not None and attempt.outcome not in FINE_ATTEMPTS,
        pending=attempt.ended_at is None,
    )


def _call(call: ExternalCall, span: timedelta | None) -> Line:
    answer = str(words.CALL_OUTCOMES.get(call.outcome, call.outcome)) if call.ended_at else gettext("not ended")
    details = [
        Detail(gettext("Action"), call.action.public_id, "action"),
        Detail(gettext("Request number"), call.call_id, "copy"),
        Detail(gettext("Answer"), answer),
    ]
    if call.code:
        details.append(Detail(gettext("Code"), call.code))
    return Line(
        type="call",
        anchor=f"c-{call.call_id}",
        title=str(words.CALL_KINDS.get(call.kind, call.kind)),
        at=call.begun_at,
        since_previous=span,
        actor=call.worker,
        event=None,
        details=details,
        failed=call.ended_at is not None and call.outcome in FAILED_CALLS,
        pending=call.ended_at is None,
    )
