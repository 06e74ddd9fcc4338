"""Whether this database may send: a copy, or a restored one, sends nothing until a person resumes (design §5)."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from accounts import access, gate
from accounts.models import Person
from accounts.principal import actor_of_person
from actions.models import IN_DOUBT, Action
from audit.services import PLATFORM, record_access, record_organisation_event
from caseflow.domain.errors import NotPermitted
from caseflow.domain.lifecycle import State
from cases.models import Installation
from cases.pausing import wake_held

#: In these the machines find out by themselves what became of a request; elsewhere a person was asked already.
MACHINES = (State.EXECUTING, State.NOTIFYING, State.WAITING_DATA)


@dataclass(frozen=True, slots=True)
class InstallationStand:
    """`held` says why nothing is sent: elsewhere, restored, or empty; `unchecked` results are still to be found out."""

    held: str
    unchecked: int


def installation_stand() -> InstallationStand:
    """Two queries."""
    unchecked = Action.objects.filter(status__in=IN_DOUBT, settled_at=None, case__state__in=MACHINES).count()
    return InstallationStand(why_held(), unchecked)


def why_held() -> str:
    """elsewhere, restored, or empty; one query."""
    home = Installation.objects.first()
    if home is None or home.installation_id != settings.CASEFLOW_INSTALLATION_ID:
        return "elsewhere"
    return "restored" if home.restored else ""


def resume_installation(*, by: Person, reason: str, adopt: bool = False, os_account: str = "") -> InstallationStand:
    """Let this database send again; `adopt` makes a copy of another installation's database one of this installation.

    Returns how it stands then: whoever is still told `held` has results to check first, or did not say `adopt`.
    Raises NotPermitted, on record, for anybody but a platform operator.
    """
    actor = actor_of_person(by)
    try:
        with transaction.atomic():
            gate.hold_exclusive()
            access.require_platform(by)
            stand = installation_stand()
            if not stand.held or stand.unchecked or (stand.held == "elsewhere" and not adopt):
                return stand
            Installation.objects.update_or_create(
                only=True, defaults={"installation_id": settings.CASEFLOW_INSTALLATION_ID, "restored": False}
            )
            facts = {"was": stand.held, "reason": reason, "os_account": os_account}
            record_organisation_event(PLATFORM, "installation.resumed", actor=actor, facts=facts)
            transaction.on_commit(lambda: wake_held(None, error="installation"))
    except NotPermitted as error:
        facts = {"right": error.params["right"], "asked": "installation"}
        record_access(PLATFORM, "access.refused", actor=actor, facts=facts)
        raise
    return InstallationStand("", 0)
