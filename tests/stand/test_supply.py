"""What the product is made of is written down, and looked up for known holes where somebody can be asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from stand import supply
from stand.ports import free_port

HOLE = {
    "id": "OSV-0000-1",
    "summary": "a hole",
    "modified": "2026-01-01T00:00:00Z",
    "affected": [{"package": {"name": "django", "ecosystem": "PyPI"}, "ranges": [], "versions": []}],
}


class KnowsHoles(BaseHTTPRequestHandler):
    """As OSV answers: what is known of one version of one package."""

    holes: dict[str, Any] = {}
    asked: list[str] = []

    def do_GET(self) -> None:
        self._say({})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["package"]["name"]
        self.asked.append(asked)
        self._say({"vulns": [self.holes[asked]]} if asked in self.holes else {})

    def _say(self, answer: Any) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    KnowsHoles.holes, KnowsHoles.asked = {}, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), KnowsHoles)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_bill_names_what_is_locked_and_is_the_same_each_time(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"

    assert supply.write_bill(first) == supply.write_bill(second) == supply.locked()
    assert first.read_bytes() == second.read_bytes()
    bill = json.loads(first.read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "caseflow")
    assert {"django", "dramatiq", "psycopg"} <= set(supply.locked())


def test_a_bill_without_a_package_is_no_bill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supply, "locked", lambda: {"django": "0"})

    with pytest.raises(supply.WrongBill, match="django"):
        supply.write_bill(tmp_path / "bill.json")


def test_where_nobody_can_be_asked_it_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    service = f"http://127.0.0.1:{free_port()}/"

    assert supply.audit(service) == 0
    assert capfd.readouterr().out == f"vulnerability audit: not run, {service} cannot be reached from here\n"


def test_a_known_hole_fails_the_audit(service: str, capfd: pytest.CaptureFixture[str]) -> None:
    KnowsHoles.holes = {"django": HOLE}

    assert supply.audit(service) != 0
    assert "OSV-0000-1" in capfd.readouterr().out
    assert "django" in KnowsHoles.asked


def test_without_a_known_hole_the_audit_is_clean(service: str) -> None:
    assert supply.audit(service) == 0
    assert len(KnowsHoles.asked) > 20
