"""The version after this one of `restore_access`, in the kinds that a release may bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from caseflow.domain.lifecycle import STANDARD, Event, Table
from caseflow.domain.process import Ending
from caseflow.processes.restore_access import OutsideId, RestoreAccess, RestoreAccessIntake


class Next(RestoreAccess):
    """The same rules under a new number."""

    version = 2


class OrderIntake(RestoreAccessIntake):
    order_id: OutsideId


class AsksForMore(Next):
    """It cannot work on what the older version was told."""

    Intake = OrderIntake


class ForgetsAReason(Next):
    """It knows no missing payment any more."""

    endings: ClassVar[Mapping[str, Ending]] = {
        name: ending for name, ending in RestoreAccess.endings.items() if name != "payment_not_found"
    }


class NeverChecksAgain(Next):
    """Its table has no way back from waiting for data."""

    table: ClassVar[Table] = Table(row for row in STANDARD if row.event is not Event.DATA_RECEIVED)
