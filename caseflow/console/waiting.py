"""What waits for this person, and what nobody's machine can go on with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts import access
from accounts.models import Person
from approvals.models import Decision, Proposal
from approvals.selectors import list_waiting
from caseflow.domain.lifecycle import State
from caseflow.domain.roles import Right
from cases.attention import count_by_reason
from cases.pausing import CLOCK

from . import words


@dataclass(frozen=True, slots=True)
class AttentionGroup:
    """Cases that stopped for one reason, the oldest first."""

    reason: words.Shown
    number: int
    oldest: datetime


def proposals_in_sight(person: Person) -> QuerySet[Proposal]:
    """Every proposal that waits for a decision in the organisations whose cases the person sees."""
    newer = Proposal.objects.filter(case=OuterRef("case"), has_effects=True, number__gt=OuterRef("number"))
    proposals = Proposal.objects.filter(
        case__state=State.WAITING_APPROVAL, case__closed_at=None, needs_approval=True, has_effects=True
    ).filter(~Exists(newer))
    return (
        access.visible(proposals, person, Right.SEE_CASES)
        .select_related("case__organisation")
        .defer("snapshot")
        .order_by("valid_until", "at", "pk")
    )


def places(person: Person) -> QuerySet[Proposal]:
    """Every proposal in sight: one that was decided on meanwhile still tells where it stood in a list."""
    return access.visible(Proposal.objects.all(), person, Right.SEE_CASES)


def proposals_for(person: Person) -> QuerySet[Proposal]:
    """Those that the person may decide on now: has the right, caused none of it, did not approve it before."""
    mine = Decision.objects.filter(proposal=OuterRef("pk"), person=person, kind=Decision.Kind.APPROVE)
    return (
        list_waiting(person)
        .defer("snapshot")
        .exclude(causers__contains=[person.pk])
        .filter(~Exists(mine), valid_until__gt=CLOCK)
    )


def find_next(person: Person, after: Proposal, *, everything: bool = False) -> Proposal | None:
    """The one that waits behind `after` in the same view, from its beginning where `after` was the last; a query or
    two."""
    rows = (proposals_in_sight(person) if everything else proposals_for(person)).exclude(pk=after.pk)
    rows = rows.order_by("valid_until", "pk")
    behind = Q(valid_until__gt=after.valid_until) | Q(valid_until=after.valid_until, pk__gt=after.pk)
    return rows.filter(behind).first() or rows.first()


def attention_groups(person: Person) -> list[AttentionGroup]:
    return [AttentionGroup(words.reason_word(one.reason), one.number, one.oldest) for one in count_by_reason(person)]


def deciders_beside(person: Person, proposal: Proposal) -> Sequence[str]:
    """Names of who may decide on a proposal instead of `person`."""
    permitted = access.persons_with_right(proposal.case.organisation_id, Right.DECIDE)
    others = permitted.exclude(pk__in=[*proposal.causers, person.pk]).order_by("name", "username")
    return [other.get_full_name() for other in others[:10]]
