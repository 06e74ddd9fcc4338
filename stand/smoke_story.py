"""T-4821 from a POST to COMPLETED through the public API and real processes, told in one JSON line."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx2

from stand.people import SignedIn
from stand.story import machine, tell_world, tickets
from stand.system import System

ENDED = ("COMPLETED", "CLOSED_NO_CHANGE", "NEEDS_ATTENTION")


def run(system: System) -> int:
    """Drive the story; 0 when the case is COMPLETED with one effect outside and a history that says so."""
    told = system.manage_json("bootstrap", "--demo")
    sign_in = next(person for person in told["sign_ins"] if person["username"] == "approver")
    tell_world(system.simulator_url)
    with machine(system.base_url, told["token"]) as api:
        opened = api.post("/api/v1/cases/", json=tickets()[0])
        opened.raise_for_status()
        case_id = opened.json()["id"]
        system.wait_for(lambda: state_of(api, case_id) == "WAITING_APPROVAL")
        approver = SignedIn(system.base_url, sign_in["username"], sign_in["password"])
        proposal = approver.get(f"/api/v1/cases/{case_id}/proposals/").json()["results"][-1]
        approver.decide(proposal, "approve").raise_for_status()
        approver.close()
        system.wait_for(lambda: state_of(api, case_id) in ENDED)
        timeline = api.get(f"/api/v1/cases/{case_id}/timeline/").json()["results"]
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
        "attempts": [
            {name: entry["attempt"][name] for name in ("stage", "worker")}
            for entry in timeline
            if entry["type"] == "attempt"
        ],
    }
    print(json.dumps(story, ensure_ascii=False))
    done = case["state"] == "COMPLETED" and effects == 1 and "case.effects_confirmed" in story["history"]
    return 0 if done else 1


def state_of(api: httpx2.Client, case_id: str) -> str:
    return str(api.get(f"/api/v1/cases/{case_id}/").json()["state"])


def effects_in_ledger(system: System, name: str) -> int:
    """Count effects in the simulator's own file, behind its back."""
    with closing(sqlite3.connect(f"file:{system.folder / 'simulator-ledger'}?mode=ro", uri=True)) as ledger:
        (count,) = ledger.execute("SELECT count(*) FROM effects WHERE system = ?", [name]).fetchone()
    return int(count)


def family(pid: int) -> list[int]:
    """A process and its descendants: a web server's and a supervised worker's work is done by those."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    born = children.read_text().split() if children.exists() else []
    return [pid, *(member for child in born for member in family(int(child)))]
