"""What was not accepted: recorded for the history, and an order that the case has overtaken is ended."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction

from accounts.models import Person
from accounts.principal import actor_of_person
from audit.models import AuditEvent
from caseflow.domain.errors import CaseflowError, ForbiddenTransition
from cases.advancing import record_event
from cases.rows import CaseRow, database_now, lock_case

from .recovery_models import Recovery

KEPT = 20  #: refusals of one person in one case, per WINDOW; what comes after says nothing new
WINDOW = timedelta(hours=1)
_KINDS = ("recovery.refused", "transition.refused")


def record_refusal(
    case_id: int, person: Person, kind: str, error: CaseflowError, *, recovery: Recovery | None = None
) -> None:
    """A short transaction of its own, after the refused one was rolled back (requirement A6)."""
    with transaction.atomic():
        case = lock_case(case_id)
        if recovery is not None:
            end_overtaken(case)
            _end_where_status_changed(recovery, error)
        same = AuditEvent.objects.filter(case_id=case.id, kind__in=_KINDS, actor_kind="person", actor_id=person.pk)
        if same.filter(at__gt=database_now() - WINDOW).count() >= KEPT:
            return
        facts = {
            "order": str(kind),
            "state": case.state,
            "code": error.code,
            "guards": error.params.get("guards", []),
        }
        told = {
            "recovery": recovery.public_id if recovery else "",
            "why": error.params.get("reason", ""),
            "seen_version": error.params.get("seen", "") if error.code == "version_moved" else "",
        }
        facts |= {name: value for name, value in told.items() if value}
        event = _KINDS[isinstance(error, ForbiddenTransition)]
        record_event(case, event, actor=actor_of_person(person), facts=facts)


def end_overtaken(case: CaseRow) -> None:
    """Nobody can sign what was ordered for an earlier version; the caller holds the case."""
    waiting = Recovery.objects.filter(case_id=case.id, status=Recovery.Status.WAITING)
    waiting.exclude(case_version=case.version).update(
        status=Recovery.Status.REFUSED, outcome="version_moved", ended_at=database_now()
    )


def _end_where_status_changed(recovery: Recovery, error: CaseflowError) -> None:
    """The first person saw something that is no longer so: their word counts for nothing now."""
    if error.params.get("reason") not in ("status_changed", "nothing_in_doubt", "another_action"):
        return
    Recovery.objects.filter(pk=recovery.pk, status=Recovery.Status.WAITING).update(
        status=Recovery.Status.REFUSED, outcome="status_changed", ended_at=database_now()
    )
