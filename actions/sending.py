"""Handing a begun call to its adapter: whatever goes wrong from here on is doubt, never a failure."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from caseflow.domain.outcomes import Outcome, Unknown
from cases.claiming import Lease
from cases.leases import sure_until
from integrations.registry import get_adapter

from .beginning import Begun
from .planned import Planned

log = logging.getLogger("caseflow.actions")


def perform(lease: Lease, planned: Planned, begun: Begun, *, to: str, request: Mapping[str, Any]) -> Outcome:
    """Ask the system for the effect or notice, once, under the action's own key."""
    spec = planned.spec
    try:
        adapter = get_adapter(spec.system)
        # Who overslept its lease must not send: without keys nothing out there tells a second request from a first,
        # and a key may have passed its life meanwhile.
        return adapter.perform(
            spec.operation, to, request, key=spec.key, call_id=begun.call_id, send_by=sure_until(lease)
        )
    except Exception as error:
        # Whatever went wrong here may have gone wrong after the request had left.
        log.exception("performing %s failed", spec.id)
        return Unknown("adapter_failed", type(error).__name__)
