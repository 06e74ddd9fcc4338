"""A report is made while its worker dies, a recipient loses access, or the store takes nothing more (C33–C36, C45)."""

from __future__ import annotations

import resource
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from tests.faults.harness import WORKERS, Harness, descendants
from tests.faults.result import Result
from tests.faults.scenario import death_of, note_hit, note_recovery, scenario
from tests.flows.running import Ticket

_days = (date(2020, 1, 1) + timedelta(days=number) for number in count())


def owed(harness: Harness, reader: str) -> tuple[Ticket, str, str]:
    """A report that nobody asked for yet, as a ticket, its day, and the address of its only recipient."""
    day = next(_days).isoformat()
    ticket = Ticket(f"acme/sales/requests/{day}", "", "", "", {})
    harness.expected[ticket.external_id] = ("COMPLETED",)
    access(harness, reader)
    return ticket, day, f"{reader}@example.org"


def access(harness: Harness, reader: str, *more: str) -> None:
    role = ("--organisation", "acme", "--role", "report_reader", "--department", "sales")
    harness.system.manage("grant_role", reader, *role, *more, "--as", "admin", "--reason", "a test")


def ask_for(harness: Harness, day: str, reader: str) -> dict[str, Any]:
    operator = harness.sign_in("operator")
    body = {"organisation": "acme", "department": "sales", "period": day, "recipients": [reader]}
    answer = operator.post("/api/v1/reports/", body)
    operator.close()
    assert answer.status_code in (200, 201), answer.text
    told: dict[str, Any] = answer.json()
    return told


def order(harness: Harness, case: str, kind: str) -> None:
    operator = harness.sign_in("operator")
    version = operator.get(f"/api/v1/cases/{case}/").json()["version"]
    body = {"kind": kind, "version": version, "reason": "The cause is repaired"}
    answer = operator.post(f"/api/v1/cases/{case}/recoveries/", body)
    operator.close()
    assert answer.status_code == 201, answer.text


def documents(harness: Harness, ticket: Ticket) -> list[str]:
    rows = harness.ask("SELECT public_id FROM documents_document WHERE subject = %s", ticket.external_id)
    return [row["public_id"] for row in rows]


def made_once(harness: Harness, ticket: Ticket, address: str) -> None:
    harness.settle(ticket)
    made = len(documents(harness, ticket)), harness.done_outside(address)
    assert made == (1, 1), f"{made[0]} documents, {made[1]} messages"


def died_at(harness: Harness, result: Result, place: str, reader: str, *, after: int = 0) -> tuple[Ticket, str]:
    """The worker of a report dies at the place; the report is asked for once more meanwhile."""
    ticket, day, address = owed(harness, reader)
    armed = harness.armed.arm(place, action="exit", after=after)  # no other report is under way
    first = ask_for(harness, day, reader)
    note_hit(harness, result, armed)
    death_of(harness, result)
    assert ask_for(harness, day, reader)["case"] == first["case"], "a second case"
    return ticket, address


@scenario("C33", "the worker dies with a half-written file", "document.writing")
def half_written(harness: Harness, result: Result) -> None:
    # The data set is the first thing that is written for it; the second is the file.
    ticket, address = died_at(harness, result, "document.writing", "viewer", after=1)
    unfinished = list((store_of(harness) / "unfinished").iterdir())
    assert unfinished and documents(harness, ticket) == [], "half a file is on record"
    made_once(harness, ticket, address)
    note_recovery(harness, result, ticket)


@scenario("C34", "the worker dies when the file has its name and is not on record", "document.renamed")
def not_on_record(harness: Harness, result: Result) -> None:
    ticket, address = died_at(harness, result, "document.renamed", "auditor")
    made_once(harness, ticket, address)
    note_recovery(harness, result, ticket)


@scenario("C35", "the worker dies when the document is on record and nobody was told", "document.registered")
def nobody_told(harness: Harness, result: Result) -> None:
    ticket, address = died_at(harness, result, "document.registered", "recoverer")
    made_once(harness, ticket, address)
    note_recovery(harness, result, ticket)


@scenario("C36", "a recipient loses access when the document is made", "document.registered")
def access_taken(harness: Harness, result: Result) -> None:
    """Neither message nor file; a person is asked, with the owner; after the repair one message, and the file."""
    ticket, day, address = owed(harness, "reader")
    armed = harness.armed.arm("document.registered")
    case = ask_for(harness, day, "reader")["case"]
    note_hit(harness, result, armed)
    access(harness, "reader", "--revoke")
    harness.armed.release(armed)
    result.exit_status = "released"
    stopped = harness.wait_for(lambda: standing(harness, ticket) == ("NEEDS_ATTENTION", "no_access"))
    assert stopped and harness.done_outside(address) == 0, "somebody without access was told"
    reader, (document,) = harness.sign_in("reader"), documents(harness, ticket)
    assert reader.get(f"/api/v1/documents/{document}/download/").status_code == 404
    access(harness, "reader")
    order(harness, case, "send_notice")
    made_once(harness, ticket, address)
    assert reader.get(f"/api/v1/documents/{document}/download/").status_code == 200
    reader.close()
    note_recovery(harness, result, ticket)


@scenario("C45", "the store takes nothing more")
def store_full(harness: Harness, result: Result) -> None:
    """No row is there of what could not be kept, and the attention item says why; with room again it is made once."""
    ticket, day, address = owed(harness, "approver2")
    limit_files(harness, 0)
    try:
        case = ask_for(harness, day, "approver2")["case"]
        harness.wait_for(lambda: standing(harness, ticket) == ("NEEDS_ATTENTION", "no_room"))
        assert documents(harness, ticket) == [], "a document without its file is on record"
    finally:
        limit_files(harness, resource.RLIM_INFINITY)
    result.exit_status = "store full"
    order(harness, case, "observe_again")
    made_once(harness, ticket, address)
    note_recovery(harness, result, ticket)


def limit_files(harness: Harness, size: int) -> None:
    """No file of a worker may grow past `size` bytes: to the program that is a full disk."""
    for name in WORKERS:
        for pid in descendants(harness.system.pids[name]):
            _soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))


def standing(harness: Harness, ticket: Ticket) -> tuple[str, str]:
    row = harness.ask("SELECT state, reason FROM cases_case WHERE external_id = %s", ticket.external_id)[0]
    return row["state"], row["reason"]


def store_of(harness: Harness) -> Path:
    return Path(harness.system.environment["CASEFLOW_DOCUMENTS_FOLDER"])
