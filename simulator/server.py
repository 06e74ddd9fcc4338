"""The sockets: reads a request, lets a scripted fault happen to it, answers. Can go down for a while and come back."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import socketserver
import struct
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from simulator.control import KINDS, answer_control
from simulator.faults import Fault
from simulator.wire import Answer, AsOf, BadRequest, Request
from simulator.world import World

MAX_BODY = 64 * 1024 * 1024  #: bytes; a whole world fits
SLICE = 0.05  #: seconds; a wait notices within this time that the server went down
MAX_DOWN = 600.0  #: seconds
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class ConnectionGone(Exception):
    """The connection ends here, without an answer."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], world: World) -> None:
        self.world = world
        self.down_for: float | None = None
        self.closed = threading.Event()
        self._connections: set[socket.socket] = set()
        super().__init__(address, Handler)

    def server_bind(self) -> None:
        # HTTPServer asks the resolver for its own name here, which can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that went away is no news here.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def go_down(self, seconds: float, but: socket.socket) -> None:
        """Stop listening and close every connection but the one that asked. `run` listens again afterwards."""
        self.down_for = seconds
        self.shutdown()
        self.server_close()
        for connection in list(self._connections):
            if connection is not but:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.closed.set()


def run(host: str, port: int, world: World, ready: Callable[[int], None]) -> None:
    """Serve until the process is told to end; after an outage, again on the same port."""
    announce: Callable[[int], None] | None = ready
    while True:
        server = Server((host, port), world)
        port = server.server_port
        if announce is not None:
            announce(port)
            announce = None
        server.serve_forever(poll_interval=SLICE)
        server.closed.wait()
        time.sleep(server.down_for or 0)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 120  #: seconds an idle connection is kept
    disable_nagle_algorithm = True
    server: Server
    connection: socket.socket

    def log_message(self, format: str, *args: Any) -> None:
        """The ledger is the log."""

    def answer_any(self) -> None:
        try:
            request = self._read()
            world = self.server.world
            answer = answer_control(world.ledger, world.faults, request) or world.bells.answer(request)
            if answer is None:
                answer = world.model.control(request)
            if answer is not None and answer.status == 200 and request.method == "PATCH":
                world.bells.changed(KINDS[request.parts[0]], request.parts[1])
            if answer is not None:
                self._send(_bytes(answer))
            elif (request.method, request.parts) == ("POST", ("down",)):
                self._go_down(request)
            else:
                self._answer_world(request)
        except BadRequest as problem:
            self._send(_bytes(Answer.problem(400, "bad_request", message=str(problem))))
        except (ConnectionGone, ConnectionError, TimeoutError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer_any

    def _read(self) -> Request:
        url = urlsplit(self.path)
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") or not length.isdigit() or int(length) > MAX_BODY:
            self.close_connection = True
            raise BadRequest("a body needs a Content-Length of at most 64 MiB")
        raw = self.rfile.read(int(length))
        try:
            body = json.loads(raw) if raw else None
        except (ValueError, RecursionError):
            raise BadRequest("the body is not JSON") from None
        return Request(
            method=self.command,
            parts=tuple(unquote(part) for part in url.path.strip("/").split("/")),
            query=dict(parse_qsl(url.query)),
            body=body,
            key=self.headers.get("Idempotency-Key", ""),
            request_id=self.headers.get("X-Request-Id", ""),
        )

    def _go_down(self, request: Request) -> None:
        seconds = request.body.get("seconds") if isinstance(request.body, dict) else None
        if not isinstance(seconds, int | float) or not 0 <= seconds <= MAX_DOWN:
            raise BadRequest(f"seconds is a number up to {MAX_DOWN}")
        self.close_connection = True
        # The answer comes after the sockets are closed: whoever reads it knows that connections are refused now.
        self.server.go_down(float(seconds), but=self.connection)
        self._send(_bytes(Answer(202, {"down_for": seconds}, {"Connection": "close"})))

    def _answer_world(self, request: Request) -> None:
        world = self.server.world
        fault = world.faults.take(request)
        row = world.ledger.note_request(
            request_id=request.request_id,
            method=request.method,
            path=request.path,
            key=request.key,
            fault=fault.kind if fault else "",
        )
        if fault is not None and fault.kind == "stale_read":
            request = replace(request, as_of=AsOf(fault.seconds))
        early = self._before(request, fault) if fault is not None else None
        answer = self._apply(request, fault) if early is None else early
        world.ledger.note_answer(row, answer.status)
        self._send_badly(answer, fault)

    def _before(self, request: Request, fault: Fault) -> Answer | None:
        """What goes wrong before anything is applied: an answer, a lost connection, or None to go on."""
        retry = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
        match fault.kind:
            case "delay":
                self._wait(fault.wait)
            case "drop_before":
                raise ConnectionGone
            case "reset":
                self._reset()
            case "error_before":
                return Answer(fault.status, {"code": "scripted_error"}, retry)
            case "conflict":
                return Answer.problem(409, "in_progress")
            case "too_many":
                return Answer(429, {"code": "too_many_requests"}, {"Retry-After": "1", **retry})
        return None

    def _apply(self, request: Request, fault: Fault | None) -> Answer:
        world = self.server.world
        if request.method != "POST" or not request.key or request.parts[0] == "legacy":
            return self._after(world.answer(request), fault)
        with world.keys.held(request.key) as ours:
            if not ours:
                return Answer.problem(409, "in_progress")
            return self._after(world.answer(request), fault)

    def _after(self, answer: Answer, fault: Fault | None) -> Answer:
        match fault.kind if fault else "":
            case "delay_after":
                self._wait(fault.wait if fault else 0)
            case "drop_after":
                raise ConnectionGone
            case "reset_after":
                self._reset()
            case "error_after":
                return Answer(fault.status if fault else 500, {"code": "scripted_error"})
        return answer

    def _send_badly(self, answer: Answer, fault: Fault | None) -> None:
        match fault.kind if fault else "":
            case "huge":
                self._send(_bytes(answer, b'{"id":"' + b"x" * (fault.bytes if fault else 0) + b'"}'))
            case "garbage":
                self._send(_bytes(answer, b"<html>it works</html>"))
            case "drip" if fault is not None:
                self._drip(_bytes(answer), fault)
            case _:
                self._send(_bytes(answer))

    def _drip(self, data: bytes, fault: Fault) -> None:
        head = 0 if fault.head else data.index(b"\r\n\r\n") + 4
        self._send(data[:head])
        end = time.monotonic() + 60
        for position in range(head, len(data)):
            self._wait(min(fault.wait, max(0.0, end - time.monotonic())))
            self._send(data[position : position + 1])

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            # A program that is down applies nothing later on.
            if self.server.closed.wait(min(left, SLICE)):
                raise ConnectionGone

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        # The server's own close says goodbye with a FIN first; closing the bare descriptor sends the RST.
        os.close(self.connection.detach())
        raise ConnectionGone

    def _send(self, data: bytes) -> None:
        self.connection.sendall(data)


def _bytes(answer: Answer, body: bytes | None = None) -> bytes:
    if body is None:
        body = json.dumps(answer.body, ensure_ascii=True).encode()
    lines = [f"HTTP/1.1 {answer.status} {_phrase(answer.status)}", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Scripted"
