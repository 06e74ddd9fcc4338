"""A language model behind an OpenAI-compatible address: one question, one answer, one deadline, and what it cost.

`CASEFLOW_MODELS` names the providers; each has `url` and `model` and may have `structured` (the server holds answers to
a JSON schema), `parameters` (sent as they are), `seconds` (of one request), `most_tokens` (of one answer) and `prices`
(`{"in": "0.15", "out": "0.60", "currency": "USD"}` for a million tokens). Keys are apart, in `CASEFLOW_MODEL_KEYS`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

from caseflow.domain.outcomes import FaultKind, ReadFailed
from integrations.answers import read_failed
from integrations.http import BadAnswer, HttpClient, NoAnswer, NotSent
from integrations.outgoing import NotOnTheList
from integrations.registry import outgoing

MAX_ANSWER = 128 * 1024  #: bytes of one answer of a server
MAX_TEXT = 32 * 1024  #: characters of a model's words that are kept
MOST_TIME = timedelta(seconds=60)  #: of one request; three of them fit into the lease of the stage that asks
MILLION = Decimal(1_000_000)
HIGHEST_PRICE = Decimal(10_000)  #: of a million tokens: costs fit into their column whatever a server counts
FIELDS = frozenset({"url", "model", "structured", "parameters", "seconds", "most_tokens", "prices"})


@dataclass(frozen=True, slots=True)
class Prices:
    """For a million tokens, sent and received."""

    sent: Decimal = Decimal(0)
    received: Decimal = Decimal(0)
    currency: str = "USD"

    def of(self, sent: int, received: int) -> Decimal:
        return ((self.sent * sent + self.received * received) / MILLION).quantize(Decimal("0.000001"))


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a model is asked. The name of its system, for faults and owners, is `model.<name>`."""

    name: str
    url: str
    model: str
    structured: bool = True
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0})
    within: timedelta = timedelta(seconds=30)
    most_tokens: int = 1000
    prices: Prices = Prices()

    @property
    def system(self) -> str:
        return f"model.{self.name}"


@dataclass(frozen=True, slots=True)
class Said:
    """What a server answered. `text` is None where no words of a model could be read in it; `odd` then says why."""

    text: str | None
    odd: str = ""  #: not_json, no_words, refused, too_large
    raw: str = field(default="", repr=False)
    status: int | None = None
    finish_reason: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


_clients: dict[tuple[str, str], HttpClient] = {}
_lock = threading.Lock()


def list_providers() -> dict[str, Provider]:
    """As the settings name them; without any, the outside world of demo and tests is one. Raises ValueError."""
    return {name: _provider(name, said) for name, said in _named().items()}


def names_of_providers() -> list[str]:
    return list(_named())


def _named() -> Mapping[str, Any]:
    named: Mapping[str, Any] = getattr(settings, "CASEFLOW_MODELS", {})
    simulator = getattr(settings, "SIMULATOR_URL", "")
    if not named and simulator:
        return {"main": {"url": f"{simulator}/v1", "model": "simulated"}}
    return named


def get_provider(name: str = "") -> Provider:
    """The first one without a name. Raises KeyError where there is none."""
    providers = list_providers()
    if not name and providers:
        return next(iter(providers.values()))
    return providers[name]


def complete(
    provider: Provider, messages: Sequence[Mapping[str, str]], *, schema: Mapping[str, Any], call_id: str
) -> Said:
    """Ask once. Raises ReadFailed where the server does not serve us; what it says may still be nonsense."""
    body: dict[str, Any] = {
        **provider.parameters,
        "model": provider.model,
        "messages": list(messages),
        "max_tokens": provider.most_tokens,
        "stream": False,
    }
    if provider.structured:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        }
    try:
        client = client_of(provider)
    except ValueError as error:
        code = "host_not_allowed" if isinstance(error, NotOnTheList) else "cannot_be_asked"
        raise ReadFailed(system=provider.system, kind=FaultKind.PERMANENT, code=code, message=str(error)) from error
    try:
        answer = client.post(
            "/chat/completions",
            body,
            key=call_id,
            call_id=call_id,
            within=provider.within,
            at_most=MAX_ANSWER,
        )
    except NoAnswer as failure:
        if failure.code == "answer_too_large":
            return Said(None, odd="too_large", status=200)
        raise read_failed(provider.system, failure) from failure
    except NotSent as failure:
        raise read_failed(provider.system, failure) from failure
    if answer.status != 200:
        raise read_failed(provider.system, answer)
    raw = _storable(answer.body.decode("utf-8", "replace"))[:MAX_TEXT]
    try:
        return _read(answer.json(), raw)
    except BadAnswer:
        return Said(None, odd="not_json", raw=raw, status=200)


def most_cost(provider: Provider, messages: Sequence[Mapping[str, str]]) -> Decimal:
    """The most that a request can cost: a token is at least one byte of what is sent."""
    sent = sum(len(message["content"].encode()) for message in messages)
    return provider.prices.of(sent, provider.most_tokens)


def _read(body: Mapping[str, Any], raw: str) -> Said:
    choices = body.get("choices")
    choice = _object(choices[0] if isinstance(choices, list) and choices else None)
    message, usage = _object(choice.get("message")), _object(body.get("usage"))
    text, model, finish = message.get("content"), body.get("model"), choice.get("finish_reason")
    odd = ""
    if message.get("refusal"):
        odd = "refused"
    elif not isinstance(text, str):
        odd = "no_words"
    elif len(text) > MAX_TEXT:
        odd = "too_large"
    elif text != _storable(text):
        odd = "not_json"
    return Said(
        text=None if odd else text,
        odd=odd,
        raw=_storable(text)[:MAX_TEXT] if isinstance(text, str) else raw,
        status=200,
        finish_reason=_word(finish)[:32],
        model=_word(model)[:120],
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
    )


def _storable(text: str) -> str:
    """Without NUL and halves of surrogate pairs, which no column and no request takes."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


def _word(value: Any) -> str:
    return value if isinstance(value, str) and value.isascii() and value.isprintable() else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def _provider(name: str, said: Any) -> Provider:
    if not isinstance(said, Mapping) or set(said) - FIELDS or not said.get("url") or not said.get("model"):
        raise ValueError(f"the provider of models {name} needs url and model, and knows {', '.join(sorted(FIELDS))}")
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name of a provider of models")
    try:
        prices = dict(said.get("prices", {}))
        found = Provider(
            name=name,
            url=str(said["url"]),
            model=str(said["model"])[:120],
            structured=bool(said.get("structured", True)),
            parameters=dict(said.get("parameters", {"temperature": 0})),
            within=min(timedelta(seconds=float(said.get("seconds", 30))), MOST_TIME),
            most_tokens=int(said.get("most_tokens", 1000)),
            prices=Prices(
                Decimal(str(prices.get("in", 0))),
                Decimal(str(prices.get("out", 0))),
                str(prices.get("currency", "USD")),
            ),
        )
        _require_sense(found)
    except (TypeError, ValueError, OverflowError, InvalidOperation) as error:
        raise ValueError(f"the provider of models {name} cannot be read: {error}") from error
    return found


def _require_sense(provider: Provider) -> None:
    """Raises ValueError for what could be asked for or kept of no request."""
    if provider.within <= timedelta(0) or provider.most_tokens <= 0:
        raise ValueError("seconds and most_tokens are more than 0")
    prices = provider.prices
    if not all(price.is_finite() and 0 <= price <= HIGHEST_PRICE for price in (prices.sent, prices.received)):
        raise ValueError(f"a price is 0 to {HIGHEST_PRICE}")
    if not 1 <= len(prices.currency) <= 3:
        raise ValueError("a currency has three letters")
    json.dumps(provider.parameters, allow_nan=False)


def client_of(provider: Provider) -> HttpClient:
    """One per process, provider and address. Raises ValueError where that is none, its host is not on the list, or its
    key cannot stand in a header."""
    with _lock:
        known = provider.name, provider.url
        if known not in _clients:
            key = settings.CASEFLOW_MODEL_KEYS.get(provider.name, "")
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            _clients[known] = HttpClient(provider.url, allowed=outgoing(), headers=headers)
        return _clients[known]


def _forget(*, setting: str, **_: Any) -> None:
    if setting in ("CASEFLOW_MODELS", "CASEFLOW_MODEL_KEYS", "SIMULATOR_URL", "CASEFLOW_OUTGOING_HOSTS"):
        with _lock:
            for client in _clients.values():
                client.close()
            _clients.clear()


setting_changed.connect(_forget, dispatch_uid="integrations.chat")

__all__ = [
    "Prices", "Provider", "ReadFailed", "Said", "complete", "get_provider", "list_providers", "most_cost",
    "names_of_providers",
]  # fmt: skip
