"""Recording that a decision was not accepted, without letting anybody bury a history under refusals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction

from accounts.models import Person
from accounts.principal import actor_of_person
from audit.models import AuditEvent
from cases.advancing import record_event
from cases.rows import database_now, lock_case

from .models import Proposal

KIND = "decision.refused"
KEPT = 20  #: refusals of one person in one case, per WINDOW; what comes after says nothing new
WINDOW = timedelta(hours=1)


def record_refusal(proposal: Proposal, person: Person, facts: Mapping[str, Any]) -> None:
    """A short transaction of its own, after the refused one was rolled back."""
    with transaction.atomic():
        case = lock_case(proposal.case_id)
        same = AuditEvent.objects.filter(case_id=case.id, kind=KIND, actor_kind="person", actor_id=person.pk)
        if same.filter(at__gt=database_now() - WINDOW).count() >= KEPT:
            return
        record_event(case, KIND, actor=actor_of_person(person), facts={"proposal": proposal.public_id, **facts})
