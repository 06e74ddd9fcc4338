"""`make report-story`: a report whose worker dies when its file is there, told by real processes in one JSON line.

The worker is killed between file and record; the report is asked for again; a recipient's access is taken before the
messages leave, and given back by an administrator; an operator lets the case go on from the message. There has to be
one document and one message to each recipient, and who has no access gets the answer of what does not exist.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import psycopg

from stand.environment import temporary_folder
from stand.people import SignedIn
from stand.system import System

PLACE = "document.renamed"  #: the file stands under its name, and nothing is on record yet
READERS = ("reader", "viewer")
UNLUCKY = "reader"  #: whose access is taken
HOLD = 50.0  #: seconds; less than a stage's limit

_numbers = count(1)


def main() -> int:
    with temporary_folder() as folder:
        system = System(folder, environment=environment_of(folder), tell=lambda line: print(line, file=sys.stderr))
        try:
            with system:
                try:
                    told = tell(system)
                except BaseException:
                    for role in system.processes.roles:
                        print(f"--- {role}\n{system.processes.log_tail(role)}", file=sys.stderr)
                    raise
        finally:
            system.discard()
    print(json.dumps(told, ensure_ascii=False))
    return 0 if is_right(told) else 1


def environment_of(folder: Path) -> dict[str, str]:
    """The processes can be stopped at named places of this folder."""
    places = folder / "places"
    for name in ("armed", "taken"):
        (places / name).mkdir(parents=True, exist_ok=True)
    return {
        "CASEFLOW_DEMO": "1",
        "CASEFLOW_UNDO_SECONDS": "0",
        "DJANGO_SETTINGS_MODULE": "caseflow.settings_faults",
        "CASEFLOW_FAILPOINTS": str(places),
    }


def tell(system: System) -> dict[str, Any]:
    """Drive the story and count what came of it."""
    told = system.manage_json("bootstrap", "--demo")
    passwords = {one["username"]: one["password"] for one in told["sign_ins"]}
    access(system, "viewer")
    operator = SignedIn(system.base_url, "operator", passwords["operator"])
    reader = SignedIn(system.base_url, UNLUCKY, passwords[UNLUCKY])
    yesterday = datetime.now(ZoneInfo("Europe/Moscow")).date() - timedelta(days=1)
    wanted = {"organisation": "acme", "department": "sales", "kind": "requests", "period": yesterday.isoformat()}

    killed, held = arm(system, PLACE), hold_messages(system, len(READERS))
    report = answer_of(operator.post("/api/v1/reports/", wanted), 201)
    hit = system.wait_for(lambda: hit_at(system, killed))
    again = answer_of(operator.post("/api/v1/reports/", wanted), 200)
    system.wait_for(lambda: any(hit_at(system, name) for name in held))
    access(system, UNLUCKY, "--revoke")
    let_go(system, held)
    case = report["case"]
    system.wait_for(lambda: state_of(operator, case) == "NEEDS_ATTENTION", patience=90)
    stopped = answer_of(operator.get(f"/api/v1/cases/{case}/"), 200)
    document = answer_of(operator.get(report["links"]["self"]), 200)["editions"][0]["document"]
    before = opened_by(reader, document)
    reached = letters(system)

    access(system, UNLUCKY)
    order = {"kind": "send_notice", "version": stopped["version"], "reason": "The access is granted again"}
    answer_of(operator.post(f"/api/v1/cases/{case}/recoveries/", order), 201)
    system.wait_for(lambda: state_of(operator, case) == "COMPLETED")
    timeline = answer_of(operator.get(f"/api/v1/cases/{case}/timeline/"), 200)["results"]
    return {
        "documents": count_documents(system),
        "notices_per_recipient": letters(system),
        "opened_before": before,
        "opened_after": opened_by(reader, document),
        "story": {
            "report": report["id"],
            "case": case,
            "killed": {"place": hit["place"], "pid": hit["pid"], "role": hit["role"]},
            "asked_again": again["case"],
            "stopped_with": stopped["reason"],
            "reached_before_the_repair": reached,
            "state": state_of(operator, case),
            "history": [entry["event"]["kind"] for entry in timeline if entry["type"] == "event"],
        },
    }


def is_right(told: dict[str, Any]) -> bool:
    story = told["story"]
    return (
        told["documents"] == 1
        and told["notices_per_recipient"] == dict.fromkeys(READERS, 1)
        and (told["opened_before"], told["opened_after"]) == (404, 200)
        and story["reached_before_the_repair"] == {"viewer": 1}
        and (story["stopped_with"], story["state"]) == ("no_access", "COMPLETED")
        and story["asked_again"] == story["case"]
    )


def access(system: System, username: str, *more: str) -> None:
    """An administrator gives the right to open the department's documents, or takes it with --revoke."""
    role = ("--organisation", "acme", "--role", "report_reader", "--department", "sales")
    system.manage("grant_role", username, *role, *more, "--as", "admin", "--reason", "report story")


def arm(system: System, place: str, *who: str, action: str = "exit", seconds: float = 0) -> str:
    """What happens to whoever comes by the place next, if all of `who` applies; the name of it."""
    name = f"{next(_numbers):06d}~{place}~{'+'.join(who)}.json"
    places = Path(system.environment["CASEFLOW_FAILPOINTS"])
    scratch = places / name
    scratch.write_text(json.dumps({"action": action, "seconds": seconds}))
    scratch.rename(places / "armed" / name)  # seen whole or not at all
    return name


def hold_messages(system: System, number: int) -> list[str]:
    """Nobody sends a message until it is let go."""
    return [arm(system, "worker.claimed", "notify", action="hold", seconds=HOLD) for _ in range(number)]


def let_go(system: System, names: Sequence[str]) -> None:
    for name in names:
        Path(system.environment["CASEFLOW_FAILPOINTS"], "taken", f"{name}.go").touch()


def hit_at(system: System, name: str) -> dict[str, Any] | None:
    hits = Path(system.environment["CASEFLOW_FAILPOINTS"]) / "hits.jsonl"
    if not hits.exists():
        return None
    found = (json.loads(line) for line in hits.read_text().splitlines())
    return next((hit for hit in found if hit["file"] == name), None)


def answer_of(answer: Any, status: int) -> Any:
    if answer.status_code != status:
        raise RuntimeError(f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text[:500]}")
    return answer.json()


def state_of(person: SignedIn, case: str) -> str:
    return str(person.get(f"/api/v1/cases/{case}/").json()["state"])


def opened_by(person: SignedIn, document: str) -> int:
    return int(person.get(f"/api/v1/documents/{document}/download/").status_code)


def letters(system: System) -> dict[str, int]:
    """Sign-in name → messages that the mail system took, counted in its own file, behind its back."""
    with closing(sqlite3.connect(f"file:{system.folder / 'simulator-ledger'}?mode=ro", uri=True)) as ledger:
        rows = ledger.execute("SELECT subject, count(*) FROM effects WHERE system = 'mail' GROUP BY subject").fetchall()
    return {address.partition("@")[0]: number for address, number in sorted(rows)}


def count_documents(system: System) -> int:
    with psycopg.connect(system.environment["DATABASE_OWNER_URL"]) as connection:
        row = connection.execute("SELECT count(*) FROM documents_document").fetchone()
    return int(row[0]) if row else 0


if __name__ == "__main__":
    sys.exit(main())
