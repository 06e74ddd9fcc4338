"""Invariant 4: the outside ledger has at most one effect per key; exactly one where an own call was confirmed.

Only an outside system that shows its ledger can be asked: the simulator does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import timedelta
from typing import Any

from actions.models import Action, ActionStatus
from integrations.http import BadAnswer, HttpClient, NoAnswer, NotSent
from integrations.registry import list_adapters, outgoing

from .finding import Finding

CHUNK = 5_000  #: actions read at a time
PATIENCE = timedelta(seconds=60)  #: for the whole ledger
LONGEST = 256 * 1024 * 1024  #: bytes of a ledger

#: In these nothing may have happened outside.
NOTHING_DONE = (ActionStatus.CANCELLED, ActionStatus.REFUSED)


class LedgerUnreadable(Exception):
    """The outside world's ledger could not be read."""


def read_ledger(url: str) -> list[dict[str, Any]]:
    """The effects of the ledger at `url`, which has to be on the list of outgoing hosts. Raises LedgerUnreadable."""
    try:
        with closing(HttpClient(url, allowed=outgoing())) as client:
            answer = client.get("/ledger", call_id="verify-invariants", within=PATIENCE, at_most=LONGEST)
            if answer.status != 200:
                raise LedgerUnreadable(f"the ledger answered {answer.status}")
            effects: list[dict[str, Any]] = answer.json()["effects"]
            return effects
    except (NotSent, NoAnswer, BadAnswer, KeyError, ValueError) as error:
        raise LedgerUnreadable(str(error)) from error


def ledger_agrees(effects: Iterable[Mapping[str, Any]]) -> Finding:
    """Read the ledger after the database's snapshot was taken: what is confirmed there has to stand here."""
    found = Counter(str(effect["key"]) for effect in effects)
    finding = Finding(checked=sum(found.values()))
    # What is kept in the house, or taken by a mail server, stands in no ledger of others.
    elsewhere = [name for name, adapter in list_adapters().items() if not getattr(adapter, "speaks_http", False)]
    asked = Action.objects.exclude(system__in=elsewhere).order_by()
    rows = asked.values_list("key", "status", "confirmed_by", "case__public_id")
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
