"""A send that a pause refused at the last moment waits for the end of the pause; neither try nor time is counted."""

from __future__ import annotations

from django.db import transaction

from caseflow.domain.errors import CallRefused
from caseflow.domain.outcomes import FaultKind
from cases.claiming import Lease
from cases.observing import Readings, keep_readings
from cases.pausing import hold_of
from cases.settling import Fault, settlement

from .planned import Planned


def wait_for_resuming(
    lease: Lease, planned: Planned, refused: CallRefused, readings: Readings | None = None
) -> Lease | None:
    """Give the attempt back until the pause is over. Who resumes rings; the planned moment is for when nobody did."""
    with transaction.atomic(durable=True):
        # The gate comes before the case: a person who resumes meanwhile finds this task stored, or it does not sleep.
        wait = hold_of(refused.params["pause"])
        with settlement(lease) as settling:
            if readings is not None:
                keep_readings(settling.case.id, readings, at=settling.now, known=planned.addresses())
            settling.again(wait, give_back=True, fault=Fault(FaultKind.TRANSIENT, "paused"))
    return settling.next_lease
