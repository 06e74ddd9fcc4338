"""The release after this one: it migrates while this one works, then runs beside it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from stand.open_work import PATIENCE, OpenWork
from stand.system import System
from stand.upgrade.running import ask, product, run, tell

NEXT = "tests.upgrade.next_settings"
#: What a migration may do while the release before works: tables that it claims from and writes to become different.
NEXT_MIGRATION = (
    "ALTER TABLE cases_task ALTER subject TYPE varchar(80)",
    "ALTER TABLE cases_case ALTER reason TYPE varchar(80)",
    "ALTER TABLE cases_case ADD of_the_next_release integer",
    "ALTER TABLE cases_task ADD of_the_next_release integer NOT NULL DEFAULT 0",
    "CREATE INDEX CONCURRENTLY of_the_next_release ON cases_task (of_the_next_release)",
)
HALFWAY = 4  #: cases that wait for a person meanwhile
PLANNED_ANEW = "cached plan must not change result type"  #: what PostgreSQL then says to a connection


def migrate_beside(system: System, work: OpenWork) -> dict[str, Any]:
    """The next release migrates while this one's processes work, whose connections know the tables as they were."""
    tell("the next release migrates")
    # So many that whoever goes on with them has most likely worked on one of them before.
    cases = [work.open("restore_access") for _ in range(HALFWAY)]
    for case in cases:
        work.wait(case, "WAITING_APPROVAL")
    for statement in NEXT_MIGRATION:
        run(system, statement)
    cases.append(work.open("restore_access"))
    work.wait(cases[-1], "WAITING_APPROVAL")
    for case in cases:
        work.approve(case)
    ends = [work.wait(case, "COMPLETED", "NEEDS_ATTENTION") for case in cases]
    logs = [system.processes.roles[name].log.read_text(errors="replace") for name in product(system)]
    return {
        "ends": dict(Counter(ends)),
        "activations": sum(work.activations(case) for case in cases),
        "planned_anew": sum(PLANNED_ANEW in line for log in logs for line in log.splitlines()),
    }


def roll_on(system: System, work: OpenWork, case: str) -> dict[str, Any]:
    """The next release beside this one: its cases are handed back by the old worker, and old cases move on order."""
    tell("the next release, beside a worker of this one")
    old, new = "worker-1", "worker-2"
    system.environment["DJANGO_SETTINGS_MODULE"] = NEXT
    for name in product(system):
        if name != old:
            system.stop(name)
    for name in ("web", "dispatcher"):
        system.start(name)
        system.wait_ready(name)
    opened = work.open("restore_access")
    handed_back = system.wait_for(lambda: task_handed_back(system, opened), patience=PATIENCE)
    system.start(new)
    system.wait_ready(new)
    system.stop(old)
    work.wait(opened, "WAITING_APPROVAL")
    words = ("--process", "restore_access", "--to", "2", "--json")
    shown = json.loads(system.manage("migrate_cases", *words, check=False).stdout)
    order = ("--apply", "--as", "recoverer", "--reason", "the next release")
    moved = json.loads(system.manage("migrate_cases", *words, *order, check=False).stdout)
    return {
        "handed_back": handed_back,
        "opened_as": version_of(system, opened),
        "previewed": sorted(row["result"] for row in shown["found"]),
        "moved": {row["state"]: row["result"] for row in moved["found"]},
        "waiting_data_is_now": version_of(system, case),
        "events": events_of(system, case, "repair.version_moved"),
    }


def version_of(system: System, case: str) -> int:
    return int(ask(system, "SELECT process_version FROM cases_case WHERE public_id = %s", case)[0][0])


def task_handed_back(system: System, case: str) -> bool:
    """Taken into a hand that did not know it, and put back for later without an attempt."""
    rows = ask(
        system,
        "SELECT t.fence > 0 AND t.attempt = 0 AND t.available_at > clock_timestamp() FROM cases_task t"
        " JOIN cases_case c ON c.id = t.case_id WHERE c.public_id = %s AND t.status = 'due'",
        case,
    )
    return any(there for (there,) in rows)


def events_of(system: System, case: str, kind: str) -> int:
    rows = ask(
        system,
        "SELECT count(*) FROM audit_auditevent e JOIN cases_case c ON c.id = e.case_id"
        " WHERE c.public_id = %s AND e.kind = %s",
        case,
        kind,
    )
    return int(rows[0][0])
