"""Idempotency keys as Stripe does them: first answer replayed, other body refused, concurrent use 409."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from simulator.ledger import Ledger
from simulator.wire import Answer, Request, canonical

Effect = Callable[[], tuple[Answer, str | None]]
"""Makes one change inside the open transaction: the answer, and the effect's id or None when it was refused."""

#: Answers that are kept under the key. Anything else (not found, bad input) leaves the key unused, as Stripe does.
KEPT = frozenset({200, 202, 409})


class Keys:
    def __init__(self, ledger: Ledger, life: float) -> None:
        self._ledger = ledger
        self._life = life  #: seconds
        self._busy: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def held(self, key: str) -> Iterator[bool]:
        """True when this request alone works under the key now."""
        with self._lock:
            ours = key not in self._busy
            if ours:
                self._busy.add(key)
        try:
            yield ours
        finally:
            if ours:
                with self._lock:
                    self._busy.discard(key)

    def once(self, request: Request, effect: Effect) -> Answer:
        """Run the effect unless its key was answered before; effect, ledger row and key are one transaction."""
        if not request.key:
            return Answer.problem(400, "key_required")
        fingerprint = _fingerprint(request)
        with self._ledger.transaction():
            known = self._ledger.get_key(request.key, self._life)
            if known is not None and known["fingerprint"] != fingerprint:
                return Answer.problem(400, "idempotency_mismatch")
            if known is not None:
                return Answer(known["status"], json.loads(known["answer"]), {"Idempotent-Replayed": "true"})
            answer, effect_id = effect()
            if answer.status in KEPT:
                self._ledger.store_key(request.key, fingerprint, answer.status, answer.body, effect_id)
            return answer

    def operation(self, request: Request) -> Answer:
        """GET /operations/{key}: what became of this key. A kept refusal changed nothing: 404."""
        key = request.parts[1]
        known = self._ledger.get_key(key, self._life)
        if known is None or known["effect_id"] is None:
            return Answer.problem(404, "no_such_operation")
        return Answer(200, {"key": key, "status": "applied", "operation": self._ledger.get_effect(known["effect_id"])})


def _fingerprint(request: Request) -> str:
    meaning: Any = [request.method, request.path, request.body]
    return hashlib.sha256(canonical(meaning).encode()).hexdigest()
