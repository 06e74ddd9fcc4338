"""How many cases stand where, and which of them has stood there longest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import Count, Min, Q, QuerySet

from accounts import access
from accounts.principal import Principal
from caseflow.domain.roles import Right

from .counting import Narrowing, summed, with_ended
from .models import Case
from .models.ended import What


@dataclass(frozen=True, slots=True)
class Standing:
    """The cases of one state; `oldest` is since when the first of them is in it."""

    number: int
    oldest: datetime
    oldest_case: str = ""


def count_by_process(principal: Principal, *, organisation: str = "") -> dict[str, dict[str, Standing]]:
    """Process → state → its cases in sight; one query."""
    rows = (
        _in_sight(principal, organisation=organisation)
        .filter(closed_at=None)
        .values("process", "state")
        .annotate(number=Count("*"), oldest=Min("state_since"))
        .values_list("process", "state", "number", "oldest")
    )
    counted = summed(with_ended(rows, principal, What.CASE, Narrowing(organisation), "about", "state"))
    found: dict[str, dict[str, Standing]] = {}
    for (process, state), told in counted.items():
        found.setdefault(process, {})[state] = Standing(told.number, told.oldest)
    return found


def count_by_state(principal: Principal, *, process: str, organisation: str = "") -> dict[str, Standing]:
    """State → the cases of a process in sight, with the public id of the oldest; two queries."""
    rows = _in_sight(principal, process=process, organisation=organisation)
    still_open = (
        rows.filter(closed_at=None)
        .values("state")
        .annotate(number=Count("*"), oldest=Min("state_since"))
        .values_list("state", "number", "oldest")
    )
    counted = summed(with_ended(still_open, principal, What.CASE, Narrowing(organisation, process), "state"))
    # By state and moment, which an index has, instead of sorting every case to take the first of each state.
    firsts = reduce(or_, (Q(state=state, state_since=told.oldest) for state, told in counted.items()), Q(pk__in=[]))
    oldest = dict(rows.filter(firsts).order_by("-pk").values_list("state", "public_id"))
    return {state: Standing(told.number, told.oldest, oldest.get(state, "")) for state, told in counted.items()}


def _in_sight(principal: Principal, *, process: str = "", organisation: str = "") -> QuerySet[Case]:
    rows = access.visible(Case.objects.all(), principal, Right.SEE_CASES).order_by()
    narrowed = {"process": process, "organisation__slug": organisation}
    return rows.filter(**{name: value for name, value in narrowed.items() if value})
