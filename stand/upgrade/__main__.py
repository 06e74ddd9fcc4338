"""`python -m stand.upgrade`: cases of an earlier state, in every open state, migrated and driven on by this one.

Then the release after this one: its migration while this one works, its process version beside the old one's workers,
and cases moved to it on purpose.
One line says what was checked and found; 0 when nothing was lost, sent twice or settled without evidence.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from typing import Any

from stand.environment import CHECKOUT, temporary_folder
from stand.open_work import (
    LOST_ANSWER,
    NO_LOOKUP,
    NO_MAIL,
    NO_PAYMENT,
    PATIENCE,
    OpenWork,
    doubled,
    end_undo_window,
    hasten,
    ledger,
    undo_from_now_on,
)
from stand.soak.run import ask_invariants
from stand.system import System
from stand.upgrade.earlier import FIRST, EarlierSystem, NoSuchState, other_versions, unpack
from stand.upgrade.next_release import HALFWAY, migrate_beside, roll_on
from stand.upgrade.running import ask, product, start_product, stop_product, tell

UNDO = 1800  #: seconds between approval and send: the test says itself when they are over
WATCHED = 10.0  #: seconds for which a doubt must stay one
NAMED = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SIMULATOR_URL")

#: Where each case stands when the earlier state is stopped.
STANDS = {
    "received": "RECEIVED",
    "checking": "CHECKING",
    "waiting_data": "WAITING_DATA",
    "waiting_approval": "WAITING_APPROVAL",
    "unsent": "EXECUTING",
    "unknown": "EXECUTING",
    "notifying": "NOTIFYING",
    "needs_attention": "NEEDS_ATTENTION",
}
#: Where each has to end: the others wait for somebody who is not scripted.
ENDS = dict.fromkeys(STANDS, "COMPLETED") | {"waiting_data": "WAITING_DATA", "needs_attention": "NEEDS_ATTENTION"}
#: Activations outside at the end.
ACTIVATED = {name: int(end == "COMPLETED") for name, end in ENDS.items()}


def main() -> int:
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    for name in NAMED:
        os.environ.pop(name, None)
    with temporary_folder() as folder:
        system = EarlierSystem(
            folder / "system",
            workers=2,
            environment={"CASEFLOW_DEMO": "1", "CASEFLOW_UNDO_SECONDS": "0"},
            tell=tell,
        )
        system.patience = PATIENCE
        try:
            system.checkout = unpack(FIRST, folder / "earlier")
            with system:
                found = upgrade(system)
        except NoSuchState as error:
            print(error, file=sys.stderr)
            return 2
        finally:
            system.discard()
    print(json.dumps(found))
    return 0 if found["passed"] else 1


def upgrade(system: System) -> dict[str, Any]:
    try:
        differ = other_versions(system.checkout / "lock" / "demo.txt")
        work = OpenWork(system, system.manage_json("bootstrap", "--demo"))
        cases = open_everything(work)
        stop_product(system)
        before = {name: stand(system, case) for name, case in cases.items()}
        effects = {name: work.effects(cases[name]) for name in ("unsent", "unknown")}
        sent = {name: work.activations(case) for name, case in cases.items()}
        tell(f"the earlier state is stopped with {before}")
        system.checkout = CHECKOUT
        system.migrate()
        work.go_right()
        work.go_wrong(NO_LOOKUP)
        start_product(system)
        work.told = system.manage_json("bootstrap", "--demo")
        found = drive_on(work, cases)
        tell(json.dumps(found))
        migrated = migrate_beside(system, work)
        rolling = roll_on(system, work, cases["waiting_data"])
        found |= {
            "earlier": FIRST,
            "packages": differ or "as locked then",
            "stood": before,
            "effects_then": {name: sorted(statuses.values()) for name, statuses in effects.items()},
            "sent_before": sent["unsent"],
            "migrated_beside": migrated,
            "next_version": rolling,
            "invariants": "clean" if ask_invariants(system).get("clean") else "violated",
            "audit": "verifies" if system.manage("verify_audit", check=False).returncode == 0 else "does not verify",
        }
        return {"passed": is_right(found), **found}
    except BaseException:
        for role in system.processes.roles:
            print(f"--- {role}\n{system.processes.log_tail(role, 8)}", file=sys.stderr)
        raise


def open_everything(work: OpenWork) -> dict[str, str]:
    """One case in each open state, by the earlier state's own processes."""
    tell("opening work in the earlier state")
    cases = {
        "unknown": work.open("restore_access", LOST_ANSWER),
        "waiting_data": work.open("payment_not_found"),
        "waiting_approval": work.open("restore_access"),
        "unsent": work.open("restore_access"),
        "notifying": work.open("restore_access"),
        "needs_attention": work.open("amount_differs"),
    }
    for name in ("unknown", "waiting_approval", "unsent", "notifying"):
        work.wait(cases[name], "WAITING_APPROVAL")
    for name in ("waiting_data", "needs_attention"):
        work.wait(cases[name], STANDS[name])
    work.go_wrong(NO_LOOKUP, NO_MAIL)
    for name in ("unknown", "notifying"):
        work.approve(cases[name])
    work.wait(cases["notifying"], "NOTIFYING")
    work.wait_for_effect(cases["unknown"], "UNKNOWN")
    undo_from_now_on(work.system, UNDO)
    work.approve(cases["unsent"])
    # These are tried only so often, so they come late; nobody rings for the last one before the stop.
    cases["checking"] = work.open("restore_access", NO_PAYMENT)
    work.wait(cases["checking"], "CHECKING")
    for name in product(work.system):
        if name != "web":
            work.system.stop(name)
    cases["received"] = work.open("restore_access")
    return cases


def drive_on(work: OpenWork, cases: dict[str, str]) -> dict[str, Any]:
    """By this state's processes. The doubt has to stay one until somebody outside answers."""
    system = work.system
    tell("driving on")
    work.wait(cases["received"], "WAITING_APPROVAL")
    end_undo_window(system, cases["unsent"])
    work.wait_for_effect(cases["unsent"], "CONFIRMED")
    time.sleep(WATCHED)
    doubt = sorted(work.effects(cases["unknown"]).values())
    tell("the outside answers again")
    work.go_right()
    undo_from_now_on(system, 0)
    hasten(system, "observe", "reconcile", "notify", "execute")
    for name in ("received", "waiting_approval", "checking"):
        work.wait(cases[name], "WAITING_APPROVAL")
        work.approve(cases[name])
    ends = {name: work.wait(cases[name], *{end, "NEEDS_ATTENTION"}) for name, end in ENDS.items()}
    return {
        "unknown_stayed": doubt,
        "ends": ends,
        "activations": {name: work.activations(case) for name, case in cases.items()},
        "doubled": doubled(ledger(system)["effects"]),
    }


def stand(system: System, case: str) -> str:
    return str(ask(system, "SELECT state FROM cases_case WHERE public_id = %s", case)[0][0])


def is_right(found: dict[str, Any]) -> bool:
    rolled, migrated = found["next_version"], found["migrated_beside"]
    return (
        found["stood"] == STANDS
        and found["sent_before"] == 0
        and found["unknown_stayed"] == ["UNKNOWN"]
        and (found["ends"], found["activations"], found["doubled"]) == (ENDS, ACTIVATED, [])
        and (found["invariants"], found["audit"]) == ("clean", "verifies")
        and (rolled["handed_back"], rolled["opened_as"], rolled["waiting_data_is_now"]) == (True, 2, 2)
        and rolled["events"] == 1
        and (migrated["ends"], migrated["activations"]) == ({"COMPLETED": HALFWAY + 1}, HALFWAY + 1)
    )


if __name__ == "__main__":
    sys.exit(main())
