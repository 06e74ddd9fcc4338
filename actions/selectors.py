"""Reading actions and their calls for both faces, and the history of a case: events, tries and calls as one list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db.models import Prefetch, QuerySet

from accounts import access
from accounts.principal import Principal
from caseflow.domain.roles import Right
from cases.models import Attempt
from cases.selectors import MAX_ENTRIES, Happened, list_attempts, list_events

from .models import Action, ExternalCall

_CALLS = Prefetch("calls", ExternalCall.objects.order_by("id"))


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a case's history: exactly one of `event`, `attempt`, `call`, as `type` says."""

    type: Literal["event", "attempt", "call"]
    at: datetime
    event: Happened | None = None
    attempt: Attempt | None = None
    call: ExternalCall | None = None

    @property
    def kind(self) -> str:
        """Of an event its kind, else `attempt.<stage>` or `call.<kind>`."""
        if self.event is not None:
            return self.event.kind
        return f"attempt.{self.attempt.task.stage}" if self.attempt else f"call.{self.call.kind if self.call else ''}"


@dataclass(frozen=True, slots=True)
class Timeline:
    """The history in order. `complete` is false where a case has more than MAX_ENTRIES rows of one kind."""

    entries: list[Entry]
    complete: bool


def list_actions(case_id: int) -> QuerySet[Action]:
    """The case's actions, oldest plan first, each with its calls; two queries."""
    return (
        Action.objects.filter(case_id=case_id)
        .select_related("case", "proposal", "undoes")
        .prefetch_related(_CALLS)
        .order_by("proposal_id", "position")
    )


def get_action(principal: Principal, public_id: str) -> Action:
    """One action in sight with its calls; two queries. Raises NotFound."""
    rows = Action.objects.select_related("case__organisation", "proposal", "undoes").prefetch_related(_CALLS)
    return access.get_visible(rows, public_id, principal, Right.SEE_CASES)


def list_calls(case_id: int, *, limit: int = MAX_ENTRIES) -> list[ExternalCall]:
    """The newest requests for the case's actions, each with its action, in their order; one query."""
    rows = ExternalCall.objects.filter(action__case_id=case_id).select_related("action").order_by("-id")[:limit]
    return list(reversed(rows))


def timeline(case_id: int) -> Timeline:
    """Events, tries and calls by their moments; three queries however long the history is."""
    events, attempts, calls = list_events(case_id), list_attempts(case_id), list_calls(case_id)
    entries = [Entry("event", event.at, event=event) for event in events]
    entries += [Entry("attempt", attempt.begun_at, attempt=attempt) for attempt in attempts]
    entries += [Entry("call", call.begun_at, call=call) for call in calls]
    # Stable: of two entries of one moment the event comes first, and events keep their numbers' order.
    entries.sort(key=lambda entry: entry.at)
    return Timeline(entries, complete=max(len(events), len(attempts), len(calls)) < MAX_ENTRIES)
