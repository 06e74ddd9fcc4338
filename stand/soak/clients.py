"""The helpdesk that sends tickets at their planned moments, and a reader who is shown what is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import httpx2

from stand.people import SignedIn
from stand.soak.journal import Journal
from stand.soak.plan import Arrival
from stand.story import machine

SENDERS = 64  #: threads: more than can be waiting through the longest outage
PATIENCE = 10.0  #: seconds for one answer
PAUSE = (0.2, 0.5, 1.0)  #: seconds before a request is sent again
LOOK_EVERY = 2.0  #: seconds between two looks of the reader


def pauses() -> Iterator[float]:
    yield from PAUSE
    while True:
        yield PAUSE[-1]


class Helpdesk:
    """Open loop: the moments are planned, a slow answer never delays the next ticket, each is sent until it is told."""

    def __init__(self, base_url: str, token: str, arrivals: Sequence[Arrival], begun: float, journal: Journal) -> None:
        self._base_url, self._token = base_url, token
        self._arrivals = iter(arrivals)
        self._begun = begun  #: of the monotonic clock
        self._journal = journal
        self._lock = threading.Lock()
        self._given_up = threading.Event()
        self.latest = 0.0  #: seconds by which a ticket was first sent too late, for want of a free thread
        self._threads = [threading.Thread(target=self._work, name=f"helpdesk-{n}", daemon=True) for n in range(SENDERS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def finish(self, patience: float) -> bool:
        """Wait until every ticket was told; False when some were not within `patience` seconds."""
        deadline = time.monotonic() + patience
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._given_up.set()
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        with machine(self._base_url, self._token) as client:
            client.timeout = httpx2.Timeout(PATIENCE)
            while (arrival := self._next()) is not None:
                due = self._begun + arrival.at
                self._given_up.wait(max(0.0, due - time.monotonic()))
                self.latest = max(self.latest, time.monotonic() - due)
                self._send(client, arrival, due)
                if arrival.again:
                    self._send(client, arrival, time.monotonic())

    def _next(self) -> Arrival | None:
        with self._lock:
            return next(self._arrivals, None)

    def _send(self, client: httpx2.Client, arrival: Arrival, due: float) -> None:
        for pause in pauses():
            try:
                answer = client.post("/api/v1/cases/", json=arrival.body)
            except httpx2.HTTPError:
                self._journal.count("intake requests without an answer")
            else:
                if answer.status_code in (200, 201):
                    case = str(answer.json()["id"])
                    self._journal.told_case(arrival.external_id, case, answer.status_code, time.monotonic() - due)
                    return
                self._journal.count(f"intake answered {answer.status_code}")
                if answer.status_code < 500:
                    self._journal.never(f"{arrival.external_id} was answered {answer.status_code} {answer.text[:200]}")
                    return
            if self._given_up.wait(pause):
                return


class Reader:
    """A person who looks at what is done, and believes what the API shows."""

    def __init__(self, person: SignedIn, journal: Journal) -> None:
        self._person, self._journal = person, journal
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="reader", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()
        self._person.close()

    def _work(self) -> None:
        while not self._stopped.wait(LOOK_EVERY):
            for row in self._ask("/api/v1/cases/?state=COMPLETED&limit=200"):
                self._journal.saw_done(row["id"], time.time())
            for row in self._ask("/api/v1/cases/?state=EXECUTING&limit=3"):
                for action in self._ask(f"/api/v1/cases/{row['id']}/actions/"):
                    if action["status"] == "CONFIRMED":
                        self._journal.saw_confirmed(action["id"], time.time())

    def _ask(self, path: str) -> list[dict[str, Any]]:
        try:
            answer = self._person.get(path)
        except httpx2.HTTPError:
            return []
        return list(answer.json()["results"]) if answer.status_code == 200 else []


def moment(text: str) -> float:
    """Seconds since 1970 of an ISO moment."""
    return datetime.fromisoformat(text).timestamp()
