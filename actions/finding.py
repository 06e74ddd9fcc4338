"""Finding an action by any id of it: its own, its key, the service's own number, or the number of a request."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from accounts import access
from accounts.principal import Principal
from caseflow.domain.roles import Right

from .models import Action, ExternalCall


def find_actions(principal: Principal, name: str) -> QuerySet[Action]:
    """Actions in sight that have exactly this id, with case and organisation; one query."""
    own = Action.objects.filter(Q(public_id=name.upper()) | Q(key=name) | Q(external_id=name)).values("pk")
    called = ExternalCall.objects.filter(call_id=name).values("action")
    rows = access.visible(Action.objects.select_related("case__organisation"), principal, Right.SEE_CASES)
    # One union of keys: with OR beside a subquery every action would be read.
    return rows.filter(pk__in=own.union(called)).order_by("pk")
