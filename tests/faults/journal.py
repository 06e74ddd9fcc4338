"""What the client was told with a 2xx, written down before it goes on: the system may not take any of it back."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import httpx2

GIVE_UP = 60.0  #: seconds


class Journal:
    """One line of JSON for each promise."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()
        self.path = path

    def told(self, kind: str, **facts: Any) -> None:
        with self._lock:
            self._file.write(json.dumps({"told": kind, "at": time.time(), **facts}, ensure_ascii=False) + "\n")
            self._file.flush()

    def read(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]

    def close(self) -> None:
        self._file.close()


class Client:
    """A machine that opens cases, and asks again under the same external id until it is told something."""

    def __init__(self, base_url: str, token: str, journal: Journal) -> None:
        self._http = httpx2.Client(
            base_url=base_url, trust_env=False, timeout=20, headers={"Authorization": f"Bearer {token}"}
        )
        self._journal = journal

    def close(self) -> None:
        self._http.close()

    def open_once(self, body: dict[str, Any]) -> httpx2.Response | None:
        """The answer, journalled when it is a promise; None where the connection broke."""
        try:
            answer = self._http.post("/api/v1/cases/", json=body)
        except httpx2.TransportError:
            return None
        if answer.status_code in (200, 201):
            self._journal.told("opened", external_id=body["external_id"], case=answer.json()["id"])
        return answer

    def open(self, body: dict[str, Any]) -> str:
        """The case's public id. Raises TimeoutError, and AssertionError for an answer that is no passing trouble."""
        end = time.monotonic() + GIVE_UP
        while time.monotonic() < end:
            answer = self.open_once(body)
            if answer is not None and answer.status_code in (200, 201):
                return str(answer.json()["id"])
            assert answer is None or answer.status_code >= 500, f"{answer.status_code} {answer.text}"
            threading.Event().wait(0.2)
        raise TimeoutError(f"{body['external_id']} was accepted by nobody for {GIVE_UP:.0f} s")
