"""`python -m stand.restore`: a living system is dumped, lost and restored elsewhere; the copy sends nothing unasked.

Another PostgreSQL, another Valkey, the same outside world and the same mail server. One line says what was checked and
found; 0 when nothing was sent before a person resumed, and nothing twice after it.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from aiosmtpd.controller import Controller

from stand.environment import load_or_make_secrets, temporary_folder
from stand.open_work import (
    LOST_ANSWER,
    NO_LOOKUP,
    NO_MAIL,
    PATIENCE,
    OpenWork,
    doubled,
    end_undo_window,
    hasten,
    ledger,
    undo_from_now_on,
)
from stand.ports import free_port
from stand.restore.restoring import restore
from stand.soak.run import ask_invariants
from stand.system import System

UNDO = 1800  #: seconds between approval and send: the drill says itself when they are over
WATCHED = 20.0  #: seconds for which the copy runs after its tasks came due, and may send nothing
WOULD_SEND = 3  #: tasks of the copy that would send something: two effects and a letter
LEDGER = "ledger_agrees"  #: the promise that compares with the outside world
NAMED = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SIMULATOR_URL")
KEEPER = "platform"  #: the demo's platform operator


class Postbox:
    """A mail server that counts."""

    def __init__(self) -> None:
        self.letters: list[str] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.letters.append(",".join(envelope.rcpt_tos))
        return "250 taken"


@contextmanager
def postbox() -> Iterator[tuple[Postbox, str]]:
    box = Postbox()
    controller = Controller(box, hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        yield box, f"smtp+plain://127.0.0.1:{controller.port}"
    finally:
        controller.stop()


def main() -> int:
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    logging.getLogger("mail.log").setLevel(logging.ERROR)
    for name in NAMED:
        os.environ.pop(name, None)
    with temporary_folder() as folder, postbox() as (box, mail):
        environment = {"CASEFLOW_DEMO": "1", "CASEFLOW_UNDO_SECONDS": "0", "CASEFLOW_STAFF_MAIL": mail}
        first = System(folder / "first", workers=1, environment=environment, tell=tell)
        first.patience = PATIENCE
        try:
            with _telling(first):
                found = drill(first, folder, box, environment)
        finally:
            first.discard()
    print(json.dumps(found))
    return 0 if found["passed"] else 1


def drill(first: System, folder: Path, box: Postbox, environment: dict[str, str]) -> dict[str, Any]:
    work = OpenWork(first, first.manage_json("bootstrap", "--demo"))
    cases = open_everything(work)
    dump = folder / "backup.dump"
    first.postgres.dump(dump)
    if (documents := folder / "first" / "documents").exists():
        shutil.copytree(documents, folder / "second" / "documents")
    tell("dumped; the living system goes on, and is then lost")
    end_undo_window(first, cases["sent_after_the_backup"])
    work.wait_for_effect(cases["sent_after_the_backup"], "CONFIRMED")
    # All of it at once; the outside world goes on.
    for role in [role for role in first.roles if role != "simulator"]:
        first.kill(role)
    first.postgres.crash()
    first.valkey.crash()
    second = System(
        folder / "second",
        workers=1,
        environment=environment | load_or_make_secrets(first.folder) | {"SIMULATOR_URL": first.simulator_url},
        tell=tell,
    )
    second.patience = PATIENCE
    try:
        second.start_servers()
        second.simulator_url = first.simulator_url
        restore(second, dump, reason="restore drill")
        before = ledger(first), len(box.letters)
        tell_staff_now(second)
        end_undo_window(second)
        for role in second.roles:
            if role != "simulator":
                second.start(role)
        for role in second.roles:
            if role != "simulator":
                second.wait_ready(role)
        return watch(second, work, cases, box, before, first)
    except BaseException:
        show_logs(second)
        raise
    finally:
        second.close()
        second.discard()


def open_everything(work: OpenWork) -> dict[str, str]:
    """One case of each kind of open work, by what it is for; the approved ones within the time for undoing."""
    tell("opening work")
    cases = {
        "unknown": work.open("restore_access", LOST_ANSWER),
        "notice_due": work.open("restore_access"),
        "waits_for_approval": work.open("restore_access"),
        "unsent": work.open("restore_access"),
        "sent_after_the_backup": work.open("restore_access"),
    }
    work.go_wrong(NO_LOOKUP, NO_MAIL)
    for case in cases.values():
        work.wait(case, "WAITING_APPROVAL")
    for name in ("unknown", "notice_due"):
        work.approve(cases[name])
    work.wait(cases["notice_due"], "NOTIFYING")
    work.wait_for_effect(cases["unknown"], "UNKNOWN")
    undo_from_now_on(work.system, UNDO)
    for name in ("unsent", "sent_after_the_backup"):
        work.approve(cases[name])
    return cases


def tell_staff_now(system: System) -> None:
    """The regular work that writes to staff comes due: nobody waits an hour in a drill."""
    with psycopg.connect(system.administrator_url, autocommit=True) as connection:
        connection.execute("UPDATE cases_schedule SET next_at = clock_timestamp() WHERE stage = 'tell_staff'")


def watch(
    second: System, work: OpenWork, cases: dict[str, str], box: Postbox, before: Any, first: System
) -> dict[str, Any]:
    """What the copy does before and after a person lets it go on."""
    work.system = second
    refused = second.wait_for(lambda: held_tasks(second), patience=PATIENCE)
    tell(f"the copy holds {refused} tasks back; watching {WATCHED:.0f} s")
    time.sleep(WATCHED)
    sent = len(ledger(first)["writes"]) - len(before[0]["writes"])
    audit = second.manage("verify_audit", check=False).returncode
    invariants = second.manage("verify_invariants", check=False).returncode
    early = resume(second)
    work.go_right()
    tell("the outside answers again; open results are looked up")
    hasten(second, "reconcile")
    work.wait_for_effect(cases["unknown"], "CONFIRMED")
    reconciled = second.manage("reconcile_actions", "--json", check=False)
    held = work.effects(cases["unknown"])
    late_sent = len(ledger(first)["writes"]) - len(before[0]["writes"])
    mails = len(box.letters) - before[1]
    resumed = resume(second)
    tell("resumed by a person")
    tell_staff_now(second)
    # While something waits for them still: afterwards there is nothing to write to them.
    second.wait_for(lambda: len(box.letters) > before[1], patience=PATIENCE)
    ends = go_on(work, cases)
    found = {
        "writes_before_resumed": late_sent,
        "mails_before_resumed": mails,
        "tasks_held": refused,
        "writes_while_watched": sent,
        "audit": "verifies" if audit == 0 else "does not verify",
        "invariants": "clean" if invariants == 0 else "violated",
        "resume_before_results_were_checked": "refused" if early == 3 else f"ended with {early}",
        "reconcile_left": len(json.loads(reconciled.stdout)["found"]),
        "unknown_became": sorted(set(held.values())),
        "resumed": resumed == 0,
        "ends": ends,
        "activations": {name: work.activations(case) for name, case in cases.items()},
        "doubled": doubled(ledger(first)["effects"]),
        "staff_mails_after": len(box.letters) - before[1],
        "recorded": events(second),
        "named_by_the_ledger": named(ask_invariants(second), cases["sent_after_the_backup"]),
        "audit_at_the_end": "verifies" if second.manage("verify_audit", check=False).returncode == 0 else "does not",
    }
    return {"passed": is_right(found), **found}


def resume(system: System) -> int:
    """As the platform operator; the command's exit code."""
    words = ("--apply", "--as", KEEPER, "--reason", "the restored copy was checked")
    return system.manage("resume_installation", *words, check=False).returncode


def go_on(work: OpenWork, cases: dict[str, str]) -> dict[str, str]:
    work.approve(cases["waits_for_approval"])
    ended = ("COMPLETED", "CLOSED_NO_CHANGE", "NEEDS_ATTENTION")
    return {name: work.wait(case, *ended) for name, case in cases.items()}


def held_tasks(system: System) -> int:
    """Tasks that wanted to send and were told that this installation may not; 0 until all of them tried."""
    with psycopg.connect(system.administrator_url, autocommit=True) as connection:
        held = connection.execute(
            "SELECT count(*) FROM cases_task WHERE status = 'due' AND last_error = 'installation'"
        ).fetchall()[0][0]
        told = connection.execute(
            "SELECT count(*) FROM cases_task WHERE status = 'done' AND stage = 'tell_staff'"
        ).fetchall()[0][0]
    return int(held) if held >= WOULD_SEND and told else 0


def events(system: System) -> list[str]:
    with psycopg.connect(system.administrator_url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT kind FROM audit_auditevent WHERE kind LIKE 'installation.%' ORDER BY id"
        ).fetchall()
    return [kind for (kind,) in rows]


def named(invariants: dict[str, Any], lost: str) -> list[str]:
    """What does not fit the outside world's ledger at the end, or any other promise that is not kept."""
    if "failed" in invariants:
        return [str(invariants["failed"])]
    return [
        "sent after the backup: CANCELLED and had an effect"
        if (one["name"], example["case"]) == (LEDGER, lost) and "is CANCELLED and had an effect" in example["problem"]
        else f"{one['name']}: {example['case']} {example['problem']}"
        for one in invariants["invariants"]
        for example in one["examples"]
    ]


def is_right(found: dict[str, Any]) -> bool:
    return (
        (found["writes_before_resumed"], found["mails_before_resumed"], found["doubled"]) == (0, 0, [])
        and (found["audit"], found["invariants"]) == ("verifies", "clean")
        and found["audit_at_the_end"] == "verifies"
        # The copy cannot know what was sent after the backup; whoever compares it with the outside is told just that.
        and found["named_by_the_ledger"] == ["sent after the backup: CANCELLED and had an effect"]
        and found["resume_before_results_were_checked"] == "refused"
        and found["unknown_became"] == ["CONFIRMED"]
        and found["resumed"]
        and found["reconcile_left"] == 0
        and set(found["activations"].values()) == {1}
        and found["staff_mails_after"] > 0
        and found["recorded"] == ["installation.restored", "installation.resumed"]
        and "NEEDS_ATTENTION" not in found["ends"].values()
    )


@contextmanager
def _telling(system: System) -> Iterator[None]:
    try:
        with system:
            yield
    except BaseException:
        show_logs(system)
        raise


def show_logs(system: System) -> None:
    for role in system.processes.roles:
        print(f"--- {role}\n{system.processes.log_tail(role, 8)}", file=sys.stderr)


def tell(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
