"""Erasing the personal texts of closed cases by deleting the key they are encrypted with (design §5).

The rows stay, so that every chain stays valid; nobody can read them any more. Backups hold the keys until they age out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from accounts.principal import Actor
from caseflow.domain.lifecycle import CLOSED
from cases.advancing import record_event
from cases.models import Case, CaseKey, IntakeRevision, PersonalText
from cases.rows import lock_case

from .models import Repair


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which cases: one, those of a customer, or those closed longer ago than `older_than`. They narrow it together."""

    case: str = ""
    customer: str = ""
    older_than: timedelta | None = None


def find_erasable(wanted: Wanted, organisations: Sequence[int] | None) -> QuerySet[Case]:
    """Cases that still have a key, open ones among them where a case or a customer was named; oldest first."""
    cases = Case.objects.filter(data_key__isnull=False).select_related("organisation").order_by("pk")
    if organisations is not None:
        cases = cases.filter(organisation__in=organisations)
    if wanted.case:
        cases = cases.filter(Q(public_id=wanted.case) | Q(external_id_normal=wanted.case))
    if wanted.customer:
        told = IntakeRevision.objects.filter(body__customer_id=wanted.customer).values("case")
        cases = cases.filter(pk__in=told)
    if wanted.older_than is not None:
        cases = cases.filter(closed_at__lt=Now() - wanted.older_than)
    return cases


def purge_case(case_id: int, repair: Repair, actor: Actor) -> bool:
    """Delete the key of a closed case and put that on record, in the caller's transaction.

    False where the case is open, or somebody deleted the key before.
    """
    case = lock_case(case_id)
    if case.state not in CLOSED:
        return False
    gone, _ = CaseKey.objects.filter(case_id=case_id).delete()
    if not gone:
        return False
    facts = {"repair": repair.pk, "texts": PersonalText.objects.filter(case_id=case_id).count()}
    record_event(case, "personal.purged", actor=actor, facts=facts)
    return True
