"""What the clients were told with 2xx, and when: the run is judged against that, not against the system's memory."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Journal:
    """Shared by all clients. Moments are this machine's clock, which is the database's and the ledger's, too."""

    file: Path
    told: dict[str, str] = field(default_factory=dict)  #: ticket → case, as the first 2xx said
    latencies: list[float] = field(default_factory=list)  #: seconds from the planned moment to the first 2xx
    decided: dict[str, str] = field(default_factory=dict)  #: case → what the approver was told is recorded
    shown_done: dict[str, float] = field(default_factory=dict)  #: case → when it was first shown COMPLETED
    shown_confirmed: dict[str, float] = field(default_factory=dict)  #: action → when it was first shown CONFIRMED
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)  #: answers that may never be given
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def told_case(self, ticket: str, case: str, status: int, latency: float) -> None:
        """A ticket was answered 201 or 200."""
        with self._lock:
            first = self.told.setdefault(ticket, case)
            self.counts[f"intake answered {status}"] += 1
            self.latencies.append(latency)
        if first != case:
            self.never(f"{ticket} was told {first}, then {case}")
        self._note("told", ticket=ticket, case=case, status=status)

    def told_decision(self, case: str, verdict: str, status: int) -> None:
        with self._lock:
            self.decided[case] = verdict
            self.counts[f"decisions: {verdict}"] += 1
        self._note("decided", case=case, verdict=verdict, status=status)

    def saw_done(self, case: str, at: float) -> bool:
        """True when it is the first time."""
        with self._lock:
            return self.shown_done.setdefault(case, at) == at

    def saw_confirmed(self, action: str, at: float) -> None:
        with self._lock:
            self.shown_confirmed.setdefault(action, at)

    def count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def never(self, what: str) -> None:
        """Something that may never be seen."""
        with self._lock:
            self.wrong.append(what)
        self._note("wrong", what=what)

    def _note(self, kind: str, **facts: Any) -> None:
        line = json.dumps({"at": time.time(), "kind": kind, **facts}, ensure_ascii=False)
        with self._lock, self.file.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
