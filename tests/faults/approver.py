"""A person at the API who approves whatever waits, but for the cases that a scenario keeps for itself."""

from __future__ import annotations

import threading
from typing import Any

import httpx2
import psycopg
from psycopg.rows import dict_row

from stand.people import SignedIn
from tests.faults.journal import Journal

#: The newest plan of each waiting case, with what its page would show.
WAITING = """
SELECT DISTINCT ON (c.id) p.public_id AS id, p.digest, c.version AS case_version, c.external_id, c.public_id AS case
FROM cases_case c JOIN approvals_proposal p ON p.case_id = c.id
WHERE c.state = 'WAITING_APPROVAL' AND p.has_effects ORDER BY c.id, p.number DESC
"""


class Approver:
    """Signs in again and asks again whenever the web server goes away."""

    def __init__(self, base_url: str, database_url: str, journal: Journal) -> None:
        self.kept: set[str] = set()  #: external ids that it leaves alone
        self.refused: list[str] = []
        self._base_url, self._database_url, self._journal = base_url, database_url, journal
        self._person: SignedIn | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="scripted approver")

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()
        self._thread.join()
        if self._person is not None:
            self._person.close()

    def decide(self, waiting: dict[str, Any], decision: str = "approve", **more: Any) -> httpx2.Response | None:
        """One try; None where the connection broke."""
        with self._lock:
            try:
                if self._person is None:
                    self._person = SignedIn(self._base_url, "approver", "demo-approver-2026")
                answer = self._person.decide(waiting, decision, **{"reason": "", **more})
            except (httpx2.TransportError, httpx2.HTTPStatusError, RuntimeError, StopIteration):
                self._person = None
                return None
        if answer.status_code in (200, 201):
            self._journal.told("decided", proposal=waiting["id"], case=waiting["case"], decision=decision)
        elif answer.status_code in (401, 403):
            self._person = None  # the session is gone with a lost database
        return answer

    def _work(self) -> None:
        while not self._stopped.wait(0.1):
            try:
                with psycopg.connect(self._database_url, autocommit=True, row_factory=dict_row) as database:
                    self._watch(database)
            except psycopg.OperationalError:
                continue

    def _watch(self, database: psycopg.Connection[dict[str, Any]]) -> None:
        while not self._stopped.wait(0.1):
            for waiting in database.execute(WAITING).fetchall():
                if waiting["external_id"] in self.kept:
                    continue
                answer = self.decide(waiting)
                if answer is not None and answer.status_code not in (200, 201) and answer.status_code < 500:
                    self.refused.append(f"{waiting['case']}: {answer.status_code} {answer.text}")
