"""One case through everything there is, full of words to look for: in no log, no Redis, no address, no title.

What a case is called (the ticket's own id) is its name and may stand in an address; who it is about, what they paid and
what they said may not. A case's history is stored in PostgreSQL for those in sight of the case and may name the payment
whose state changed; what a person wrote, and their address, it may not.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import redis

from tests.flows.log_lines import require_tied
from tests.flows.running import Running, Ticket

NAME = uuid.uuid4().hex[:8]
CLAIM, REASON, EMAIL = f"claim-{NAME}", f"reason-{NAME}", f"mail-{NAME}"
CUSTOMER, PAYMENT, SUBSCRIPTION = f"U-who-{NAME}", f"PAY-paid-{NAME}", f"S-what-{NAME}"
AMOUNT = "8271.93"
PASSWORD_WORDS = ("demo-operator-2026", "demo-approver-2026")
#: What people wrote and what they are called.
PERSONAL = (CLAIM, REASON, EMAIL)
#: That, and who it is about and what they paid.
ALL = (*PERSONAL, CUSTOMER, PAYMENT, SUBSCRIPTION, AMOUNT, *PASSWORD_WORDS)


class Eavesdropper:
    """Hears every command that any process sends to Redis."""

    def __init__(self, url: str) -> None:
        self.url, self.heard = url, []
        self._client = redis.Redis.from_url(url)
        self._monitor = self._client.monitor()
        self._monitor.__enter__()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        try:
            for command in self._monitor.listen():
                self.heard.append(command["command"])
        except (redis.RedisError, OSError, ValueError, AttributeError):
            return

    def kept(self) -> list[str]:
        """Every key and its value, whatever its type; each page of a list."""
        with redis.Redis.from_url(self.url) as server:
            readers = {
                b"string": server.get,
                b"list": lambda key: server.lrange(key, 0, -1),
                b"hash": server.hgetall,
                b"set": server.smembers,
                b"zset": lambda key: server.zrange(key, 0, -1),
                b"none": lambda key: None,  # it ran out while it was looked at
            }
            return [f"{key!r} {readers[server.type(key)](key)!r}" for key in server.scan_iter()]

    def close(self) -> None:
        self._monitor.connection.disconnect()
        self._thread.join(10)
        self._client.close()


@dataclass
class Browser:
    """A person at the console and at the API; remembers every address and every title."""

    base_url: str
    username: str
    addresses: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.client = httpx2.Client(
            base_url=self.base_url,
            follow_redirects=True,
            timeout=30,
            trust_env=False,
            event_hooks={"response": [self._remember]},
        )
        self.client.get("/console/sign-in/")
        self.press("/console/sign-in/", username=self.username, password=f"demo-{self.username}-2026")

    def _remember(self, response: httpx2.Response) -> None:
        response.read()
        self.addresses += [str(response.request.url), response.headers.get("Location", "")]
        if response.headers.get("Content-Type", "").startswith("text/html"):
            self.titles += re.findall(r"<title>(.*?)</title>", response.text, re.DOTALL)
            self.links += re.findall(r'(?:href|action|src)="([^"]*)"', response.text)

    @property
    def _csrf(self) -> str:
        return next(value for name, value in self.client.cookies.items() if "csrf" in name)

    def see(self, path: str) -> str:
        return self.client.get(path).text

    def press(self, path: str, **form: str) -> httpx2.Response:
        said = form | {"csrfmiddlewaretoken": self._csrf}
        return self.client.post(path, data=said, headers={"Referer": self.base_url})

    def tell(self, path: str, **body: Any) -> httpx2.Response:
        return self.client.post(path, json=body, headers={"X-CSRFToken": self._csrf, "Referer": self.base_url})


@pytest.fixture
def watched(running: Running) -> Iterator[Running]:
    """With an access log, as an installation may keep one."""
    running.system.told["web"] = {"GUNICORN_CMD_ARGS": "--access-logfile -"}
    running.system.stop("web")
    running.start("web")
    yield running
    del running.system.told["web"]
    running.system.stop("web")
    running.start("web")


@pytest.fixture
def ear(watched: Running) -> Iterator[Eavesdropper]:
    heard = Eavesdropper(watched.bell.url)
    yield heard
    heard.close()


def tickets(running: Running) -> Ticket:
    running.put(
        customers=[{"id": CUSTOMER, "email": f"{EMAIL}@example.org", "language": "ru"}],
        payments=[
            {"id": PAYMENT, "customer_id": CUSTOMER, "subscription_id": SUBSCRIPTION, "amount": AMOUNT,
             "currency": "RUB"}
        ],
        subscriptions=[
            {"id": SUBSCRIPTION, "customer_id": CUSTOMER, "plan": "basic", "price": AMOUNT, "currency": "RUB"}
        ],
    )  # fmt: skip
    intake = {"customer_id": CUSTOMER, "subscription_id": SUBSCRIPTION, "payment_id": f"{PAYMENT}-typo"}
    body = {
        "organisation": "acme",
        "process": "restore_access",
        "source": "helpdesk",
        "external_id": f"T-{NAME}",
        "source_url": f"https://helpdesk.example.org/T-{NAME}",
        "intake": intake | {"claim": f"{CLAIM} money was taken"},
    }
    return Ticket(f"T-{NAME}", CUSTOMER, PAYMENT, SUBSCRIPTION, body)


def send_nonsense(running: Running, ticket: Ticket, browser: Browser) -> None:
    """Every way of getting it wrong that is written down somewhere, with the same words in it."""
    machine = running.machine
    machine.post("/api/v1/cases/", json=ticket.body | {"nothing": CLAIM})
    machine.post("/api/v1/cases/", json=ticket.body | {"intake": ticket.body["intake"] | {"claim": CLAIM * 1000}})
    machine.post("/api/v1/cases/", json=ticket.body | {"intake": ticket.body["intake"] | {"claim": f"{CLAIM} other"}})
    machine.post(
        "/api/v1/cases/", content=f'{{"claim": "{CLAIM}'.encode(), headers={"Content-Type": "application/json"}
    )
    machine.get("/api/v1/cases/", headers={"Authorization": f"Bearer cf_{CLAIM}"})
    browser.press("/console/sign-in/", username=EMAIL, password=REASON)
    browser.press("/console/cases/C-0000000000/supply/", payment_id=PAYMENT)
    browser.tell("/api/v1/cases/C-0000000000/data/", data={"claim": CLAIM})


def act(running: Running) -> tuple[str, list[Browser]]:
    """From a ticket with a wrong payment to the end: supplied, shown, returned, approved, in doubt, told, exported."""
    ticket = tickets(running)
    operator, approver = (Browser(running.system.base_url, name) for name in ("operator", "approver"))
    case = running.open(ticket)
    running.wait_for_state("WAITING_DATA", case)
    page = f"/console/cases/{case}/"
    send_nonsense(running, ticket, operator)
    for path in (page, f"/console/cases/?q=T-{NAME}", f"{page}status/"):
        assert operator.see(path)
    revision = re.search(r'name="revision" value="(\d+)"', operator.see(page))
    assert revision
    operator.press(f"{page}supply/", payment_id=PAYMENT, revision=revision[1])
    running.wait_for_state("WAITING_APPROVAL", case)
    assert CLAIM in operator.press(f"{page}show-text/", field="intake.claim").text
    assert CLAIM in approver.tell(f"/api/v1/cases/{case}/reveal/", field="intake.claim").text

    seen = running.proposals(case)[-1]
    said = {"digest": seen["digest"], "version": seen["case_version"], "reason": f"{REASON} again"}
    approver.see(f"/console/approvals/{seen['id']}/")
    approver.tell(f"/api/v1/proposals/{seen['id']}/decision/", decision="return", **said)
    running.wait_for_state("WAITING_APPROVAL", case)
    running.script("garbage", method="POST", path=f"/subscriptions/{SUBSCRIPTION}/activate")
    seen = running.proposals(case)[-1]
    form = {"digest": seen["digest"], "version": str(seen["case_version"]), "reason": f"{REASON} good"}
    approver.press(f"/console/approvals/{seen['id']}/approve/", **form)
    running.wait_for_state("COMPLETED", case)

    auditor = Browser(running.system.base_url, "auditor")
    people = [operator, approver, auditor]
    for browser in people:
        for path in ("/console/", page, "/console/cases/", "/console/approvals/?view=all", "/console/audit/",
                     f"/api/v1/cases/{case}/timeline/", f"/api/v1/cases/{case}/facts/"):  # fmt: skip
            browser.see(path)
    assert auditor.tell("/api/v1/audit/export/", organisation="acme").status_code == 200
    running.system.manage("explain_case", case, "--as", "operator", "--language", "en")
    for browser in people:
        browser.client.close()
    return case, people


def found(words: tuple[str, ...], texts: dict[str, str]) -> dict[str, list[str]]:
    """Where which of the words stand."""
    hits = {where: [word for word in words if word.lower() in text.lower()] for where, text in texts.items()}
    return {where: those for where, those in hits.items() if those}


def test_a_case_from_its_ticket_to_its_end_leaves_no_personal_word_where_it_does_not_belong(
    watched: Running, ear: Eavesdropper
) -> None:
    case, people = act(watched)
    logs = {
        path.name: path.read_text(errors="replace")
        for path in Path(watched.system.processes.logs).glob("*.log")
        if path.name != "simulator.log"  # the outside world, which knows its own customers
    }
    history = watched.ask(
        "SELECT e.seq, e.kind, convert_from(e.body, 'UTF8') AS body FROM audit_auditevent e"
        " LEFT JOIN cases_case c ON c.id = e.case_id WHERE c.public_id = %s OR e.case_id IS NULL",
        case,
    )
    tasks = watched.ask("SELECT t.*::text AS row FROM cases_task t JOIN cases_case c ON c.id = t.case_id"
                        " WHERE c.public_id = %s", case)  # fmt: skip

    # The words were really there, and the places are really looked at.
    assert {"web.log", "worker-1.log", "worker-2.log", "dispatcher.log"} <= set(logs)
    assert f"GET /console/cases/{case}/ " in logs["web.log"]
    require_tied(watched, logs, case)
    assert any("run_task" in command for command in ear.heard)
    assert len(history) > 15 and tasks and len(people[0].titles) > 5

    assert found(ALL, logs) == {}
    assert found(ALL, {f"Redis heard {number}": text for number, text in enumerate(ear.heard)}) == {}
    assert found(ALL, {text[:60]: text for text in ear.kept()}) == {}
    for person in people:
        assert found(ALL, {f"address {text}": text for text in person.addresses}) == {}
        assert found(ALL, {f"title {text}": text for text in person.titles}) == {}
        assert found(PERSONAL, {f"link {text}": text for text in person.links}) == {}
    assert found(PERSONAL, {f"event {row['seq']} {row['kind']}": row["body"] for row in history}) == {}
    assert found(ALL, {f"task {number}": row["row"] for number, row in enumerate(tasks)}) == {}


def test_what_is_looked_for_would_be_found(ear: Eavesdropper) -> None:
    """The ear hears a word that a process would send, and finds it where it was kept."""
    with redis.Redis.from_url(ear.url) as server:
        server.set("caseflow:probe", CLAIM)
        kept = ear.kept()
        server.delete("caseflow:probe")

    assert list(found(ALL, {text[:30]: text for text in kept}).values()) == [[CLAIM]]
    assert any(CLAIM in command for command in ear.heard)
