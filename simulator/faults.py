"""Scripted misfortune: a rule says which request it meets, what goes wrong and how often. Rules live in memory only."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from simulator.wire import BadRequest, Request

#: What can go wrong. "apply" means: do what the request asks, durably.
KINDS = {
    "delay": "wait `seconds`, then apply and answer as usual; the key is not taken while waiting",
    "delay_after": "apply, wait `seconds` with the key in progress, answer",
    "drop_before": "apply nothing, close the connection without an answer",
    "drop_after": "apply, close the connection without an answer",
    "error_before": "apply nothing, answer `status` (500); Retry-After when `retry_after` is given",
    "error_after": "apply, answer `status` (500), never with Retry-After",
    "conflict": "apply nothing, answer 409 in_progress",
    "too_many": "apply nothing, answer 429 with Retry-After `retry_after` (1): seconds or an HTTP date",
    "reset": "apply nothing, reset the connection",
    "reset_after": "apply, reset the connection",
    "drip": "apply, send the answer's body one byte per `seconds`; its head too when `head` is true",
    "huge": "apply, answer with a body of `bytes` (2 MiB)",
    "garbage": "apply, answer as usual but with a body that is not JSON",
    "stale_read": "answer a GET with what was true `seconds` ago, or before the last change without `seconds`",
}
FIELDS = frozenset({"kind", "seconds", "status", "retry_after", "bytes", "head"})
MAX_SECONDS = 60.0  #: no scripted wait is longer

chance = random.Random()


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    seconds: float | None = None
    status: int = 500
    retry_after: str | None = None
    bytes: int = 2 * 1024 * 1024
    head: bool = False

    @property
    def wait(self) -> float:
        return min(max(self.seconds or 0.0, 0.0), MAX_SECONDS)


@dataclass(slots=True)
class Rule:
    id: str
    fault: Fault
    method: str
    path: str  #: fnmatch pattern
    subject: str | None
    key: str | None
    left: int | None  #: None means for ever
    share: float = 1.0  #: of the requests it fits, drawn by chance
    hits: int = 0

    def meets(self, request: Request, subject: str) -> bool:
        return (
            self.left != 0
            and fnmatchcase(request.method, self.method)
            and fnmatchcase(request.path, self.path)
            and self.subject in (None, subject)
            and self.key in (None, request.key)
            and (self.share >= 1.0 or chance.random() < self.share)
        )

    def shown(self) -> dict[str, Any]:
        match = {"method": self.method, "path": self.path, "subject": self.subject, "key": self.key}
        return {
            "id": self.id,
            "match": match,
            "kind": self.fault.kind,
            "left": self.left,
            "share": self.share,
            "hits": self.hits,
        }


@dataclass(slots=True)
class FaultBook:
    """The rules in the order they were written; the first that meets a request is spent on it."""

    _rules: list[Rule] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def add(self, order: Any) -> str:
        rule = _rule(f"fault_{next(self._numbers)}", order)
        with self._lock:
            self._rules.append(rule)
        return rule.id

    def take(self, request: Request) -> Fault | None:
        subject = subject_of(request)
        with self._lock:
            for rule in self._rules:
                if rule.meets(request, subject):
                    rule.hits += 1
                    rule.left = None if rule.left is None else rule.left - 1
                    return rule.fault
        return None

    def shown(self) -> list[dict[str, Any]]:
        with self._lock:
            return [rule.shown() for rule in self._rules]

    def remove(self, id: str | None = None) -> int:
        """All of them without an id; how many went."""
        with self._lock:
            before = len(self._rules)
            self._rules = [rule for rule in self._rules if id is not None and rule.id != id]
            return before - len(self._rules)


def subject_of(request: Request) -> str:
    """The object a request is about; for mail its address."""
    if request.parts[:1] == ("mail",):
        return str(request.body.get("to", "")) if isinstance(request.body, dict) else ""
    parts = request.parts[1:] if request.parts[:1] == ("legacy",) else request.parts
    return parts[1] if len(parts) > 1 else ""


def _rule(id: str, order: Any) -> Rule:
    if not isinstance(order, dict) or set(order) - {"match", "fault", "times", "share"}:
        raise BadRequest('a fault is {"match": {…}, "fault": {…}, "times": N or null, "share": 0 to 1}')
    match, fault, times, share = order.get("match", {}), order.get("fault"), order.get("times"), order.get("share", 1)
    if not isinstance(match, Mapping) or set(match) - {"method", "path", "subject", "key"}:
        raise BadRequest("match knows method, path, subject and key")
    if not isinstance(fault, dict) or set(fault) - FIELDS or fault.get("kind") not in KINDS:
        raise BadRequest(f"fault has {sorted(FIELDS)}, kind is one of {sorted(KINDS)}; refused connections: POST /down")
    if times is not None and (not isinstance(times, int) or isinstance(times, bool) or times < 1):
        raise BadRequest("times is a positive number or null")
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 < share <= 1:
        raise BadRequest("share is more than 0 and at most 1")
    given = {name: value for name, value in fault.items() if value is not None}
    if "retry_after" in given:
        given["retry_after"] = str(given["retry_after"])
    return Rule(
        id=id,
        fault=Fault(**given),
        method=match.get("method", "*"),
        path=match.get("path", "*"),
        subject=match.get("subject"),
        key=match.get("key"),
        left=times,
        share=float(share),
    )
