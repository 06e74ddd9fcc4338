"""The list of actions as an operator works it: narrowed, counted by status, the longest in doubt first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts import access
from accounts.principal import Principal
from caseflow.domain.roles import Right
from cases.counting import Narrowing, Told, summed, with_ended
from cases.models import Attempt
from cases.models.ended import What

from .models import HOLDING, Action, ExternalCall

#: Since when an action stands: it was sent, or planned.
_SINCE = Coalesce("first_sent_at", "created_at")


@dataclass(frozen=True, slots=True)
class ActionFilter:
    """What a list of actions is narrowed to; empty means any."""

    status: str = ""
    kind: str = ""
    system: str = ""
    organisation: str = ""


def list_in_sight(principal: Principal, wanted: ActionFilter | None = None) -> QuerySet[Action]:
    """Every action in sight that fits."""
    wanted = wanted or ActionFilter()
    rows = access.visible(Action.objects.all(), principal, Right.SEE_CASES)
    narrowed = {
        "status": wanted.status,
        "kind": wanted.kind,
        "system": wanted.system,
        "organisation__slug": wanted.organisation,
    }
    return rows.filter(**{name: value for name, value in narrowed.items() if value})


def list_for_desk(principal: Principal, wanted: ActionFilter) -> QuerySet[Action]:
    """The same with case, organisation, and the moments of the last call and since when it stands (`since`).

    What is in doubt longest first, else newest (`is_by_age`). One query for a page of them.
    """
    last = ExternalCall.objects.filter(action=OuterRef("pk")).order_by("-id")
    rows = list_in_sight(principal, wanted).select_related("case__organisation")
    rows = rows.annotate(last_call=Subquery(last.values("begun_at")[:1]), since=_SINCE)
    return rows.order_by("since", "pk") if is_by_age(wanted) else rows.order_by("-pk")


def is_by_age(wanted: ActionFilter) -> bool:
    """Whether the list is of what waits for an end."""
    return wanted.status in HOLDING


def count_by_status(principal: Principal, wanted: ActionFilter) -> dict[str, Told]:
    """Status → its actions, whatever status is wanted: since when the first was sent, or planned. One query."""
    rows = (
        list_in_sight(principal, replace(wanted, status=""))
        .filter(status__in=HOLDING)
        .values("status")
        .annotate(number=Count("*"), oldest=Min(_SINCE))
        .values_list("status", "number", "oldest")
    )
    narrowing = Narrowing(organisation=wanted.organisation, about=wanted.system, kind=wanted.kind)
    return summed(with_ended(rows, principal, What.ACTION, narrowing, "state"))


def list_tries(action: Action) -> QuerySet[Attempt, Any]:
    """Every try at a task about this action, with its task, oldest first; one query."""
    rows = Attempt.objects.filter(task__case_id=action.case_id, task__subject=action.public_id)
    return rows.select_related("task").order_by("begun_at", "id")
