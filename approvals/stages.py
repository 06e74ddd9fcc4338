"""The stages of this room: propose, expire what nobody decided, and stop what nobody may decide any more."""

from __future__ import annotations

from caseflow.domain.lifecycle import Event
from cases.claiming import Lease
from cases.settling import settlement
from cases.stages import Stage, register

from .deciders import STAGE, find_deciders
from .proposing import ask_for_ground, propose


def expire(lease: Lease) -> Lease | None:
    """The time for a decision ran out. A decision that came first moved the case, so this task is obsolete."""
    with settlement(lease) as settling:
        settling.move(Event.EXPIRED, facts={"proposal": lease.subject}, sets={"reason": "decision_expired"})
    return settling.next_lease


register(Stage("propose", propose, load=ask_for_ground))
register(Stage("expire", expire))
register(Stage(STAGE, find_deciders, carries=False))
