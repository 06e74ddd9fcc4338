"""Reading bulks for both faces. Who does not see every case of a list does not see the bulk, nor its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts import access
from accounts.principal import Principal
from caseflow.domain.errors import NotFound
from caseflow.domain.roles import Right
from cases.models import Task
from cases.models.task import LIVE

from .bulk import STAGE
from .bulk_models import Bulk, BulkItem


@dataclass(frozen=True, slots=True)
class Counts:
    """How many cases of a bulk stand how; `total` is their sum."""

    planned: int
    done: int
    failed: int
    skipped: int

    @property
    def total(self) -> int:
        return self.planned + self.done + self.failed + self.skipped

    @property
    def settled(self) -> int:
        return self.done + self.failed + self.skipped


def list_bulks(principal: Principal) -> QuerySet[Bulk]:
    """Those of which every case is in sight, newest first, each with its counts; one query."""
    seen = access.organisations_with(principal, Right.SEE_CASES)
    in_sight = Q(organisations__contained_by=ArraySubquery(seen.values("pk")))
    # Of bulks of the releases before their organisations were noted down, case by case.
    hidden = BulkItem.objects.filter(bulk=OuterRef("pk")).exclude(case__organisation__in=seen.values("pk"))
    in_sight |= Q(~Exists(hidden), organisations=None)
    # Bulk by bulk, so that only those that are shown are counted.
    counted = {status: _count_of(status) for status in BulkItem.Status.values}
    rows = Bulk.objects.filter(in_sight).select_related("ordered_by", "given_to").annotate(**counted)
    return rows.order_by("-pk")


def _count_of(status: str) -> Coalesce:
    items = BulkItem.objects.filter(bulk=OuterRef("pk"), status=status).order_by().values("bulk")
    return Coalesce(Subquery(items.annotate(number=Count("*")).values("number")), 0)


def get_bulk(principal: Principal, public_id: str) -> Bulk:
    """One bulk in sight with its counts; one query. Raises NotFound."""
    if not (public_id.isascii() and public_id.isprintable()):
        raise NotFound
    found = list_bulks(principal).filter(public_id=public_id).first()
    if found is None:
        raise NotFound
    return found


def counts_of(bulk: Bulk) -> Counts:
    """Of a bulk that was read by this module."""
    return Counts(**{status: getattr(bulk, status) for status in BulkItem.Status.values})


def list_items(bulk: Bulk, status: str = "") -> QuerySet[BulkItem]:
    """The cases of a bulk in the order of its list; one query."""
    rows = BulkItem.objects.filter(bulk=bulk).select_related("case__organisation", "recovery", "action", "proposal")
    return (rows.filter(status=status) if status else rows).order_by("position")


def count_reasons(bulk: Bulk) -> list[tuple[str, str, int]]:
    """(status, reason, how many) of what was left out or failed, the largest first; one query."""
    rows = BulkItem.objects.filter(bulk=bulk).exclude(reason="").values_list("status", "reason")
    return list(rows.annotate(number=Count("pk")).order_by("-number", "reason"))


def is_stalled(bulk: Bulk) -> bool:
    """It should run, and no task of it lives: they gave up. One query."""
    if bulk.status != Bulk.Status.RUNNING:
        return False
    return not Task.objects.filter(stage=STAGE, subject=bulk.public_id, case=None, status__in=LIVE).exists()
