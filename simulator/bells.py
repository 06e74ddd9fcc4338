"""Webhooks out: whoever asked to be told hears that an object changed (Standard Webhooks, with a signature of our own).

One thread sends them in order, apart from every request, so that a slow listener slows nobody. What goes wrong with the
next ones is scripted: they come twice, late, wrongly signed, after the one behind them, or never.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import queue
import secrets
import threading
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass, field
from typing import Any

from simulator.wire import Answer, BadRequest, Request

SYSTEMS = {
    "payment": "payments",
    "subscription": "subscriptions",
    "customer": "payments",
    "address": "addresses",
    "correction": "addresses",
}
#: What can go wrong with a delivery.
KINDS = {
    "duplicate": "send it twice with one id",
    "late": "send it with a timestamp of ten minutes ago",
    "wrong_signature": "sign it with another secret",
    "out_of_order": "send it after the next one",
    "lost": "never send it",
}
TRIES = 3  #: until somebody answers 2xx
PATIENCE = 5.0  #: seconds for one try
PAUSE = 0.2  #: seconds before another try
LATE = 600  #: seconds
DELIVERIES_SHOWN = 1000

_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


@dataclass(frozen=True, slots=True)
class Listener:
    """Who wants to hear of the objects of a system."""

    system: str
    url: str
    secret: str  #: whsec_…


@dataclass(slots=True)
class Ring:
    """One event, and what the listener answered to each time it was sent; 0 for no answer."""

    id: str
    type: str
    subject: str
    fault: str = ""
    answers: list[int] = field(default_factory=list)


class Bells:
    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._faults: list[str] = []
        self._rings: list[Ring] = []
        self._held: list[tuple[Listener, Ring]] = []
        self._lock = threading.Lock()
        self._waiting: queue.Queue[tuple[Listener, Ring]] = queue.Queue()
        threading.Thread(target=self._send_all, daemon=True, name="bells").start()

    def changed(self, kind: str, subject: str) -> None:
        """Tell those who listen, once the change is stored."""
        with self._lock:
            for listener in self._listeners:
                if listener.system != SYSTEMS.get(kind):
                    continue
                ring = Ring(f"evt_{secrets.token_hex(8)}", f"{kind}.updated", subject)
                ring.fault = self._faults.pop(0) if self._faults else ""
                self._rings.append(ring)
                if ring.fault == "out_of_order":
                    self._held.append((listener, ring))
                elif ring.fault != "lost":
                    self._waiting.put((listener, ring))
                    self._release()

    def answer(self, request: Request) -> Answer | None:
        """The back door of the bells; None when the request is not for it."""
        match request.method, request.parts:
            case "PUT", ("webhooks",):
                return self._listen(request.body)
            case "POST", ("webhooks", "faults"):
                return self._script(request.body)
            case "GET", ("webhooks", "deliveries"):
                # Whoever looks wants to see what became of all that was rung, also of what was held back.
                with self._lock:
                    self._release()
                self._waiting.join()
                with self._lock:
                    shown = [asdict(ring) for ring in self._rings[-DELIVERIES_SHOWN:]]
                return Answer(200, {"deliveries": shown})
        return None

    def _release(self) -> None:
        """What was held back comes now. Called with the lock."""
        for held in self._held:
            self._waiting.put(held)
        self._held.clear()

    def _listen(self, listeners: Any) -> Answer:
        if not isinstance(listeners, list):
            raise BadRequest('a list of {"system": …, "url": …, "secret": "whsec_…"}')
        found = []
        for one in listeners:
            if not isinstance(one, dict) or set(one) != {"system", "url", "secret"}:
                raise BadRequest("each listener has a system, a url and a secret")
            if one["system"] not in SYSTEMS.values() or not str(one["url"]).startswith(("http://", "https://")):
                raise BadRequest(f"a system is one of {sorted(set(SYSTEMS.values()))}, a url begins with http")
            found.append(Listener(**one))
        with self._lock:
            self._listeners, self._faults, self._held = found, [], []
        return Answer(200, {"listeners": len(found)})

    def _script(self, order: Any) -> Answer:
        kind = order.get("kind") if isinstance(order, dict) else None
        times = order.get("times", 1) if isinstance(order, dict) else 0
        if kind not in KINDS or not isinstance(times, int) or not 1 <= times <= 1000:
            raise BadRequest(f"kind is one of {sorted(KINDS)}, times a number up to 1000")
        with self._lock:
            self._faults += [kind] * times
        return Answer(201, {"faults": len(self._faults)})

    def _send_all(self) -> None:
        while True:
            listener, ring = self._waiting.get()
            try:
                for _ in range(2 if ring.fault == "duplicate" else 1):
                    self._send(listener, ring)
            finally:
                self._waiting.task_done()

    def _send(self, listener: Listener, ring: Ring) -> None:
        body = json.dumps({"type": ring.type, "data": {"id": ring.subject}}).encode()
        for attempt in range(TRIES):
            # Each try is signed anew: its moment is that of the try, its id that of the event.
            moment = int(time.time()) - (LATE if ring.fault == "late" else 0)
            secret = "whsec_" + "A" * 32 if ring.fault == "wrong_signature" else listener.secret
            headers = sign(secret, ring.id, moment, body)
            request = urllib.request.Request(listener.url, body, headers, method="POST")  # noqa: S310
            status = _ask(request)
            ring.answers.append(status)
            # A refusal stays one; only silence and a busy listener are asked again.
            if status and status < 500 and status != 429:
                return
            if attempt + 1 < TRIES:
                time.sleep(PAUSE)


def sign(secret: str, id: str, moment: int, body: bytes) -> dict[str, str]:
    """The headers of a delivery: HMAC-SHA-256 of `id.timestamp.body` under the decoded secret."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id}.{moment}.".encode() + body, hashlib.sha256).digest()
    return {
        "Content-Type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": str(moment),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def _ask(request: urllib.request.Request) -> int:
    try:
        with _open(request, timeout=PATIENCE) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0
