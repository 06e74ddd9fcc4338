"""What is too large, too deep, too much or too slow is refused with an answer of the 400s, and holds nobody else up."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from caseflow import edge, web_server
from caseflow.domain.canonical import MAX_BYTES, MAX_DEPTH, MAX_ITEMS
from stand.ports import free_port
from tests.api.conftest import machine_of
from tests.steps import fingerprint

ROOT = Path(__file__).resolve().parents[2]
CASES = "/api/v1/cases/"


def nested(depth: int) -> bytes:
    return b'{"intake":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b" " * (MAX_BYTES + 1), 413),
        (nested(MAX_DEPTH + 2), 400),
        (nested(20_000), 400),
        (b"[" * 200_000, 400),
        (b'{"a":[' + b"1," * MAX_ITEMS + b"1]}", 400),
        (b"{" + b",".join(b'"k%d":1' % number for number in range(MAX_ITEMS + 1)) + b"}", 400),
        (b'{"a":' + b"9" * 100_000 + b"}", 400),
    ],
    ids=["large", "deep", "very deep", "unclosed", "many entries", "many names", "a long number"],
)
def test_a_body_beyond_a_limit_is_refused_and_nothing_is_stored(acme: Any, body: bytes, status: int) -> None:
    machine = machine_of(acme)
    machine.get(CASES)  # which notes that its token is used
    before = fingerprint()

    answer = machine.client.post(CASES, body, content_type="application/json")

    assert answer.status_code == status
    assert fingerprint() == before


@pytest.mark.parametrize("path", ["/console/sign-in/", "/console/language/", "/admin/login/"])
@pytest.mark.parametrize(
    "form",
    [{"next": "x" * (MAX_BYTES + 1)}, {str(number): "x" for number in range(401)}],
    ids=["large", "many fields"],
)
def test_a_form_beyond_a_limit_is_refused(anybody: Client, path: str, form: dict[str, str]) -> None:
    kind = "application/x-www-form-urlencoded"
    body = "&".join(f"{name}={value}" for name, value in form.items())

    assert anybody.post(path, body, content_type=kind).status_code in (400, 403, 413)
    assert Client(raise_request_exception=False).post(path, body, content_type=kind).status_code in (400, 413)
    assert Client(raise_request_exception=False).post(path, form).status_code in (400, 413)


def test_no_form_takes_a_file(anybody: Client) -> None:
    answer = Client(raise_request_exception=False).post("/console/language/", {"file": SimpleUploadedFile("f", b"x")})
    assert answer.status_code == 400


@pytest.mark.parametrize("path", ["/console/cases/", CASES, "/healthz", "/nothing"])
def test_a_query_beyond_the_limit_is_refused(anybody: Client, path: str) -> None:
    assert anybody.get(f"{path}?q={'x' * (edge.LONGEST_QUERY - 2)}").status_code != 414
    assert anybody.get(f"{path}?q={'x' * (edge.LONGEST_QUERY - 1)}").status_code == 414


def test_a_query_of_too_many_fields_is_refused(anybody: Client) -> None:
    answer = anybody.get("/console/sign-in/?" + "&".join(f"{number}=" for number in range(401)))
    assert answer.status_code in (200, 400)


SLOW = """
from caseflow import web_server
from caseflow.web_server import *
web_server.SILENCE = 1
workers, threads = 1, 1
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The real web server with one thread, which waits one second for a silent client."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "slow.py").write_text(SLOW)
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--config", f"{folder}/slow.py", "caseflow.wsgi"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--bind", f"127.0.0.1:{port}"], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
        )
    end = time.monotonic() + 60
    while b"Listening at" not in (folder / "log").read_bytes() or not _answer(port, b"GET /healthz HTTP/1.1\r\n\r\n"):
        assert process.poll() is None and time.monotonic() < end, (folder / "log").read_text()
        time.sleep(0.05)
    yield port
    process.terminate()
    process.wait(20)


def _open(port: int, text: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(text)
    return connection


def _answer(port: int, text: bytes) -> bytes:
    try:
        with _open(port, text) as connection:
            return connection.recv(4096)
    except OSError:
        return b""


HEALTHY = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "begun",
    [
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        b"POST /console/sign-in/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: 100\r\n\r\nusername=",
    ],
    ids=["in a header", "in a body"],
)
def test_a_silent_client_holds_nobody_up(server: int, begun: bytes) -> None:
    with _open(server, begun):  # as many as there are threads
        assert _answer(server, HEALTHY).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz?" + b"x" * 9000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: " + b"x" * 9000 + b"\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"".join(b"X-%d: x\r\n" % n for n in range(60)) + b"\r\n",
    ],
    ids=["a long line", "a long header", "many headers"],
)
def test_a_head_beyond_the_limits_is_refused_before_the_application(server: int, head: bytes) -> None:
    assert _answer(server, head).startswith(b"HTTP/1.1 4")
    assert _answer(server, HEALTHY).startswith(b"HTTP/1.1 200")


def test_the_limit_of_silence_is_shorter_than_people_wait() -> None:
    assert 1 <= web_server.SILENCE <= 30
