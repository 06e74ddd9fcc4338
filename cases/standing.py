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

from .models import Case


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
        .values("process", "state")
        .annotate(number=Count("pk"), oldest=Min("state_since"))
    )
    found: dict[str, dict[str, Standing]] = {}
    for row in rows:
        found.setdefault(row["process"], {})[row["state"]] = Standing(row["number"], row["oldest"])
    return found


def count_by_state(principal: Principal, *, process: str, organisation: str = "") -> dict[str, Standing]:
    """State → the cases of a process in sight, with the public id of the oldest; two queries."""
    rows = _in_sight(principal, process=process, organisation=organisation)
    counted = list(rows.values("state").annotate(number=Count("pk"), since=Min("state_since")))
    # By state and moment, which an index has, instead of sorting every case to take the first of each state.
    firsts = reduce(or_, (Q(state=row["state"], state_since=row["since"]) for row in counted), Q(pk__in=[]))
    oldest = dict(rows.filter(firsts).order_by("-pk").values_list("state", "public_id"))
    return {row["state"]: Standing(row["number"], row["since"], oldest.get(row["state"], "")) for row in counted}


def _in_sight(principal: Principal, *, process: str = "", organisation: str = "") -> QuerySet[Case]:
    rows = access.visible(Case.objects.all(), principal, Right.SEE_CASES).order_by()
    narrowed = {"process": process, "organisation__slug": organisation}
    return rows.filter(**{name: value for name, value in narrowed.items() if value})
