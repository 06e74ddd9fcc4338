"""The real outside world: the simulator as its own process, with its own ledger file."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from integrations.addresses import Addresses
from integrations.mail import Mail
from integrations.payments import Payments
from integrations.rest import RestSystem
from integrations.rest_config import read_file
from integrations.subscriptions import Subscriptions

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = timedelta(seconds=0.7)


class Outside:
    """One simulator process and its back door."""

    def __init__(self, ledger: Path) -> None:
        self.ledger = ledger
        self.port = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "simulator", "--port", str(self.port), "--ledger", str(self.ledger)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("simulator ready on http://127.0.0.1:"), line
        self.url = line.split()[-1]
        self.port = int(self.url.rsplit(":", 1)[1])
        self.door = httpx2.Client(base_url=self.url, trust_env=False, timeout=10)

    def kill(self) -> None:
        """kill -9"""
        self.process.kill()
        self._clear_up()

    def end(self) -> int:
        self.process.terminate()
        return self._clear_up()

    def _clear_up(self) -> int:
        self.door.close()
        code = self.process.wait(10)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        # Escaped by hand, so that a test can put odd texts into the world as well.
        content = None if body is None else json.dumps(body)
        return self.door.request(method, path, content=content, headers=named)

    def script(self, kind: str, *, method: str = "POST", path: str = "*", times: int | None = 1, **fault: Any) -> None:
        order = {"match": {"method": method, "path": path}, "fault": {"kind": kind, **fault}, "times": times}
        assert self.ask("POST", "/faults", order).status_code == 201

    def go_down(self, seconds: float) -> None:
        assert self.ask("POST", "/down", {"seconds": seconds}).status_code == 202

    def wait_until_up(self) -> None:
        end = time.monotonic() + 10
        while True:
            try:
                self.ask("GET", "/healthz").raise_for_status()
                return
            except httpx2.TransportError:
                assert time.monotonic() < end, "the simulator did not come back"

    def effects(self, key: str) -> list[dict[str, Any]]:
        return [effect for effect in self.ask("GET", "/ledger").json()["effects"] if effect["key"] == key]

    def requests(self, key: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.door.get("/ledger/requests", params={"key": key}).json()["requests"]
        return found

    def new_subscription(self, **fields: Any) -> str:
        id = f"sub_{uuid.uuid4().hex}"
        subscription = {"id": id, "customer_id": "cus_1", "plan": "basic", "price": "990.00", **fields}
        self.ask("PUT", "/world", {"subscriptions": [subscription]}).raise_for_status()
        return id

    def new_payment(self, **fields: Any) -> str:
        id = f"pay_{uuid.uuid4().hex}"
        payment = {"id": id, "customer_id": "cus_1", "subscription_id": "sub_1", "amount": "990.00", **fields}
        self.ask("PUT", "/world", {"payments": [payment]}).raise_for_status()
        return id

    def new_correction(self, **fields: Any) -> tuple[str, str]:
        """A customer with an address, and a correction of it that waits: (customer, correction)."""
        customer, correction = f"cus_{uuid.uuid4().hex}", f"cor_{uuid.uuid4().hex}"
        world = {
            "addresses": [{"id": customer, "line": "Улица Мира, 1"}],
            "corrections": [{"id": correction, "customer_id": customer, "line": "Улица Мира, 2", **fields}],
        }
        self.ask("PUT", "/world", world).raise_for_status()
        return customer, correction


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    world = Outside(tmp_path_factory.mktemp("outside") / "ledger.sqlite3")
    yield world
    assert world.end() == 0


@pytest.fixture
def outside(simulator: Outside) -> Iterator[Outside]:
    """The world without any scripted fault, before and after."""
    simulator.ask("DELETE", "/faults")
    yield simulator
    simulator.ask("DELETE", "/faults")


@pytest.fixture
def own_outside(tmp_path: Path) -> Iterator[Outside]:
    """A simulator that the test may kill."""
    world = Outside(tmp_path / "ledger.sqlite3")
    yield world
    world.end()


@pytest.fixture
def payments(simulator: Outside) -> Iterator[Payments]:
    with closing(Payments(base_url=simulator.url, deadline=DEADLINE)) as adapter:
        yield adapter


@pytest.fixture
def subscriptions(simulator: Outside) -> Iterator[Subscriptions]:
    with closing(Subscriptions(base_url=simulator.url, deadline=DEADLINE)) as adapter:
        yield adapter


@pytest.fixture
def addresses(simulator: Outside) -> Iterator[Addresses]:
    with closing(Addresses(base_url=simulator.url, deadline=DEADLINE)) as adapter:
        yield adapter


@pytest.fixture
def mail(simulator: Outside) -> Iterator[Mail]:
    with closing(Mail(base_url=simulator.url, deadline=DEADLINE)) as adapter:
        yield adapter


#: The simulator's payments and subscriptions, described rather than programmed.
DESCRIBED = ROOT / "tests" / "integrations" / "described.toml"


def described(system: str, url: str) -> RestSystem:
    table = read_file(str(DESCRIBED))[system] | {"base_url": url}
    return RestSystem(name=system, table=table, file=DESCRIBED.name, deadline=DEADLINE)


@pytest.fixture
def described_subscriptions(simulator: Outside) -> Iterator[RestSystem]:
    with closing(described("subscriptions", simulator.url)) as adapter:
        yield adapter


@pytest.fixture
def key() -> str:
    return f"restore_access:{uuid.uuid4()}"
