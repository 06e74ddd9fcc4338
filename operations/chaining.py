"""The regular work of the sealer: organisation events get their numbers within minutes, and at once in `seal_audit`."""

from __future__ import annotations

from audit.linking import link_all
from cases.claiming import Lease
from cases.settling import settlement
from cases.stages import Stage, register


def chain_events(lease: Lease) -> Lease | None:
    """Number what waits, a portion a transaction; what comes in meanwhile is numbered by the next run."""
    link_all()
    with settlement(lease) as settling:
        pass
    return settling.next_lease


register(Stage("chain_events", chain_events, carries=False))
