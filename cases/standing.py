"""How many cases stand where, and which of them has stood there longest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, QuerySet

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
    first = rows.order_by("state", "state_since", "pk").distinct("state").values_list("state", "public_id")
    oldest = dict(first)
    counted = rows.values("state").annotate(number=Count("pk"), since=Min("state_since"))
    return {row["state"]: Standing(row["number"], row["since"], oldest.get(row["state"], "")) for row in counted}


def _in_sight(principal: Principal, *, process: str = "", organisation: str = "") -> QuerySet[Case]:
    rows = access.visible(Case.objects.all(), principal, Right.SEE_CASES).order_by()
    narrowed = {"process": process, "organisation__slug": organisation}
    return rows.filter(**{name: value for name, value in narrowed.items() if value})
