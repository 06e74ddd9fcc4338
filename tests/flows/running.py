"""Caseflow as real processes, and what a test may ask of it from outside: its faces, its database, its surroundings."""

from __future__ import annotations

import os
import shutil
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx2
import psycopg
from psycopg.rows import dict_row

from stand.environment import CHECKOUT
from stand.people import SignedIn
from stand.processes import ProcessGroup
from stand.system import System
from stand.valkey import ROLE as VALKEY
from stand.valkey import EmbeddedValkey
from tests.flows.post_office import PostOffice

FAILED = CHECKOUT / ".stand" / "failed"  #: where the logs of a failed test are kept
CLOSED = ("COMPLETED", "CLOSED_NO_CHANGE")
PATIENCE = timedelta(seconds=60)  #: for anything that a living system does by itself


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request body and the things of the outside world it is about."""

    external_id: str
    customer: str
    payment: str
    subscription: str
    body: dict[str, Any]


class Bell:
    """A Redis of one's own, so that a test may empty it, stop it or kill it."""

    def __init__(self, folder: Path) -> None:
        self._processes = ProcessGroup(folder / "logs")
        self._server = EmbeddedValkey(folder, processes=self._processes).start()

    @property
    def url(self) -> str:
        return self._server.url()

    def kill(self) -> None:
        """kill -9"""
        self._processes.kill(VALKEY)

    def ensure(self) -> None:
        if VALKEY not in self._processes.pids:
            self.start()

    def start(self) -> None:
        port = self._server.port
        self._server.start()
        assert self._server.port == port, "the processes know only the old address"

    def close(self) -> None:
        self._processes.close()


class Running:
    """The running system. `ask` and `tell` speak to PostgreSQL directly, as the owner."""

    def __init__(self, system: System, bell: Bell, token: str, post_office: PostOffice | None = None) -> None:
        self.system = system
        self.bell = bell
        self.post_office = post_office
        self.outside = httpx2.Client(base_url=system.simulator_url, trust_env=False, timeout=30)
        self.machine = httpx2.Client(
            base_url=system.base_url, trust_env=False, timeout=30, headers={"Authorization": f"Bearer {token}"}
        )
        self._database = psycopg.connect(
            system.environment["DATABASE_OWNER_URL"], autocommit=True, row_factory=dict_row
        )

    def close(self) -> None:
        self.outside.close()
        self.machine.close()
        self._database.close()

    # What is true.

    def ask(self, query: str, *parameters: Any) -> list[dict[str, Any]]:
        return self._database.execute(query, parameters).fetchall()

    def one(self, query: str, *parameters: Any) -> Any:
        (row,) = self.ask(query, *parameters)
        (value,) = row.values()
        return value

    def case(self, public_id: str) -> dict[str, Any]:
        (row,) = self.ask("SELECT * FROM cases_case WHERE public_id = %s", public_id)
        return row

    def history(self, public_id: str) -> list[str]:
        """The case's audit events in order, by kind."""
        rows = self.ask(
            "SELECT e.kind FROM audit_auditevent e JOIN cases_case c ON c.id = e.case_id WHERE c.public_id = %s"
            " ORDER BY e.seq",
            public_id,
        )
        return [row["kind"] for row in rows]

    def proposals(self, public_id: str) -> list[dict[str, Any]]:
        """Plans with effects, oldest first, each with the case's version now."""
        return self.ask(
            "SELECT p.public_id AS id, p.digest, c.version AS case_version FROM approvals_proposal p"
            " JOIN cases_case c ON c.id = p.case_id WHERE c.public_id = %s AND p.has_effects ORDER BY p.number",
            public_id,
        )

    def states(self, organisation: str) -> Counter[str]:
        rows = self.ask(
            "SELECT c.state, count(*) FROM cases_case c JOIN accounts_organisation o ON o.id = c.organisation_id"
            " WHERE o.slug = %s GROUP BY 1",
            organisation,
        )
        return Counter({row["state"]: row["count"] for row in rows})

    def effects(self, *subjects: str, system: str = "subscriptions") -> list[dict[str, Any]]:
        """What really happened outside, to these subjects or to all."""
        found = self.outside.get("/ledger").raise_for_status().json()["effects"]
        return [one for one in found if one["system"] == system and (not subjects or one["subject"] in subjects)]

    def check_invariants(self) -> None:
        done = self.system.manage("verify_invariants", "--json", "--ledger", self.system.simulator_url, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    # What happens.

    def a_ticket(self, *, name: str = "", **world: Mapping[str, Any]) -> Ticket:
        """A ticket about a paid, inactive subscription of its own; `payment`, `subscription`, `customer` differ."""
        name = name or uuid.uuid4().hex[:10]
        customer, payment, subscription = f"U-{name}", f"PAY-{name}", f"S-{name}"
        price = {"currency": "RUB"}
        self.put(
            customers=[{"id": customer, "email": f"{name}@example.org", "language": "ru"} | world.get("customer", {})],
            payments=[
                {"id": payment, "customer_id": customer, "subscription_id": subscription, "amount": "990.00", **price}
                | world.get("payment", {})
            ],
            subscriptions=[
                {"id": subscription, "customer_id": customer, "plan": "basic", "price": "990.00", **price}
                | world.get("subscription", {})
            ],
        )
        intake = {"customer_id": customer, "subscription_id": subscription, "payment_id": payment}
        body = {
            "organisation": "acme",
            "process": "restore_access",
            "source": "helpdesk",
            "external_id": f"T-{name}",
            "source_url": f"https://helpdesk.example.org/T-{name}",
            "intake": intake | {"claim": "Деньги списались, доступ не открылся 😞"},
        }
        return Ticket(f"T-{name}", customer, payment, subscription, body)

    def put(self, **world: list[dict[str, Any]]) -> None:
        self.outside.put("/world", json=world).raise_for_status()

    def script(self, kind: str, *, method: str, path: str, times: int | None = 1, **fault: Any) -> None:
        """Let something go wrong outside."""
        order = {"match": {"method": method, "path": path}, "fault": {"kind": kind, **fault}, "times": times}
        self.outside.post("/faults", json=order).raise_for_status()

    def open(self, ticket: Ticket) -> str:
        """Accept a ticket through the public API; the new case's id."""
        answer = self.machine.post("/api/v1/cases/", json=ticket.body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def read_again(self, public_id: str) -> None:
        """Have the facts of a case read while it waits, as a doorbell of an outside system does; wait for it."""
        self.ask(
            "INSERT INTO cases_task (case_id, organisation_key, process, stage, subject, generation, queue, status,"
            " attempt, returned, lost, available_at, last_error, last_error_text, fence, leased_by, created_at)"
            " SELECT id, organisation_id, process || ':' || process_version, 'look', '', version, 'quick', 'due',"
            " 0, 0, 0, clock_timestamp(), '', '', 0, '', clock_timestamp() FROM cases_case WHERE public_id = %s"
            " RETURNING id",
            public_id,
        )
        self.wait_for(lambda: self.history(public_id)[-1] == "facts.observed")

    def mail_to(self, username: str, language: str, *, about: str) -> EmailMessage:
        """Give the person an address, have the regular work look for whom to tell now, and wait for the letter."""
        office, address = self.post_office, f"{username}@example.org"
        assert office is not None
        self._database.execute(
            "UPDATE accounts_person SET email = %s, language = %s WHERE username = %s", [address, language, username]
        )
        self._database.execute("UPDATE cases_schedule SET next_at = clock_timestamp() WHERE stage = 'tell_staff'")
        (letter,) = self.wait_for(lambda: office.about(about, to=address))
        self._database.execute("UPDATE accounts_person SET email = '' WHERE username = %s", [username])
        return letter

    def sign_in(self, username: str) -> SignedIn:
        return SignedIn(self.system.base_url, username, f"demo-{username}-2026")

    def approve(self, public_id: str, username: str = "approver") -> None:
        person = self.sign_in(username)
        try:
            answer = person.decide(self.proposals(public_id)[-1], "approve", reason="")
        finally:
            person.close()
        assert answer.status_code == 201, answer.text

    def wait_for(self, what: Callable[[], Any], patience: timedelta = PATIENCE) -> Any:
        return self.system.wait_for(what, patience=patience.total_seconds(), every=0.05)

    def wait_for_state(self, state: str, *public_ids: str, patience: timedelta = PATIENCE) -> None:
        """Wait until all these cases are there; a time-out says where they are instead."""
        try:
            self.wait_for(lambda: all(self.case(each)["state"] == state for each in public_ids), patience)
        except TimeoutError:
            raise AssertionError("\n".join(self.story(each) for each in public_ids)) from None

    def complete(self, *public_ids: str) -> None:
        """From wherever it is: wait for the proposal, approve, wait for the end."""
        for each in public_ids:
            self.wait_for_state("WAITING_APPROVAL", each)
            self.approve(each)
        self.wait_for_state("COMPLETED", *public_ids)

    def role_of(self, worker: str) -> str:
        """Which role the process belongs to that held a lease, from `host:pid:thread`."""
        group = os.getpgid(int(worker.split(":")[-2]))
        return next(name for name, pid in self.system.pids.items() if os.getpgid(pid) == group)

    def restart(self, name: str, **environment: str) -> None:
        """Stop a role in order and start it with these changes, which later starts keep."""
        self.system.stop(name)
        self.system.environment.update(environment)
        self.start(name)

    def start(self, *names: str) -> None:
        for name in names:
            self.system.start(name)
        for name in names:
            self.system.wait_ready(name)

    # What to look at when it went wrong.

    def story(self, public_id: str) -> str:
        """A case's whole path, for the message of a failed test."""
        case = self.case(public_id)
        lines = [f"{public_id} ({case['external_id']}): {case['state']} {case['reason']}", *self.history(public_id)]
        tasks = self.ask(
            "SELECT id, stage, status, attempt, available_at, rung_at, leased_by, last_error, last_error_text"
            " FROM cases_task WHERE case_id = %s ORDER BY id",
            case["id"],
        )
        return "\n".join(lines + [str(dict(task)) for task in tasks])

    def log_tails(self, lines: int = 40) -> Iterable[tuple[str, str]]:
        for name in self.system.processes.roles:
            yield name, self.system.processes.log_tail(name, lines)

    def keep_logs(self, name: str) -> Path:
        """Copy every log to where it outlives the run."""
        kept = FAILED / name
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.system.processes.logs, kept)
        return kept


class ScriptedApprover:
    """A person at the API who approves whatever waits in one organisation, until the block ends."""

    def __init__(self, running: Running, organisation: str, person: SignedIn) -> None:
        self.refusals: list[str] = []  #: answers that were no decision
        self.approved = 0
        self._running = running
        self._organisation = organisation
        self._person = person
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="scripted approver")

    def __enter__(self) -> ScriptedApprover:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        self._person.close()

    def _work(self) -> None:
        url = self._running.system.environment["DATABASE_OWNER_URL"]
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as database:
            while not self._stopped.wait(0.05):
                for proposal in database.execute(_WAITING, [self._organisation]).fetchall():
                    self._decide(proposal)

    def _decide(self, proposal: dict[str, Any]) -> None:
        answer = self._person.decide(proposal, "approve", reason="")
        if answer.status_code == 201:
            self.approved += 1
        else:
            self.refusals.append(f"{answer.status_code} {answer.text}")


#: The newest plan of each waiting case, with what its page would show.
_WAITING = """
SELECT DISTINCT ON (c.id) p.public_id AS id, p.digest, c.version AS case_version
FROM cases_case c JOIN accounts_organisation o ON o.id = c.organisation_id JOIN approvals_proposal p ON p.case_id = c.id
WHERE o.slug = %s AND c.state = 'WAITING_APPROVAL' AND p.has_effects ORDER BY c.id, p.number DESC
"""
