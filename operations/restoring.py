"""Saying that this database was restored: from then on nothing is sent until a person resumes (design §5)."""

from __future__ import annotations

from django.db import transaction

from accounts import gate
from accounts.principal import Actor
from audit.services import PLATFORM, record_organisation_event
from cases.models import Installation

BY = Actor("system", None, "mark_restored")


def mark_restored(*, reason: str, os_account: str = "") -> bool:
    """Hold back everything that leaves the house, and put that on record; False where it was marked already.

    It only ever stops, so whoever may run commands here may do it; letting go takes a platform operator
    (`operations.installing`). Behind the gate: a call that began before is under way, none begins after it.
    """
    with transaction.atomic():
        gate.hold_exclusive()
        marked = Installation.objects.filter(restored=False).update(restored=True)
        if marked:
            facts = {"reason": reason, "os_account": os_account}
            record_organisation_event(PLATFORM, "installation.restored", actor=BY, facts=facts)
    return bool(marked)
