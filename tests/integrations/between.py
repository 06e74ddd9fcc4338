"""A server between an adapter and an outside system: it hands requests on, keeps them, and fails as it is told."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]  #: names in lower case
    body: bytes


@dataclass
class Between:
    """What comes first in `script` answers the next request; with nothing in it the system behind does.

    An entry is (status, body, headers), or a word: `drop_before` and `drop_after` close the connection before or after
    the system behind was asked, `drip` never finishes its answer.
    """

    url: str
    behind: str = ""
    script: deque[Any] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)

    def answer(self, status: int, body: Any = None, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.script.append((status, content, {name.replace("_", "-"): text for name, text in headers.items()}))

    def fail(self, word: str) -> None:
        self.script.append(word)

    def writes(self) -> list[Asked]:
        return [one for one in self.asked if one.method == "POST"]


@contextmanager
def between(behind: str = "") -> Iterator[Between]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    found = Between(f"http://127.0.0.1:{server.server_port}", behind)
    server.between = found  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _any(self) -> None:
        found: Between = self.server.between  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        named = {name.lower(): text for name, text in self.headers.items()}
        asked = Asked(self.command, self.path, named, body)
        found.asked.append(asked)
        self.close_connection = True
        told = found.script.popleft() if found.script else None
        if told == "drop_before":
            return
        if told == "drip":
            self.send_response_only(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            for _ in range(40):
                try:
                    self.wfile.write(b" ")
                    self.wfile.flush()
                except OSError:
                    return
                time.sleep(0.05)
            return
        status, content, headers = told if isinstance(told, tuple) else _ask(found.behind, asked)
        if told == "drop_after":
            return
        self.send_response_only(status)
        for name, text in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = _any

    def log_message(self, *_: object) -> None:
        pass


def _ask(behind: str, asked: Asked) -> tuple[int, bytes, dict[str, str]]:
    parts = urlsplit(behind)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    kept = {name: text for name, text in asked.headers.items() if name not in ("host", "connection")}
    try:
        connection.request(asked.method, asked.path, asked.body or None, kept)
        answer = connection.getresponse()
        return answer.status, answer.read(), {"Content-Type": answer.headers["Content-Type"]}
    finally:
        connection.close()
