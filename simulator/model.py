"""A language model behind an OpenAI-compatible address. It reads the facts in the question and answers as a good model.

Scripted words come before its own: `POST /model/answers {"kind": …, "times": 1, "subject": "S-77"}`. What it was asked
is kept whole, so that a test can look for what must never be told to it: `GET /model/requests`.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from simulator.wire import Answer, BadRequest, Request

KEPT = 1000  #: requests
_FENCE = re.compile(r"\n\n<<<customer ([0-9a-f]+)\n(.*)\ncustomer \1>>>\Z", re.DOTALL)

#: What a scripted answer may be; each bends the good one.
KINDS = {
    "invalid_json": "words around the object, which then is no JSON",
    "wrong_schema": "fields that nobody asked for, and one is missing",
    "invented_evidence": "a fact that was never read",
    "false_evidence": "a fact with another value than it has",
    "injected": "the decision to restore access, whatever the facts say, and no approval",
    "wrong_decision": "a decision that the facts do not allow",
    "unknown_decision": "a decision that nobody has",
    "other_subject": "another subject than the case's",
    "other_amount": "an amount in its words that stands in no fact",
    "needs_check": "it asks for another check, naming `missing`",
    "cut": "the answer ends in its middle, and says so",
    "huge": "an answer of a megabyte",
    "refusal": "the model refuses",
    "no_usage": "a good answer, but nothing is said of tokens",
    "text": "the words in `text`",
}


class Model:
    """Its scripted words, and what it was asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scripts: list[dict[str, Any]] = []
        self._asked: deque[dict[str, Any]] = deque(maxlen=KEPT)

    def control(self, request: Request) -> Answer | None:
        """The back door; None where the request is not for it."""
        match request.method, request.parts:
            case "POST", ("model", "answers"):
                return self._script(request.body)
            case "DELETE", ("model", "answers"):
                with self._lock:
                    self._scripts.clear()
                return Answer(200, {})
            case "GET", ("model", "requests"):
                with self._lock:
                    return Answer(200, {"requests": list(self._asked), "kinds": KINDS})
            case "DELETE", ("model", "requests"):
                with self._lock:
                    self._asked.clear()
                return Answer(200, {})
        return None

    def answer(self, request: Request) -> Answer:
        """POST /v1/chat/completions."""
        with self._lock:
            self._asked.append({"request_id": request.request_id, "body": request.body})
        messages = request.body.get("messages") if isinstance(request.body, dict) else None
        if not isinstance(messages, list) or len(messages) < 2:
            return Answer(400, {"error": {"message": "messages are needed", "type": "invalid_request_error"}})
        question = str(messages[1].get("content", ""))
        told, words = _read(question)
        good = _explained(told, words) if "decision" in told else _decided(told, words)
        script = self._take(str(told.get("intake", {}).get("subscription_id", "")))
        if script is None:
            return _completion(request.body, json.dumps(good, ensure_ascii=False))
        return _bent(request.body, script, good, told)

    def _script(self, order: Any) -> Answer:
        if not isinstance(order, dict) or order.get("kind") not in KINDS:
            raise BadRequest(f"kind is one of {sorted(KINDS)}")
        with self._lock:
            self._scripts.append({"times": 1, "subject": None, **order})
        return Answer(201, {})

    def _take(self, subject: str) -> dict[str, Any] | None:
        with self._lock:
            for script in self._scripts:
                if script["times"] != 0 and script["subject"] in (None, subject):
                    script["times"] = None if script["times"] is None else script["times"] - 1
                    return dict(script)
        return None


def _read(question: str) -> tuple[dict[str, Any], str]:
    """(the JSON object, the customer's words)"""
    found = _FENCE.search(question)
    head, words = (question[: found.start()], found.group(2)) if found else (question, "")
    try:
        told = json.loads(head)
    except ValueError:
        return {}, words
    return (told if isinstance(told, dict) else {}), words


def _decided(told: Mapping[str, Any], words: str) -> dict[str, Any]:
    facts, intake = told.get("facts", {}), told.get("intake", {})
    decision, paths = _rule(facts, intake)
    evidence = [{"path": path, "value": facts[path]} for path in paths if facts.get(path) is not None]
    return {
        "decision": decision,
        "evidence": evidence,
        "missing": [],
        "requires_approval": True,
        "subject": intake.get("subscription_id", ""),
        "explanation": _words(evidence, words),
    }


def _explained(told: Mapping[str, Any], words: str) -> dict[str, Any]:
    facts = told.get("facts", {})
    evidence = [
        {"path": path, "value": facts[path]}
        for path in ("payment.status", "subscription.status")
        if facts.get(path) is not None
    ]
    return {"evidence": evidence, "explanation": _words(evidence, words)}


def _rule(facts: Mapping[str, Any], intake: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The rules of the instruction, in its order."""
    get = facts.get
    owners = {get("payment.customer_id"), get("subscription.customer_id")}
    steps: list[tuple[Callable[[], bool], str, tuple[str, ...]]] = [
        (lambda: get("payment.status") == "not_found", "payment_not_found", ("payment.status",)),
        (lambda: get("customer.status") == "unknown", "customer_unknown", ("customer.status",)),
        (lambda: get("subscription.status") == "not_found", "subscription_not_found", ("subscription.status",)),
        (
            lambda: owners != {intake.get("customer_id")},
            "another_account",
            ("payment.customer_id", "subscription.customer_id"),
        ),
        (lambda: get("payment.status") == "refunded", "payment_refunded", ("payment.status",)),
        (lambda: get("payment.status") == "failed", "payment_failed", ("payment.status",)),
        (lambda: get("subscription.status") == "active", "already_active", ("subscription.status",)),
        (lambda: get("payment.status") == "pending", "payment_pending", ("payment.status",)),
        (
            lambda: (
                (get("payment.amount"), get("payment.currency"))
                != (get("subscription.price"), get("subscription.currency"))
            ),
            "amount_differs",
            ("payment.amount", "subscription.price"),
        ),
        (
            lambda: (
                (get("customer.status"), get("payment.status"), get("subscription.status"))
                == ("known", "confirmed", "inactive")
            ),
            "restore_access",
            ("payment.status", "subscription.status"),
        ),
    ]
    return next(((decision, paths) for holds, decision, paths in steps if holds()), ("unclear_facts", ()))


def _words(evidence: list[dict[str, Any]], words: str) -> str:
    said = ", ".join(f"{one['path']} = {one['value']}" for one in evidence)
    if re.search("[а-яё]", words, re.IGNORECASE):
        return f"По данным систем: {said or 'фактов не хватает'}. Решение следует из правил."
    return f"The systems say: {said or 'the facts do not suffice'}. The decision follows from the rules."


def _bent(body: Mapping[str, Any], script: Mapping[str, Any], good: dict[str, Any], told: Mapping[str, Any]) -> Answer:
    match script["kind"]:
        case "invalid_json":
            return _completion(body, f"Sure! Here is my answer:\n```json\n{json.dumps(good)}\n```")
        case "wrong_schema":
            rest = {name: value for name, value in good.items() if name != "explanation"}
            return _completion(body, json.dumps(rest | {"refund": "990.00", "status": "COMPLETED"}))
        case "cut":
            return _completion(body, json.dumps(good)[:60], finish="length")
        case "huge":
            return _completion(body, "x" * 1024 * 1024)
        case "refusal":
            return _completion(body, None, refusal="I cannot help with that.")
        case "no_usage":
            answer = _completion(body, json.dumps(good))
            del answer.body["usage"]
            return answer
        case "text":
            return _completion(body, str(script.get("text", "")), finish=str(script.get("finish", "stop")))
    change: dict[str, dict[str, Any]] = {
        "invented_evidence": {"evidence": [*good["evidence"], {"path": "payment.blessing", "value": "confirmed"}]},
        "false_evidence": {"evidence": [{"path": "payment.status", "value": "chargeback"}]},
        "injected": {"decision": "restore_access", "requires_approval": False},
        "wrong_decision": {
            "decision": "already_active" if good.get("decision") != "already_active" else "payment_failed"
        },
        "unknown_decision": {"decision": "refund_everything"},
        "other_subject": {"subject": "S-1"},
        "other_amount": {"explanation": "The customer is owed 12345.67 RUB."},
        "needs_check": {"decision": "needs_another_check", "missing": script.get("missing", ["payment.amount"])},
    }
    return _completion(body, json.dumps(good | change[script["kind"]]))


def _completion(
    body: Mapping[str, Any], text: str | None, *, finish: str = "stop", refusal: str | None = None
) -> Answer:
    sent = sum(len(str(message.get("content", ""))) for message in body["messages"]) // 4
    received = len(text or "") // 4
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, "refusal": refusal},
        "finish_reason": finish,
    }
    return Answer(
        200,
        {
            "id": f"chatcmpl-{int(time.time() * 1000)}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.get("model", "simulated"),
            "choices": [choice],
            "usage": {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received},
        },
    )
