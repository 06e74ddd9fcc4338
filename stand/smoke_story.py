"""T-4821 from a POST to COMPLETED through the public API and real processes, told in one JSON line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import httpx2

from stand.people import SignedIn
from stand.system import System

WORLD = {
    "customers": [{"id": "U-12", "email": "u12@example.org", "language": "ru", "name": "U-12"}],
    "payments": [
        {
            "id": "PAY-31",
            "customer_id": "U-12",
            "subscription_id": "S-77",
            "amount": "990.00",
            "currency": "RUB",
            "status": "confirmed",
        }
    ],
    "subscriptions": [
        {
            "id": "S-77",
            "customer_id": "U-12",
            "plan": "basic",
            "price": "990.00",
            "currency": "RUB",
            "status": "inactive",
        }
    ],
}
TICKET = {
    "organisation": "acme",
    "process": "restore_access",
    "source": "helpdesk",
    "external_id": "T-4821",
    "source_url": "https://helpdesk.example.org/T-4821",
    "intake": {
        "customer_id": "U-12",
        "subscription_id": "S-77",
        "payment_id": "PAY-31",
        "claim": "Деньги списались, доступ не открылся",
    },
}


def run(system: System) -> int:
    """Drive the story; 0 when the case is COMPLETED with one effect outside and a history that says so."""
    told = system.manage_json("bootstrap", "--demo")
    sign_in = next(person for person in told["sign_ins"] if person["username"] == "approver")
    put(system, WORLD)
    with machine(system, told["token"]) as api:
        opened = api.post("/api/v1/cases/", json=TICKET)
        opened.raise_for_status()
        case_id = opened.json()["id"]
        system.wait_for(lambda: state_of(api, case_id) == "WAITING_APPROVAL")
        approver = SignedIn(system.base_url, sign_in["username"], sign_in["password"])
        proposal = approver.get(f"/api/v1/cases/{case_id}/proposals/").json()["results"][-1]
        approver.decide(proposal, "approve", reason="").raise_for_status()
        system.wait_for(lambda: state_of(api, case_id) in ("COMPLETED", "NEEDS_ATTENTION"))
        timeline = api.get(f"/api/v1/cases/{case_id}/timeline/").json()["results"]
        approver.close()
        case = api.get(f"/api/v1/cases/{case_id}/").json()
    effects = effects_in_ledger(system, "subscriptions")
    story = {
        "state": case["state"],
        "outcome": case["outcome"],
        "case": case_id,
        "external_id": case["external_id"],
        "history": [entry["event"]["kind"] for entry in timeline if entry["type"] == "event"],
        "effects_in_outside_ledger": effects,
        "processes": {role: family(pid) for role, pid in system.pids.items()},
        "attempts": [{name: attempt[name] for name in ("stage", "worker")} for attempt in attempts_of(timeline)],
    }
    print(json.dumps(story, ensure_ascii=False))
    done = case["state"] == "COMPLETED" and effects == 1 and "case.effects_confirmed" in story["history"]
    return 0 if done else 1


def put(system: System, world: dict[str, Any]) -> None:
    """Put customers, payments and subscriptions into the outside world."""
    with httpx2.Client(base_url=system.simulator_url, timeout=30, trust_env=False) as outside:
        outside.put("/world", json=world).raise_for_status()


def machine(system: System, token: str) -> httpx2.Client:
    """A client of the public API with a service token."""
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.Client(base_url=system.base_url, headers=headers, timeout=30, trust_env=False)


def state_of(api: httpx2.Client, case_id: str) -> str:
    return str(api.get(f"/api/v1/cases/{case_id}/").json()["state"])


def effects_in_ledger(system: System, name: str) -> int:
    """Count effects in the simulator's own file, behind its back."""
    with sqlite3.connect(f"file:{system.folder / 'simulator-ledger'}?mode=ro", uri=True) as ledger:
        (count,) = ledger.execute("SELECT count(*) FROM effects WHERE system = ?", [name]).fetchone()
    return int(count)


def family(pid: int) -> list[int]:
    """A process and its children, which do the work of a web server or worker."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [pid, *map(int, children.read_text().split())] if children.exists() else [pid]


def attempts_of(timeline: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tries that the timeline tells beside events and calls."""
    return [entry["attempt"] for entry in timeline if entry["type"] == "attempt"]
