"""Invariant 4: the outside ledger has at most one effect per key; exactly one where an own call was confirmed.

Only an outside system that shows its ledger can be asked: the simulator does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2

from actions.models import Action, ActionStatus

from .finding import Finding

CHUNK = 5_000  #: actions read at a time
PATIENCE = 60.0  #: seconds for the whole ledger

#: In these nothing may have happened outside.
NOTHING_DONE = (ActionStatus.CANCELLED, ActionStatus.REFUSED)


def read_ledger(url: str) -> list[dict[str, Any]]:
    """The effects of the ledger at `url`. Raises httpx2.HTTPError."""
    answer = httpx2.get(f"{url.rstrip('/')}/ledger", timeout=PATIENCE)
    answer.raise_for_status()
    effects: list[dict[str, Any]] = answer.json()["effects"]
    return effects


def ledger_agrees(effects: Iterable[Mapping[str, Any]]) -> Finding:
    """Read the ledger after the database's snapshot was taken: what is confirmed there has to stand here."""
    found = Counter(str(effect["key"]) for effect in effects)
    finding = Finding(checked=sum(found.values()))
    rows = Action.objects.order_by().values_list("key", "status", "confirmed_by", "case__public_id")
    for key, status, confirmed_by, case in rows.iterator(chunk_size=CHUNK):
        times = found.pop(key, 0)
        if times > 1:
            finding.add(case, f"{key} had {times} effects")
        elif times == 0 and status == ActionStatus.CONFIRMED and confirmed_by != "hand":
            finding.add(case, f"{key} is confirmed and had no effect")
        elif times and status in NOTHING_DONE:
            finding.add(case, f"{key} is {status} and had an effect")
    for key, times in found.items():
        if times > 1:
            finding.add("", f"{key}, which is not ours, had {times} effects")
    return finding
