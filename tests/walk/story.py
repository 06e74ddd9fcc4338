"""Something on every page: cases in many states, brought there by what machines and people send from outside."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from stand.people import SignedIn
from tests.flows.running import Running, Ticket

FIRST = 4831  #: number of the first ticket
REPORTS = "/console/reports/{organisation}/{department}/{kind}/{period}/"
LINK = "https://helpdesk.example.org/"


@dataclass
class Told:
    """What the places of `tests.walk.pages` stand for, and who has signed in, once each."""

    running: Running
    places: dict[str, str] = field(default_factory=dict)
    _people: dict[str, SignedIn] = field(default_factory=dict)

    def person(self, username: str) -> SignedIn:
        if username not in self._people:
            self._people[username] = self.running.sign_in(username)
        return self._people[username]

    def resume(self) -> None:
        """Let the organisation go on that the story paused."""
        answer = self.person("globex-operator").send(f"/console/pauses/{self.places['pause']}/end/", reason="–")
        assert answer.status_code == 200, answer.text

    def close(self) -> None:
        for person in self._people.values():
            person.close()


class Teller:
    def __init__(self, running: Running) -> None:
        self.running = running
        self.told = Told(running)
        self._number = FIRST

    def tell(self) -> Told:
        """Everything that does not hang together is begun first and waited for once."""
        run = self.running
        waiting, done, stopped, asked, data, stale = (
            self._ticket(),
            self._ticket(),
            self._ticket(payment={"amount": "490.00"}),
            self._ticket(payment={"amount": "1490.00"}),
            self._ticket(payment={"status": "pending"}),
            self._ticket(),
        )
        doubtful = self._ticket()
        self._lose_the_answer(doubtful)
        advised = self._advised()
        cases = {
            name: run.open(ticket)
            for name, ticket in [
                ("waiting", waiting), ("done", done), ("stopped", stopped), ("asked", asked), ("data", data),
                ("stale", stale), ("doubtful", doubtful),
            ]
        }  # fmt: skip
        run.wait_for_state("WAITING_APPROVAL", *(cases[one] for one in ("waiting", "done", "stale", "doubtful")))
        run.wait_for_state("NEEDS_ATTENTION", cases["stopped"], cases["asked"])
        run.wait_for_state("WAITING_DATA", cases["data"])
        run.put(payments=[payment_of(stale) | {"status": "refunded"}])
        for name in ("done", "stale", "doubtful"):
            self._approve(cases[name])
        self._hold(cases["stopped"])
        report = self._report()
        recovery = self._order_by_hand(cases["asked"])
        preview, bulk = self._bulk(cases["stopped"]), self._bulk(cases["stopped"])
        self._confirm(bulk)
        self._administer()
        pause = self._pause()
        run.wait_for_state("COMPLETED", cases["done"], report["case"])
        run.wait_for_state("NEEDS_ATTENTION", cases["stopped"])
        run.wait_for(lambda: self._status(cases["doubtful"]) == "UNKNOWN")
        places = self.told.places
        places |= {name: cases[name] for name in ("waiting", "done", "stopped", "data", "doubtful")}
        places |= {
            "proposal": run.proposals(cases["waiting"])[-1]["id"],
            "decided": run.proposals(cases["done"])[-1]["id"],
            "stale": run.proposals(cases["stale"])[0]["id"],
            "advised": run.proposals(advised)[-1]["id"],
            "action": self._effect(cases["done"]),
            "doubt": self._effect(cases["doubtful"]),
            "person": str(run.one("SELECT id FROM accounts_person WHERE username = 'viewer'")),
            "recovery": recovery,
            "preview": preview,
            "bulk": bulk,
            "pause": pause,
            "report": REPORTS.format_map(report),
            "document": self._document(report),
        }
        return self.told

    def _advised(self) -> str:
        """A case in which a model proposes, once it has mended an answer that the rules refused."""
        admin, place = self.told.person("admin"), "/console/admin/choosing/acme/"
        chosen = {"process": "restore_access", "rules_take_over": "on"}
        assert admin.send(place, **chosen, proposer="model:main").status_code == 200
        said = {"kind": "wrong_decision", "times": 1}
        self.running.outside.post("/model/answers", json=said).raise_for_status()
        case = self.running.open(self._ticket())
        self.running.wait_for_state("WAITING_APPROVAL", case)
        assert admin.send(place, process="restore_access", proposer="rules").status_code == 200
        return case

    def _report(self) -> dict[str, Any]:
        """Of a month that is over; from the second story on the one that is owed already."""
        wanted = {"organisation": "acme", "department": "sales", "kind": "requests", "period": "2024-02"}
        answer = self.told.person("operator").post("/api/v1/reports/", wanted)
        assert answer.status_code in (200, 201), answer.text
        return wanted | {"case": answer.json()["case"], "address": answer.json()["links"]["self"]}

    def _document(self, report: dict[str, Any]) -> str:
        return str(self.told.person("operator").get(report["address"]).json()["editions"][0]["document"])

    def _ticket(self, **world: Any) -> Ticket:
        while True:
            name, self._number = str(self._number), self._number + 1
            if not self.running.ask("SELECT 1 FROM cases_case WHERE external_id = %s", f"T-{name}"):
                return self.running.a_ticket(name=name, **world)

    def _lose_the_answer(self, ticket: Ticket) -> None:
        """The change happens and nobody can say so, as long as these faults last."""
        self.running.script("drop_after", method="POST", path=f"/subscriptions/{ticket.subscription}/activate")
        self.running.script("error_before", method="GET", path="/operations/*", times=None)

    def _approve(self, case: str) -> None:
        answer = self.told.person("approver").decide(self.running.proposals(case)[-1], "approve", reason="")
        assert answer.status_code == 201, answer.text

    def _hold(self, case: str) -> None:
        person = self.told.person("operator")
        for path, said in (("take", {}), ("note", {"text": "Клиент пришлёт чек до вечера / receipt by tonight"})):
            assert person.send(f"/console/cases/{case}/{path}/", **said).status_code == 200

    def _order_by_hand(self, case: str) -> str:
        body = {
            "kind": "finish_by_hand",
            "version": self.running.case(case)["version"],
            "reason": "–",
            "evidence": f"{LINK}receipt",
        }
        answer = self.told.person("recoverer").post(f"/api/v1/cases/{case}/recoveries/", body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["recovery"]["id"])

    def _bulk(self, *cases: str) -> str:
        answer = self.told.person("operator").post("/api/v1/bulk/", {"kind": "observe_again", "cases": list(cases)})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def _confirm(self, bulk: str) -> None:
        body = {"count": 1, "reason": "–"}
        answer = self.told.person("operator").post(f"/api/v1/bulk/{bulk}/confirm/", body)
        assert answer.status_code == 200, answer.text

    def _administer(self) -> None:
        admin, name = self.told.person("admin"), f"CRM {time.time_ns()}"
        owner = self.running.one("SELECT id FROM accounts_person WHERE username = 'operator'")
        machine = {"name": name, "owner": str(owner), "rights": ["open_case"], "life": "90"}
        assert admin.send("/console/admin/machines/acme/new/", **machine).status_code == 200
        assert admin.send("/console/admin/doorbells/acme/new/", name=name, system="payments").status_code == 200
        hook = {"name": name, "channel": "webhook", "url": "http://127.0.0.1:9/hook", "language": "ru"}
        assert admin.send("/console/admin/hooks/acme/new/", **hook, kinds=["attention"]).status_code == 200
        (made,) = self.running.ask(
            "SELECT a.public_id AS machine, t.prefix AS token, s.public_id AS bell, h.public_id AS hook"
            " FROM accounts_serviceaccount a"
            " JOIN accounts_servicetoken t ON t.account_id = a.id JOIN cases_webhooksource s ON s.name = a.name"
            " JOIN operations_hook h ON h.name = a.name WHERE a.name = %s",
            name,
        )
        self.told.places |= made

    def _pause(self) -> str:
        """In an organisation of its own: what the other stories wait for goes on."""
        reason = "Плановые работы у платёжной системы / planned work"
        said = {"what": "process:restore_access", "where": "globex", "lasts": "168", "reason": reason}
        assert self.told.person("globex-operator").send("/console/pauses/", **said).status_code == 200
        newest = "SELECT public_id FROM cases_pause WHERE ended_at IS NULL ORDER BY id DESC LIMIT 1"
        return str(self.running.one(newest))

    def _effect(self, case: str) -> str:
        found = self.running.ask(
            "SELECT a.public_id FROM actions_action a JOIN cases_case c ON c.id = a.case_id"
            " WHERE c.public_id = %s AND a.kind = 'effect'",
            case,
        )
        return str(found[-1]["public_id"]) if found else ""

    def _status(self, case: str) -> str:
        action = self._effect(case)
        return str(self.running.one("SELECT status FROM actions_action WHERE public_id = %s", action)) if action else ""


def payment_of(ticket: Ticket) -> dict[str, Any]:
    """What the payment service may be told of it: paid in full."""
    return {
        "id": ticket.payment,
        "customer_id": ticket.customer,
        "subscription_id": ticket.subscription,
        "amount": "990.00",
        "currency": "RUB",
    }
