"""The scripted approver: decides on what it saw, and looks before it repeats what got no answer."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import httpx2

from stand.people import SignedIn
from stand.soak.clients import pauses
from stand.soak.journal import Journal
from stand.soak.plan import Arrival

DECIDERS = 3  #: threads
LOOK_EVERY = 0.5  #: seconds
AGAIN = 20.0  #: seconds until a plan that still waits is looked at again


class Approver:
    """One person in several windows."""

    def __init__(
        self,
        sign_in: Callable[[], SignedIn],
        arrivals: Mapping[str, Arrival],
        change_facts: Callable[[Arrival], None],
        late: tuple[float, float],
        journal: Journal,
        rng: Random,
    ) -> None:
        self._arrivals = arrivals
        self._change_facts = change_facts
        self._late = late  #: seconds, from and to
        self._journal = journal
        self._rng = rng
        self._seen: dict[tuple[str, int], float] = {}  #: (case, version) → when to look at it again
        self._later: list[tuple[float, dict[str, Any]]] = []
        self._work: queue.Queue[dict[str, Any]] = queue.Queue()
        self._stopped = threading.Event()
        self._people = [sign_in() for _ in range(DECIDERS + 1)]
        self._threads = [threading.Thread(target=self._look, args=[self._people[0]], name="approver", daemon=True)]
        self._threads += [
            threading.Thread(target=self._decide_all, args=[person], name="decider", daemon=True)
            for person in self._people[1:]
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()
        for person in self._people:
            person.close()

    def hurry(self) -> None:
        """Decide at once what was kept for later."""
        self._late = (0.0, 0.0)
        self._later = [(0.0, row) for _, row in self._later]

    def _look(self, person: SignedIn) -> None:
        while not self._stopped.wait(LOOK_EVERY):
            self._list(person)
            now = time.monotonic()
            for row in [row for at, row in self._later if at <= now]:
                self._work.put(row)
            self._later = [(at, row) for at, row in self._later if at > now]

    def _list(self, person: SignedIn) -> None:
        path: str | None = "/api/v1/cases/?state=WAITING_APPROVAL&limit=200"
        while path is not None:
            try:
                answer = person.get(path)
            except httpx2.HTTPError:
                return
            if answer.status_code != 200:
                return
            page = answer.json()
            for row in page["results"]:
                self._take(row)
            path = page["next"]

    def _take(self, row: dict[str, Any]) -> None:
        now, plan = time.monotonic(), (row["id"], row["version"])
        if self._seen.get(plan, 0.0) > now:
            return
        is_first = plan not in self._seen
        self._seen[plan] = now + AGAIN
        arrival = self._arrivals[row["external_id"]]
        if is_first and arrival.verdict.startswith("late"):
            delay = self._rng.uniform(*self._late)
            self._seen[plan] = now + delay + AGAIN
            self._later.append((now + delay, row))
        else:
            self._work.put(row)

    def _decide_all(self, person: SignedIn) -> None:
        while not self._stopped.is_set():
            try:
                row = self._work.get(timeout=0.2)
            except queue.Empty:
                continue
            self._decide(person, row["id"], self._arrivals[row["external_id"]])

    def _decide(self, person: SignedIn, case: str, arrival: Arrival) -> None:
        verdict = arrival.verdict
        if verdict == "late_changed" and case not in self._journal.decided:
            # Nobody has told the product: it has to find out by itself before it sends anything.
            self._change_facts(arrival)
        for pause in pauses():
            try:
                if self._once(person, case, arrival):
                    return
            except httpx2.HTTPError:
                self._journal.count("decisions without an answer")
            if self._stopped.wait(pause):
                return

    def _once(self, person: SignedIn, case: str, arrival: Arrival) -> bool:
        """Read what is to be decided and decide on it. True when there is nothing more to do for now."""
        answer = person.get(f"/api/v1/cases/{case}/proposals/")
        if answer.status_code != 200:
            return False
        plans = [plan for plan in answer.json()["results"] if plan["has_effects"]]
        if not plans:
            return True
        plan, verdict = plans[-1], arrival.verdict
        kind, more = _words(verdict)
        if any(decision["kind"] == kind for decision in plan["decisions"]):
            # An earlier request of ours was heard; only its answer was lost.
            self._journal.told_decision(case, verdict, 200)
            return True
        if verdict == "stale" and case not in self._journal.decided and not self._is_refused(person, case, plan):
            return False
        answer = person.decide(plan, kind, **more)
        match answer.status_code:
            case 200 | 201:
                self._journal.told_decision(case, verdict, answer.status_code)
                return True
            case 409:
                # Somebody or something was first: the list shows it again if it still waits.
                self._journal.count(f"decisions answered 409 {answer.json()['code']}")
                return True
            case status if status >= 500:
                self._journal.count(f"decisions answered {status}")
                return False
        self._journal.never(f"a decision on {case} was answered {answer.status_code} {answer.text[:200]}")
        return True

    def _is_refused(self, person: SignedIn, case: str, plan: dict[str, Any]) -> bool:
        """Decide on a digest that nobody was shown; True when it was refused as stale."""
        digest = f"{self._rng.getrandbits(256):064x}"
        answer = person.decide(plan | {"digest": digest}, "approve")
        code = answer.json().get("code") if answer.status_code == 409 else ""
        if code == "stale_snapshot":
            self._journal.count("stale approvals refused")
            return True
        if answer.status_code in (200, 201):
            self._journal.never(f"an approval of {case} with a digest that was never shown was accepted")
        return False


def _words(verdict: str) -> tuple[str, dict[str, str]]:
    match verdict:
        case "reject_close":
            return "reject", {"next": "close", "reason": "not this time"}
        case "reject_by_hand":
            return "reject", {"next": "by_hand", "reason": "somebody has to look"}
    return "approve", {}
