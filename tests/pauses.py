"""Pausing and resuming in tests, by the service of the rows: who may is asked in the tests of `operations.pausing`."""

from __future__ import annotations

from datetime import datetime

from accounts.models import Organisation
from accounts.principal import SYSTEM
from cases.models import Pause
from cases.pausing import end_pause, set_pause


def pause(
    kind: str, name: str = "", organisation: Organisation | None = None, *, until: datetime | None = None
) -> Pause:
    return set_pause(
        kind=Pause.Kind(kind),
        key=name,
        organisation_id=organisation.pk if organisation else None,
        reason="an incident",
        until=until,
        by=SYSTEM,
    ).pause


def pause_work(kind: str, organisation: Organisation) -> Pause:
    """What carries a case of `restore_access` at this organisation, stopped in one of the ways there are."""
    names = {"process": "restore_access", "system": "subscriptions"}
    return pause(kind, names.get(kind, ""), organisation if kind == "organisation" else None)


def resume(*pauses: Pause) -> None:
    """These, or all that are live."""
    for one in pauses or Pause.objects.filter(ended_at=None):
        end_pause(pause_id=one.pk, reason="it is over", by=SYSTEM)
