"""GET /livez on 127.0.0.1: what a supervisor above ours, or a person, asks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Ask = Callable[[], tuple[bool, dict[str, Any]]]


def serve_livez(port: int, ask: Ask) -> ThreadingHTTPServer:
    """Answer in threads of its own until `shutdown`. Raises OSError when the port is taken."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 5  # seconds for a slow asker
        server_version, sys_version = "caseflow", ""

        def do_GET(self) -> None:
            if self.path != "/livez":
                self._answer(HTTPStatus.NOT_FOUND, {"status": "not found"})
                return
            works, findings = ask()
            self._answer(HTTPStatus.OK if works else HTTPStatus.SERVICE_UNAVAILABLE, findings)

        def _answer(self, status: HTTPStatus, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode() + b"\n"
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing: it is asked every few seconds."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, name="livez", daemon=True).start()
    return server
