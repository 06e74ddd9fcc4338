"""The `stripe` package over our own connections: it writes and reads Stripe's words, and never carries them.

Its own carriers wait anew for every piece of an answer, and tell Stripe about this machine. Here every call has one
deadline, goes to listed hosts only, and is sent once: `max_network_retries` is 0, since repeating is decided by the
engine, under a key it knows the age of.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Protocol

import stripe

from caseflow.domain.outcomes import FaultKind, NotApplied, Outcome, ReadFailed, Refused, Unknown
from integrations.answers import read_failed, retry_after
from integrations.contract import System
from integrations.http import Answer, BadAnswer, HttpClient, NoAnswer, NotSent
from integrations.outgoing import AllowList

#: What is told to Stripe. The package would add the machine's system, and what it guesses of the program around it.
HEADERS = frozenset(
    {"authorization", "content-type", "idempotency-key", "stripe-version", "stripe-account", "stripe-context"}
)
#: It writes addresses, which hold ids of customers and payments.
logging.getLogger("stripe").setLevel(logging.WARNING)
stripe.enable_telemetry = False

#: Stripe counts in the smallest unit of a currency (docs.stripe.com, "Supported currencies", as of 2026).
WITHOUT_DECIMALS = frozenset(
    ["BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"]
)
THREE_DECIMALS = frozenset(["BHD", "JOD", "KWD", "OMR", "TND"])

#: A name of an object; anything else could name another address.
OBJECT = re.compile(r"[A-Za-z0-9_]{1,255}", re.ASCII)


class Answered(Protocol):
    """What every call of the package returns."""

    @property
    def last_response(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Told:
    """A 2xx answer: the object as Stripe wrote it, and the answer's headers in lower case."""

    data: Mapping[str, Any]
    headers: Mapping[str, str]


class StripeSystem(System):
    """The common part of the adapters for Stripe: one client, and what its errors mean."""

    takes_allowed: ClassVar[bool] = True
    read_deadline: ClassVar[timedelta] = timedelta(seconds=5)  #: whole call, look-ups too
    perform_deadline: ClassVar[timedelta] = timedelta(seconds=10)  #: whole call; Stripe's writes may take seconds

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str = "https://api.stripe.com",
        deadline: timedelta | None = None,
        allowed: AllowList | None = None,
    ) -> None:
        """`deadline` replaces both class deadlines. Raises ValueError without a key, or for an address not allowed."""
        if not api_key:
            raise ValueError("there is no key for Stripe: set CASEFLOW_STRIPE_KEY")
        self._carrier = Carrier(HttpClient(base_url, allowed=allowed), base_url.rstrip("/"))
        self._stripe = stripe.StripeClient(
            api_key, base_addresses={"api": base_url.rstrip("/")}, http_client=self._carrier, max_network_retries=0
        )
        self._read_within = deadline or self.read_deadline
        self._perform_within = deadline or self.perform_deadline

    def close(self) -> None:
        self._carrier.close()

    def _get(self, ask: Callable[[stripe.StripeClient], Answered], *, call_id: str) -> Told:
        """Raises NotSent, NoAnswer, BadAnswer, and stripe.StripeError for an answer other than 2xx."""
        with self._carrier.call(call_id, self._read_within, None):
            return _told(ask(self._stripe))

    def _fact(
        self,
        subject: str,
        ask: Callable[[stripe.StripeClient], Answered],
        missing: Mapping[str, Any],
        value: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        *,
        call_id: str,
    ) -> Mapping[str, Any]:
        """An object as facts; Stripe's own word that it does not exist is one, too. Raises ReadFailed."""
        if not OBJECT.fullmatch(subject):
            return missing
        try:
            return value(self._get(ask, call_id=call_id).data)
        except (NotSent, NoAnswer, BadAnswer) as failure:
            raise read_failed(self.name, failure) from failure
        except stripe.StripeError as error:
            # Only Stripe's own word makes a 404 a fact: a wrong address answers 404 too.
            if error.http_status == 404 and is_missing(error):
                return missing
            raise self._read_failed(error) from error

    def _write(
        self,
        ask: Callable[[stripe.StripeClient], Answered],
        *,
        call_id: str,
        send_by: float | None,
    ) -> Told | Outcome:
        """The 2xx answer, to be understood by the caller; everything else already as an outcome."""
        try:
            with self._carrier.call(call_id, self._perform_within, send_by):
                return _told(ask(self._stripe))
        except NotSent as failure:
            return NotApplied(failure.code, str(failure))
        except NoAnswer as failure:
            return Unknown(failure.code, str(failure))
        except BadAnswer as failure:
            return Unknown("bad_answer", str(failure))
        except stripe.StripeError as error:
            return outcome_of(error)

    def _read_failed(self, error: stripe.StripeError) -> ReadFailed:
        failed = read_failed(self.name, Answer(error.http_status or 500, lower(error.headers), b""))
        failed.code = code_of(error)
        return failed


class Carrier(stripe.HTTPClient):
    """Carries what the package wrote. It says "not sent" and "no answer" by our own exceptions, which the package
    lets pass."""

    name = "caseflow"

    def __init__(self, http: HttpClient, base_url: str) -> None:
        super().__init__()
        self._http = http
        self._base_url = base_url
        self._calls = threading.local()

    def call(self, call_id: str, within: timedelta, send_by: float | None) -> _Call:
        return _Call(self._calls, call_id, within, send_by)

    def request(
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: Any = None, **_: Any
    ) -> tuple[str, int, Mapping[str, str]]:
        if not url.startswith(f"{self._base_url}/"):
            raise NotSent("another_address", "the package named another address than that of the system")
        call: _Call = self._calls.now
        told = {name: text for name, text in (headers or {}).items() if name.lower() in HEADERS}
        content = post_data.encode() if isinstance(post_data, str) else post_data
        answer = self._http.send(
            method.upper(),
            url.removeprefix(self._base_url),
            told | {"X-Request-Id": call.call_id},
            content,
            within=call.within,
            send_by=call.send_by,
        )
        try:
            return answer.body.decode(), answer.status, answer.headers
        except UnicodeDecodeError as error:
            raise BadAnswer("the answer is no text") from error

    def close(self) -> None:
        self._http.close()


class _Call:
    """What the call of this thread has, which the package knows no place for."""

    def __init__(self, calls: threading.local, call_id: str, within: timedelta, send_by: float | None) -> None:
        self._calls = calls
        self.call_id = call_id
        self.within = within
        self.send_by = send_by

    def __enter__(self) -> None:
        self._calls.now = self

    def __exit__(self, *_: object) -> None:
        del self._calls.now


def outcome_of(error: stripe.StripeError) -> Outcome:
    """What Stripe's error to a write means (docs.stripe.com: "Error handling", "Idempotent requests")."""
    status, code = error.http_status or 0, code_of(error)
    message = f"it answered {status}" if status else "its answer cannot be understood"
    if 200 <= status < 300:
        return Unknown("bad_answer", "its answer cannot be understood")
    match status:
        case 429:
            # Refused by its limits or locks before anything was done.
            return NotApplied(code, message, retry_after(Answer(status, lower(error.headers), b"")))
        case 408 | 409 | 425:
            return Unknown(code, message)  # 409: another request under this key is under way
        case 401 | 403:
            return Refused(code, message, FaultKind.NOT_PERMITTED)
        case 400 if said_of(error, "type") == "idempotency_error":
            return Refused("idempotency_mismatch", message, FaultKind.PERMANENT)
        case 400 | 402 | 404 | 422:
            return Refused(code, message, FaultKind.INVALID_DATA)
    if 400 <= status < 500:
        return Refused(code, message, FaultKind.PERMANENT)
    return Unknown(code, message)


def is_missing(error: stripe.StripeError) -> bool:
    """Stripe's own "no such object" names the type of error; a wrong address names none."""
    return said_of(error, "type") == "invalid_request_error" and said_of(error, "code") in ("", "resource_missing")


def said_of(error: stripe.StripeError, name: str) -> str:
    """A short stable word of the error's body, such as its `type` or `code`; "" without one."""
    body = error.json_body if isinstance(error.json_body, dict) else {}
    inner = body.get("error")
    word = inner.get(name) if isinstance(inner, dict) else None
    return word if isinstance(word, str) and len(word) <= 64 and word.isascii() and word.isprintable() else ""


def code_of(error: stripe.StripeError) -> str:
    return said_of(error, "code") or said_of(error, "type") or f"http_{error.http_status}"


def money(units: Any, currency: str) -> str:
    """A number of smallest units as text: 99000, "rub" → "990.00". Raises BadAnswer."""
    if not isinstance(units, int) or isinstance(units, bool) or abs(units) >= 10**12:
        raise BadAnswer("an amount is no whole number of units")
    code = currency.upper()
    places = 0 if code in WITHOUT_DECIMALS else 3 if code in THREE_DECIMALS else 2
    sign, digits = "-" if units < 0 else "", str(abs(units)).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"


def lower(headers: Mapping[str, str] | None) -> Mapping[str, str]:
    return {name.lower(): text for name, text in (headers or {}).items()}


def _told(answer: Answered) -> Told:
    response = answer.last_response
    data = getattr(response, "data", None)
    if not isinstance(data, dict):
        raise BadAnswer("the answer is not a JSON object")
    return Told(data, lower(response.headers))
