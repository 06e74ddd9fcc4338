"""The first page: what this person may act on first, then what nobody's machine can go on with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Min
from django.utils import timezone

from accounts.models import Person
from actions.desk import ActionFilter, list_in_sight
from actions.models import ActionKind, ActionStatus
from approvals.models import Proposal

from . import waiting
from .waiting import AttentionGroup

FIRST = 3  #: proposals on the first page; all of them stand in the list
SOON = timedelta(hours=4)  #: what expires within it is said to expire soon


@dataclass(frozen=True, slots=True)
class HomePage:
    """How many wait and how many results are unknown stands in the counts of the navigation already."""

    proposals: Sequence[Proposal]
    expiring: int  #: of all that wait for this person, those that expire within SOON
    attention: Sequence[AttentionGroup]
    oldest_unknown: datetime | None
    soon: timedelta = SOON

    @property
    def next(self) -> Proposal | None:
        """What to open first: it expires first, and among equals it waits longest."""
        return self.proposals[0] if self.proposals else None


def gather(person: Person) -> HomePage:
    """Four queries."""
    mine = waiting.proposals_for(person)
    doubtful = ActionFilter(status=ActionStatus.UNKNOWN, kind=ActionKind.EFFECT)
    return HomePage(
        proposals=list(mine.order_by("valid_until", "at", "pk")[:FIRST]),
        expiring=mine.filter(valid_until__lte=timezone.now() + SOON).count(),
        attention=waiting.attention_groups(person),
        oldest_unknown=list_in_sight(person, doubtful).aggregate(oldest=Min("first_sent_at"))["oldest"],
    )
