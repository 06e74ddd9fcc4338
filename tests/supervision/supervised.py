"""What a test may ask of supervised workers, and do to them."""

from __future__ import annotations

import json
import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2

from stand.system import System
from tests.flows.running import Bell, Running

ROLES = ("simulator", "web", "worker-1", "worker-2", "dispatcher")
WORKERS = ("worker-1", "worker-2")
#: From a fault that shows at once to a part that works again: found, ended, seen by its parent, pause, boot.
REPLACED = timedelta(seconds=25)


class Supervised(Running):
    """The running system and what its supervisors say."""

    def __init__(self, system: System, bell: Bell, token: str, faults: Path) -> None:
        super().__init__(system, bell, token)
        self._faults = faults
        self._orders = 0

    def restore(self) -> None:
        """Every role alive and every supervisor green, nothing armed, no scripted fault outside."""
        for order in (self._faults / "armed").iterdir():
            order.unlink()
        self.outside.delete("/faults").raise_for_status()
        self.start(*[role for role in ROLES if role not in self.system.pids])
        for role in WORKERS:
            self.wait_for(lambda role=role: self.is_green(role))

    def is_green(self, role: str) -> bool:
        """Whether the supervisor says so; one that is only starting does not answer yet."""
        try:
            return not self.problems(role)
        except httpx2.ConnectError:
            return False

    # What the supervisors say.

    def livez(self, role: str) -> tuple[int, dict[str, Any]]:
        answer = httpx2.get(self.system.health_url(role), timeout=5, trust_env=False)
        return answer.status_code, answer.json()

    def problems(self, role: str) -> list[str]:
        status, body = self.livez(role)
        assert (status == 503) == bool(body["problems"]), body
        return [one["problem"] for one in body["problems"]]

    def part(self, role: str) -> dict[str, Any]:
        (part,) = self.livez(role)[1]["parts"]
        return part

    def wait_for_problem(self, role: str, words: str | tuple[str, ...], patience: timedelta) -> None:
        """Wait until the supervisor is red for this reason, or for one of these."""
        wanted = (words,) if isinstance(words, str) else words
        seen: list[str] = []

        def is_told() -> bool:
            seen.extend(one for one in self.problems(role) if one not in seen)
            return any(word in one for one in seen for word in wanted)

        try:
            self.wait_for(is_told, patience)
        except TimeoutError:
            raise AssertionError(f"{role} was never red for {words!r}, but for {seen}") from None

    def wait_for_replacement(self, role: str, old: dict[str, Any], patience: timedelta = REPLACED) -> dict[str, Any]:
        """Wait until another process works in the place of the old one; that one."""
        self.wait_for(lambda: not self.problems(role) and self.part(role)["pid"] != old["pid"], patience)
        return self.part(role)

    def beat(self, pid: int) -> dict[str, Any]:
        rows = self.ask("SELECT * FROM cases_workerbeat WHERE pid = %s", pid)
        return rows[0] if rows else {}

    # What is done to them.

    def arm(self, place: str, action: str, *who: str, **more: Any) -> None:
        """Let something happen once at a named place, on the way of `who`: a queue, a role."""
        self._orders += 1
        path = self._faults / "armed" / f"{self._orders:04}~{place}~{'+'.join(who)}.json"
        scratch = self._faults / "order.new"
        scratch.write_text(json.dumps({"action": action, **more}))
        scratch.replace(path)

    def signal(self, pid: int, number: signal.Signals) -> None:
        """To one process of the system alone, not to its group."""
        assert os.getpgid(pid) in {os.getpgid(one) for one in self.system.pids.values()}, "not ours"
        os.kill(pid, number)
