"""Open work of every kind for the drills: made over the public faces of a running system, judged by what is outside."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import psycopg

from stand.people import SignedIn
from stand.soak.plan import chance
from stand.soak.run import put_world
from stand.story import machine
from stand.system import System
from tests.data.make_tickets import World, make_ticket

FIRST_NUMBER = 700_001
PATIENCE = 300.0  #: seconds for one step of a case on a busy machine

Order = dict[str, Any]  #: of something that goes wrong outside, as the simulator takes it

#: A look-up gets no answer, so a doubt stays one.
NO_LOOKUP: Order = {"match": {"method": "GET", "path": "/operations/*"}, "fault": {"kind": "error_before"}}
#: Letters to customers are not taken yet, so they stay due.
NO_MAIL: Order = {
    "match": {"method": "POST", "path": "/mail/messages"},
    "fault": {"kind": "too_many", "retry_after": 2},
}
#: The subscription of one case is activated, and nobody hears of it.
LOST_ANSWER: Order = {
    "match": {"method": "POST", "path": "/subscriptions/{subscription}/activate"},
    "fault": {"kind": "drop_after"},
    "times": 1,
}
#: The payment of one case cannot be read, so it stays in CHECKING.
NO_PAYMENT: Order = {"match": {"method": "GET", "path": "/payments/{payment}"}, "fault": {"kind": "error_before"}}


class OpenWork:
    """Opens tickets, lets things go wrong outside, and says what became of both."""

    def __init__(self, system: System, told: dict[str, Any]) -> None:
        self.system = system
        self.outside_of = system  #: whose outside world it is; it stays where it is when a system is restored elsewhere
        self.told = told
        self._number = FIRST_NUMBER
        self._rng = chance(9, "open work")
        self.tickets: dict[str, dict[str, Any]] = {}  #: case → body
        self.token = str(told["token"])

    def open(self, ending: str, *faults: Order) -> str:
        """A ticket that ends this way when nothing else happens; what the faults name of it is filled in first."""
        world: World = {"customers": [], "payments": [], "subscriptions": []}
        body = make_ticket(self._number, ending, "acme", world, self._rng) | {"organisation": "acme"}
        self._number += 1
        put_world(self.system.simulator_url, world)
        names = {name.removesuffix("_id"): value for name, value in body["intake"].items() if name.endswith("_id")}
        for order in faults:
            match = {name: value.format(**names) for name, value in order["match"].items()}
            self.go_wrong(order | {"match": match})
        with machine(self.system.base_url, self.token) as api:
            # The same ticket again is the same case, so it may be sent until it is told.
            told = answered(self.system, lambda: api.post("/api/v1/cases/", json=body))
        case = str(told.raise_for_status().json()["id"])
        self.tickets[case] = body
        return case

    def go_wrong(self, *orders: Order) -> None:
        with self._outside() as outside:
            for order in orders:
                outside.post("/faults", json={"times": None, **order}).raise_for_status()

    def go_right(self) -> None:
        """Nothing goes wrong outside any more."""
        with self._outside() as outside:
            outside.delete("/faults").raise_for_status()

    def state(self, case: str) -> str:
        with machine(self.system.base_url, self.token) as api:
            told = answered(self.system, lambda: api.get(f"/api/v1/cases/{case}/"))
            return str(told.raise_for_status().json()["state"])

    def wait(self, case: str, *states: str) -> str:
        """Until the case is in one of the states; which."""
        found: str = self.system.wait_for(
            lambda: state if (state := self.state(case)) in states else "", patience=PATIENCE, every=0.5
        )
        return found

    def sign_in(self, username: str) -> SignedIn:
        person = next(one for one in self.told["sign_ins"] if one["username"] == username)

        def sign_in() -> SignedIn | None:
            try:
                return SignedIn(self.system.base_url, username, person["password"])
            except (httpx2.HTTPError, RuntimeError):
                return None

        found: SignedIn = self.system.wait_for(sign_in, patience=PATIENCE, every=1.0)
        return found

    def approve(self, case: str) -> None:
        """As a person who reads the newest plan and agrees."""
        person = self.sign_in("approver")
        try:
            listed = answered(self.system, lambda: person.get(f"/api/v1/cases/{case}/proposals/"))
            plans = listed.raise_for_status().json()["results"]
            plan = [plan for plan in plans if plan["has_effects"]][-1]
            told = answered(self.system, lambda: person.decide(plan, "approve"))
            # Only the answer to an earlier one may have been lost.
            if told.status_code not in (200, 201) and told.json().get("code") != "already_decided":
                raise RuntimeError(f"{case} could not be approved: {told.status_code} {told.text[:300]}")
        finally:
            person.close()

    def effects(self, case: str) -> dict[str, str]:
        """The status of each effect of the case by its id, from the table itself."""
        with psycopg.connect(self.system.administrator_url, autocommit=True) as connection:
            rows = connection.execute(
                "SELECT a.public_id, a.status FROM actions_action a JOIN cases_case c ON c.id = a.case_id"
                " WHERE c.public_id = %s AND a.kind = 'effect'",
                [case],
            ).fetchall()
        return dict(rows)

    def wait_for_effect(self, case: str, status: str) -> None:
        self.system.wait_for(lambda: status in self.effects(case).values(), patience=PATIENCE, every=0.2)

    def activations(self, case: str) -> int:
        """How often this case's subscription was activated outside."""
        subscription = self.tickets[case]["intake"]["subscription_id"]
        return sum(effect["subject"] == subscription for effect in ledger(self.outside_of)["effects"])

    def _outside(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.system.simulator_url, trust_env=False, timeout=60)


def ledger(system: System) -> dict[str, list[dict[str, Any]]]:
    """Effects, and requests that wanted to write, of the outside world's own file, behind everybody's back."""
    file = Path(system.folder) / "simulator-ledger"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as book:
        book.row_factory = sqlite3.Row
        effects = [dict(row) for row in book.execute("SELECT * FROM effects ORDER BY rowid")]
        writes = [
            dict(row) for row in book.execute("SELECT * FROM requests WHERE method = 'POST' AND key <> '' ORDER BY id")
        ]
    return {"effects": effects, "writes": writes}


def doubled(effects: list[dict[str, Any]]) -> list[str]:
    """Keys with more than one effect, and subscriptions that were activated more than once."""
    keys = Counter(effect["key"] for effect in effects)
    subjects = Counter(effect["subject"] for effect in effects if effect["system"] == "subscriptions")
    return [name for counts in (keys, subjects) for name, times in counts.items() if times > 1]


def answered(system: System, ask: Callable[[], httpx2.Response]) -> httpx2.Response:
    """Asks until the answer is no failure of the server: a busy machine lets a connection to PostgreSQL time out."""

    def once() -> httpx2.Response | None:
        try:
            answer = ask()
        except httpx2.HTTPError:
            return None
        return None if answer.status_code >= 500 else answer

    # A response is false where it is no success; it is one of those that are wanted.
    found: list[httpx2.Response] = system.wait_for(
        lambda: [answer] if (answer := once()) is not None else [], patience=PATIENCE, every=1.0
    )
    return found[0]


def undo_from_now_on(system: System, seconds: int) -> None:
    """How long a decision may be taken back is what the web server was told when it was started."""
    system.told["web"] = {**system.told.get("web", {}), "CASEFLOW_UNDO_SECONDS": str(seconds)}
    system.stop("web")
    system.start("web")
    system.wait_ready("web")


def end_undo_window(system: System, case: str = "") -> None:
    """What was approved may be sent now: of this case, or of all."""
    with psycopg.connect(system.administrator_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE cases_task t SET available_at = clock_timestamp() FROM cases_case c WHERE c.id = t.case_id"
            " AND t.status = 'due' AND t.stage = 'execute' AND %s IN ('', c.public_id)",
            [case],
        )


def hasten(system: System, *stages: str) -> None:
    """What waits for a later try is tried now: a drill does not wait minutes, more of them the busier it is here."""
    with psycopg.connect(system.administrator_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE cases_task SET available_at = clock_timestamp() WHERE status = 'due' AND stage = ANY(%s)",
            [list(stages)],
        )
