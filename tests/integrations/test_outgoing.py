"""Requests go to hosts on the list, and nowhere else: not by a setting, not by an answer, not by the environment."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from caseflow.invariants.outside import LedgerUnreadable, read_ledger
from integrations.http import HttpClient, NotSent
from integrations.outgoing import AllowList, NotOnTheList, is_public
from integrations.payments import Payments
from integrations.registry import get_adapter, outgoing
from tests.integrations.conftest import Outside

ROOT = Path(__file__).resolve().parents[2]
WITHIN = timedelta(seconds=5)


class Elsewhere(BaseHTTPRequestHandler):
    """A server that counts who comes, and sends them on to `to`."""

    came: list[str]
    to: str

    def do_GET(self) -> None:
        self.came.append(self.path)
        self.send_response(302 if self.to else 200)
        self.send_header("Location", self.to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[type[Elsewhere]]:
    handler = type("Handler", (Elsewhere,), {"came": [], "to": ""})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    handler.url = f"http://127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "https://pay.example.org:8443", "http://pay.example.org"])
def test_an_adapter_at_a_host_that_is_not_on_the_list_cannot_even_be_made(url: str) -> None:
    with pytest.raises(NotOnTheList):
        Payments(base_url=url, allowed=AllowList(["pay.example.org", "mail.example.org:8443"]))


@pytest.mark.parametrize("host", ["example..org", f"{'a' * 64}.example.org"])
def test_a_name_that_no_host_can_have_is_an_answer_and_no_crash(host: str) -> None:
    client = HttpClient(f"https://{host}", allowed=AllowList([host]))
    with pytest.raises(NotSent) as refused:
        client.get("/", call_id="call-1", within=WITHIN)
    assert refused.value.code == "no_connection"


def test_what_is_not_on_the_list_is_refused_before_its_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    client = HttpClient("https://pay.example.org", allowed=AllowList(["pay.example.org"]))
    # As if some later code put another address together.
    client._base_url = "http://169.254.169.254"
    asked: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: asked.append(a))
    monkeypatch.setattr(socket.socket, "connect", lambda *a, **k: asked.append(a))

    for send in (
        lambda: client.get("/latest/", call_id="call-1", within=WITHIN),
        lambda: client.post("/latest/", {}, key="key-1", call_id="call-1", within=WITHIN),
    ):
        with pytest.raises(NotSent) as refused:
            send()
        assert refused.value.code == "host_not_allowed"
    assert asked == []


def test_a_redirect_is_not_followed_not_even_to_a_host_on_the_list(elsewhere: Any, simulator: Outside) -> None:
    elsewhere.to = f"{simulator.url}/healthz"
    client = HttpClient(
        elsewhere.url, allowed=AllowList.of_address(elsewhere.url) | AllowList.of_address(simulator.url)
    )

    answer = client.get("/somewhere", call_id="call-1", within=WITHIN)

    assert (answer.status, elsewhere.came) == (302, ["/somewhere"])
    client.close()


def test_a_proxy_of_the_environment_is_not_asked(
    elsewhere: Any, simulator: Outside, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, elsewhere.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    settings.SIMULATOR_URL = simulator.url

    assert get_adapter("payments").read("payment", "missing", call_id="call-1") == {"status": "not_found"}
    assert isinstance(read_ledger(simulator.url), list)
    assert elsewhere.came == []


def test_a_ledger_somewhere_else_is_not_read(elsewhere: Any, simulator: Outside, settings: Any) -> None:
    settings.SIMULATOR_URL = simulator.url

    with pytest.raises(LedgerUnreadable, match="not on the list"):
        read_ledger(elsewhere.url)
    assert elsewhere.came == []


def test_the_simulator_is_reached_only_where_there_is_one(settings: Any) -> None:
    settings.SIMULATOR_URL = ""
    settings.CASEFLOW_OUTGOING_HOSTS = ["pay.example.org"]

    outgoing().require("pay.example.org", 443)
    with pytest.raises(NotOnTheList):
        outgoing().require("127.0.0.1", 9)


@pytest.mark.parametrize("entry", ["*", "*.example.org", "https://pay.example.org", "pay.example.org/path", "", "a@b"])
def test_an_entry_names_one_host(entry: str) -> None:
    with pytest.raises(ValueError):
        AllowList([entry])


def test_case_and_a_closing_dot_make_no_other_host() -> None:
    AllowList(["Pay.Example.org"]).require("pay.example.org.", 443)


def test_no_other_module_opens_connections_of_its_own() -> None:
    """Who speaks HTTP goes through the client with the list. `socket` names the machine, never connects.

    Mail goes to the one server that the installation names, by Django's own backend. A container's health check asks
    its own process on 127.0.0.1.
    """
    rooms = (
        "accounts", "actions", "approvals", "audit", "cases", "caseflow", "documents", "integrations", "operations",
    )  # fmt: skip
    names = r"httpx2|httpcore2|urllib\.request|urllib3|http\.client|requests|smtplib|ftplib|django\.core\.mail"
    opening = re.compile(rf"^\s*(import|from)\s+({names})\b|socket\.create_connection|\.connect_ex\(", re.MULTILINE)
    found = {
        str(path.relative_to(ROOT))
        for room in rooms
        for path in (ROOT / room).rglob("*.py")
        if opening.search(path.read_text())
    }
    assert found == {
        "caseflow/healthy.py",
        "integrations/http.py",
        "integrations/smtp_mail.py",
        "operations/telling_staff.py",
    }


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),  # noqa: S104  # named, not bound
        ("224.0.0.1", False),
        ("::1", False),
        ("fd00::1", False),
        ("fe80::1%eth0", False),
        ("::ffff:10.0.0.7", False),
        ("2002:0a00:0007::1", False),
        ("64:ff9b::a00:7", False),
        ("64:ff9b::5db8:d822", True),
        ("desk.example.org", False),
    ],
)
def test_an_address_inside_is_known_in_every_form(address: str, public: bool) -> None:
    assert is_public(address) is public
