"""A cap on the effects that one system gets within an hour: the one too many pauses the system and waits.

The count is of the actions themselves, by the database, in the statement of `begin_call` that checks everything else.
Who counts for a capped system does so alone, so that many senders send just as many as are allowed. A person resumes;
from then on the hour is counted anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from accounts import gate
from caseflow.statements import Values
from cases.models import Pause
from cases.pausing import CAP_REACHED, store_pause

#: 'system', 'organisation' or NULL: whose cap is reached. The statement's own moment, unlike the clock's, can be
#: looked up in an index; what was waited for lies before it.
REACHED = f"""
(SELECT CASE
    WHEN count(*) FILTER (WHERE e.first_sent_at > coalesce(every.resumed_at, '-infinity')) >= %(cap)s::int THEN 'system'
    WHEN count(*) FILTER (WHERE e.organisation_id = a.organisation_id
                          AND e.first_sent_at > coalesce(own.resumed_at, '-infinity')) >= %(cap_each)s::int
      THEN 'organisation' END
  FROM actions_action e,
    (SELECT max(p.ended_at) AS resumed_at FROM cases_pause p WHERE p.kind = 'system' AND p.key = a.system
       AND p.reason = '{CAP_REACHED}' AND p.organisation_id IS NULL) every,
    (SELECT max(p.ended_at) AS resumed_at FROM cases_pause p WHERE p.kind = 'system' AND p.key = a.system
       AND p.reason = '{CAP_REACHED}' AND p.organisation_id = a.organisation_id) own
  WHERE e.kind = 'effect' AND e.system = a.system AND e.first_sent_at > statement_timestamp() - interval '1 hour')"""


@dataclass(frozen=True, slots=True)
class Caps:
    """Effects per hour; None: as many as there are."""

    system: int | None = None  #: of all organisations together
    organisation: int | None = None  #: of each organisation

    def __bool__(self) -> bool:
        return self.system is not None or self.organisation is not None


def caps_of(system: str) -> Caps:
    """What the settings say of `system`."""
    return Caps(
        settings.CASEFLOW_EFFECTS_PER_HOUR.get(system),
        settings.CASEFLOW_EFFECTS_PER_HOUR_AND_ORGANISATION.get(system),
    )


def gate_of(caps: Caps, system: str) -> tuple[str, Values]:
    """What takes the gate, shared; with caps alone among those who count for this system."""
    return gate.shared_alone(f"effects {system}") if caps else gate.shared()


def pause_reached(reached: str, *, system: str, organisation_id: int) -> int:
    """Pause the system, for all or for one organisation, as the platform's own act; the number of the pause's row.

    Whoever counts alone needs no gate: no other send to this system can begin meanwhile.
    """
    paused = store_pause(
        kind=Pause.Kind.SYSTEM,
        key=system,
        organisation_id=organisation_id if reached == "organisation" else None,
        reason=CAP_REACHED,
        until=None,
    )
    return paused.pause.pk
