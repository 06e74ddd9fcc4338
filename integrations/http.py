"""One small HTTP client with a total deadline. It tells "not sent" from "sent, but no trustworthy answer".

Reads share kept connections. A write always has a connection of its own: on a kept one that the other side
closes at the same moment, nobody can tell whether the request was read, and "not sent" would be a guess.
There are no redirects, no cookies, no proxies from the environment and no compressed answers. A host that is not on the
list of outgoing hosts is refused before its name is even looked up.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import httpcore2

from integrations.outgoing import AllowList, NotOnTheList, NotPublic, is_public, place_of

MAX_ANSWER = 1024 * 1024  #: bytes
KEEP_ALIVE = 20.0  #: seconds; shorter than what servers usually keep
LONGEST_HEADER = 4096  #: characters; a signed token is long
MAX_CONNECTIONS = 32  #: per adapter and process


class NotSent(Exception):
    """No byte of the request left: it cannot have been applied."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NoAnswer(Exception):
    """The request may have been sent, and no whole answer came."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class BadAnswer(Exception):
    """An answer that cannot be understood."""


class BadAddress(ValueError):
    """Not a name that can stand in an address."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str] = field(repr=False)  #: names in lower case
    body: bytes = field(repr=False)

    def json(self) -> dict[str, Any]:
        """The body as a JSON object. Raises BadAnswer."""
        try:
            value = json.loads(self.body.decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise BadAnswer("the answer is not JSON") from error
        if not isinstance(value, dict):
            raise BadAnswer("the answer is not a JSON object")
        return value

    @property
    def code(self) -> str:
        """The stable code of an error answer, "" without one."""
        try:
            code = self.json().get("code")
        except BadAnswer:
            return ""
        # It is stored and shown: a short word or nothing.
        return code if isinstance(code, str) and len(code) <= 64 and code.isascii() and code.isprintable() else ""


def path_of(*parts: str) -> str:
    """An address path; each part is quoted, so a subject can never name another address. Raises BadAddress."""
    for part in parts:
        if part in ("", ".", "..") or len(part) > 512 or not part.isprintable():
            raise BadAddress(f"{part[:40]!r} cannot stand in an address")
    return "/" + "/".join(quote(part, safe="") for part in parts)


class HttpClient:
    def __init__(
        self,
        base_url: str,
        *,
        allowed: AllowList | None = None,
        headers: Mapping[str, str] | None = None,
        public_only: bool = False,
    ) -> None:
        """Without `allowed` only the host of `base_url` is. `headers` go with every request, such as who we are.
        `public_only`: a name that leads to an address of a private network is refused, where somebody else chose it.

        Raises ValueError for an address that is none, or not allowed, and for what cannot stand in a header.
        """
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
            raise ValueError(f"{base_url!r} is not the base address of a system")
        self._allowed = allowed or AllowList.of_address(base_url)
        self._allowed.require(*place_of(base_url))
        self._public_only = public_only
        self._base_url = base_url.rstrip("/")
        self._own = [(name, _header_text(value, LONGEST_HEADER)) for name, value in (headers or {}).items()]
        self._pid = 0
        self._lock = threading.Lock()

    def get(self, path: str, *, call_id: str, within: timedelta, at_most: int = MAX_ANSWER) -> Answer:
        """Raises NotSent, NoAnswer. Goes once more when a kept connection had been closed by the other side.

        `at_most` are the bytes of the largest answer that is read.
        """
        clock = _Clock(within)
        kept, fresh = self._pools()
        headers = [*_headers(call_id), *self._own]
        try:
            return _call(kept, "GET", self._base_url + path, headers, None, clock, at_most)
        except NoAnswer as lost:
            if lost.code != "connection_lost" or clock.connected:
                raise
        return _call(fresh, "GET", self._base_url + path, headers, None, clock, at_most)

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        key: str,
        call_id: str,
        within: timedelta,
        send_by: float | None = None,
        headers: Mapping[str, str] | None = None,
        at_most: int = MAX_ANSWER,
    ) -> Answer:
        """Sends exactly once, and nothing from `send_by` on (monotonic seconds). Raises NotSent, NoAnswer."""
        _, fresh = self._pools()
        # The same request gives the same bytes: a system that compares bodies under one key must see no difference.
        content = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
        sent = [
            *_headers(call_id),
            *self._own,
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(content))),
            ("Idempotency-Key", _header_text(key)),
            ("Connection", "close"),
            *((name, _header_text(value)) for name, value in (headers or {}).items()),
        ]
        return _call(fresh, "POST", self._base_url + path, sent, content, _Clock(within, send_by), at_most)

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        content: bytes | None,
        *,
        within: timedelta,
        send_by: float | None = None,
    ) -> Answer:
        """One request as the caller wrote it, sent exactly once over a connection of its own.

        Raises NotSent, NoAnswer, and ValueError for what cannot stand in a header.
        """
        _, fresh = self._pools()
        named = {"User-Agent": "caseflow", "Accept": "application/json", **headers}
        named |= {"Accept-Encoding": "identity", "Connection": "close"}
        if content is not None:
            named["Content-Length"] = str(len(content))
        written = [(name, _header_text(value, LONGEST_HEADER)) for name, value in named.items()] + self._own
        return _call(fresh, method, self._base_url + path, written, content, _Clock(within, send_by))

    def close(self) -> None:
        """Close the kept connections. The client can be used again afterwards."""
        with self._lock:
            if self._pid == os.getpid():
                self._kept.close()
                self._fresh.close()
            self._pid = 0

    def _pools(self) -> tuple[httpcore2.ConnectionPool, httpcore2.ConnectionPool]:
        """Pools of this process: a connection inherited over a fork would be shared by two."""
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                self._kept = _pool(self._backend(), keep=MAX_CONNECTIONS)
                self._fresh = _pool(self._backend(), keep=0)
            return self._kept, self._fresh

    def _backend(self) -> _DeadlineBackend:
        return _DeadlineBackend(self._allowed, public_only=self._public_only)


class _Clock:
    """The one deadline of one call, when the right to send ends, and whether it opened a connection of its own."""

    def __init__(self, within: timedelta, send_by: float | None = None) -> None:
        self._end = time.monotonic() + within.total_seconds()
        self._send_by = send_by
        self._sending = False
        self.connected = False

    def may_send(self) -> None:
        """Asked before every write: a process that was stopped for a while wakes up right there."""
        if self._send_by is None or time.monotonic() < self._send_by:
            self._sending = True
        elif self._sending:
            raise NoAnswer("lease_over", "the right to send ended while the request was being sent")
        else:
            raise NotSent("lease_over", "the right to send had ended before the request left")

    def left(self, timeout: type[Exception]) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise timeout("the deadline of the call is over")
        return left


#: httpcore hands no per-call object down to its streams; a synchronous call stays in its thread.
_current = threading.local()


class _DeadlineBackend(httpcore2.NetworkBackend):
    """Every wait on the socket gets what is left of the call, so that dripping bytes cannot stretch it."""

    def __init__(self, allowed: AllowList, *, public_only: bool = False) -> None:
        self._allowed = allowed
        self._public_only = public_only

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        clock: _Clock = _current.clock
        # Here, and not only where the address was put together: this line stands before every socket.
        self._allowed.require(host, port)
        try:
            # The resolver's own limits apply to this line; nothing can interrupt it.
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # UnicodeError: no name can be like this
            raise httpcore2.ConnectError(f"the name {host} is not known") from error
        refusal: Exception = httpcore2.ConnectError(f"the name {host} has no address")
        for address in dict.fromkeys(str(entry[4][0]) for entry in found):
            # The very address that is connected to: a name may lead elsewhere each time it is asked.
            if self._public_only and not is_public(address):
                raise NotPublic(host, address)
            try:
                stream = httpcore2.SyncBackend().connect_tcp(
                    address, port, clock.left(httpcore2.ConnectTimeout), socket_options=socket_options or []
                )
            except httpcore2.ConnectError as error:
                refusal = error
            else:
                clock.connected = True
                return _DeadlineStream(stream)
        raise refusal


class _DeadlineStream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _current.clock.left(httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # In pieces: each wait of the socket below starts its time-out anew.
        for start in range(0, len(buffer), 65536):
            _current.clock.may_send()
            self._stream.write(buffer[start : start + 65536], _current.clock.left(httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = _current.clock.left(httpcore2.ConnectTimeout)
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _pool(backend: _DeadlineBackend, *, keep: int) -> httpcore2.ConnectionPool:
    return httpcore2.ConnectionPool(
        max_connections=MAX_CONNECTIONS,
        max_keepalive_connections=keep,
        keepalive_expiry=KEEP_ALIVE,
        retries=0,
        network_backend=backend,
    )


def _call(
    pool: httpcore2.ConnectionPool,
    method: str,
    url: str,
    headers: list[tuple[str, str]],
    content: bytes | None,
    clock: _Clock,
    at_most: int = MAX_ANSWER,
) -> Answer:
    _current.clock = clock
    try:
        waiting = {"pool": clock.left(httpcore2.PoolTimeout)}
        with pool.stream(method, url, headers=headers, content=content, extensions={"timeout": waiting}) as response:
            body = bytearray()
            for chunk in response.iter_stream():
                body += chunk
                if len(body) > at_most:
                    raise NoAnswer("answer_too_large", f"the answer is larger than {at_most} bytes")
            named = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            return Answer(response.status, named, bytes(body))
    except NotOnTheList as error:
        raise NotSent("host_not_allowed", str(error)) from error
    except NotPublic as error:
        raise NotSent("address_not_public", str(error)) from error
    except httpcore2.ConnectError as error:
        refused = isinstance(error.__cause__, ConnectionRefusedError) or "refused" in str(error).lower()
        raise NotSent("connection_refused" if refused else "no_connection", str(error)) from error
    except (httpcore2.ConnectTimeout, httpcore2.PoolTimeout) as error:
        raise NotSent("connect_timeout", "no connection within the deadline") from error
    except (httpcore2.TimeoutException, TimeoutError) as error:
        raise NoAnswer("timeout", "no answer within the deadline") from error
    except (httpcore2.NetworkError, httpcore2.RemoteProtocolError, OSError) as error:
        raise NoAnswer("connection_lost", "the connection was lost before the whole answer came") from error
    finally:
        del _current.clock


def _headers(call_id: str) -> list[tuple[str, str]]:
    return [
        ("User-Agent", "caseflow"),
        ("Accept", "application/json"),
        ("Accept-Encoding", "identity"),
        ("X-Request-Id", _header_text(call_id)),
    ]


def _header_text(text: str, longest: int = 255) -> str:
    if not text or len(text) > longest or not text.isascii() or not text.isprintable():
        raise ValueError(f"a header is 1 to {longest} printable ASCII characters")
    return text


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
