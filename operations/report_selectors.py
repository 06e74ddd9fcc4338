"""Reading what is owed: obligations in sight, what became of each edition, and how far each recipient was told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Prefetch, QuerySet

from accounts import access
from accounts.models import Person
from accounts.principal import Principal
from actions.models import Action, ActionKind
from caseflow.domain.errors import NotFound
from caseflow.domain.roles import Right
from cases.models import Case
from documents.access import who_may_open

from .report_models import Obligation, ObligationEdition, ReportSchedule
from .report_opening import still_missing


@dataclass(frozen=True, slots=True)
class Delivery:
    """One recipient of an edition: the newest message to them, and whether they may open the document now."""

    person: Person
    action: Action | None
    may_open: bool

    @property
    def status(self) -> str:
        """Of the action; PLANNED where the case has not come so far."""
        return self.action.status if self.action else "PLANNED"

    @property
    def code(self) -> str:
        return self.action.code if self.action else ""


def list_obligations(principal: Principal, right: Right = Right.SEE_CASES) -> QuerySet[Obligation]:
    """Newest period first, each with its editions and their cases; two queries.

    `right` is SEE_CASES, or OPEN_DOCUMENTS, which departments give, too.
    """
    editions = ObligationEdition.objects.select_related("case", "asked_by").order_by("number")
    rows = Obligation.objects.select_related("organisation", "department")
    rows = rows.prefetch_related(Prefetch("editions", queryset=editions))
    return access.visible(rows, principal, right).order_by("-period_end", "-pk")


def get_obligation(
    principal: Principal,
    organisation: str,
    department: str,
    kind: str,
    period: str,
    *,
    rights: Sequence[Right] = (Right.SEE_CASES,),
) -> Obligation:
    """In sight by any of `rights`; two queries a right. Raises NotFound, the same for nothing and for out of sight."""
    names = {"organisation__slug": organisation, "department__slug": department, "kind": kind, "period": period}
    if all(name.isascii() and name.isprintable() for name in names.values()):
        for right in rights:
            if (found := list_obligations(principal, right).filter(**names).first()) is not None:
                return found
    raise NotFound


def list_overdue(principal: Principal) -> QuerySet[Obligation]:
    """Named late, and still without a document; the longest late first."""
    rows = still_missing(Obligation.objects.filter(overdue_at__isnull=False))
    rows = rows.select_related("organisation", "department")
    return access.visible(rows, principal, Right.SEE_CASES).order_by("grace_until", "pk")


def deliveries_of(case: Case) -> list[Delivery]:
    """Every recipient of the case's edition, by name; three queries. Raises ObligationEdition.DoesNotExist."""
    edition = ObligationEdition.objects.select_related("obligation__department").get(case=case)
    newest = {row.subject: row for row in Action.objects.filter(case=case, kind=ActionKind.NOTICE).order_by("id")}
    may_open = set(who_may_open(edition.obligation.department).values_list("pk", flat=True))
    people = Person.objects.filter(pk__in=edition.recipients).order_by("name", "username")
    return [Delivery(one, newest.get(f"addresses.p{one.pk}"), one.pk in may_open) for one in people]


def list_schedules(principal: Principal) -> QuerySet[ReportSchedule]:
    """Those of the organisations that `principal` administers."""
    rows = ReportSchedule.objects.select_related("organisation", "department", "changed_by")
    rows = access.visible(rows, principal, Right.ADMINISTER)
    return rows.order_by("organisation__slug", "department__slug", "kind", "length")
