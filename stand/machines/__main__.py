"""`python -m stand.machines`: two machines, one PostgreSQL, one Valkey; one is cut off and killed under load.

Each machine is what the process file names, with its own settings. The second one loses its way to both servers: first
nothing arrives any more and nobody is told, then it comes back to what others did meanwhile, then every connection is
reset, then all of it is killed. One JSON line says what came of the tickets; 0 when none was lost or doubled.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
from collections import Counter
from typing import Any

import psycopg

from stand.environment import temporary_folder
from stand.machines.machine import PATIENCE, Balancer, Machine
from stand.people import SignedIn
from stand.soak.approver import Approver
from stand.soak.clients import Helpdesk
from stand.soak.faults import ZOMBIES, end_misfortunes, script_misfortunes
from stand.soak.journal import Journal
from stand.soak.judging import Outside, Verdict, judge
from stand.soak.plan import chance, plan_arrivals
from stand.soak.run import _refund, ask_invariants, commit, drain, put_world
from stand.system import System

SECONDS = 75.0  #: of arrivals
RATE = 2.5  #: tickets a second
CALM = 12.0  #: seconds of both machines at work
HALF_OPEN = 25.0  #: seconds in which nothing arrives: longer than two leases
BACK = 10.0  #: seconds with its way back: late writers meet those who took over
CUT = 6.0  #: seconds with every connection reset, before it is killed
DRAIN = 90.0  #: seconds for the other machine to end what is under way
WITH_WORK_WITHIN = 5.0  #: seconds that the fault waits for the machine to have work
LATE = (5.0, 15.0)  #: seconds that a late approval waits
NAMED = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SIMULATOR_URL")


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.machines", description=__doc__)
    parser.add_argument("--seed", type=int, default=9)
    parser.add_argument("--rate", type=float, default=RATE, help="tickets a second")
    options = parser.parse_args()
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    for name in NAMED:
        os.environ.pop(name, None)  # what is cut off here is our own
    with temporary_folder() as folder:
        environment = {"CASEFLOW_DEMO": "1", "CASEFLOW_UNDO_SECONDS": "0"}
        system = System(folder, environment=environment, tell=tell)
        system.patience = PATIENCE
        try:
            system.start_servers()
            system.migrate()
            system.start("simulator")
            system.wait_ready("simulator")
            found = run(system, options.seed, options.rate)
        finally:
            system.close()
            system.discard()
    print(json.dumps(found))
    return 0 if found["passed"] else 1


def run(system: System, seed: int, rate: float) -> dict[str, Any]:
    """Both machines, the tickets, the fault, the verdict."""
    north = Machine("north", system.folder / "north", system.environment)
    south = Machine("south", system.folder / "south", system.environment, cuttable=True)
    try:
        tell("starting two machines")
        north.start()
        south.start()
        told = system.manage_json("bootstrap", "--demo")
        north.wait_ready()
        south.wait_ready()
        balancer = Balancer(south, north)
        with balancer.running():
            verdict, fault = under_load(system, south, balancer, told, seed, rate)
        restless = drain(system, DRAIN)
        tell("judging")
        return judged(system, (north, south), verdict(), fault, restless, balancer.turns)
    except BaseException:
        for machine in (north, south):
            for role in machine.processes.roles:
                print(f"--- {machine.name} {role}\n{machine.processes.log_tail(role, 8)}", file=sys.stderr)
        raise
    finally:
        south.close()
        north.close()


def under_load(
    system: System, south: Machine, balancer: Balancer, told: dict[str, Any], seed: int, rate: float
) -> tuple[Any, dict[str, Any]]:
    """Tickets and approvals through the door while the second machine is lost; how to judge them, and the fault."""
    world, arrivals = plan_arrivals(SECONDS, rate, chance(seed, "arrivals"))
    put_world(system.simulator_url, world)
    journal = Journal(system.folder / "journal.jsonl")
    person = next(one for one in told["sign_ins"] if one["username"] == "approver")
    approver = Approver(
        lambda: SignedIn(balancer.base_url, person["username"], person["password"]),
        {arrival.external_id: arrival for arrival in arrivals},
        lambda arrival: _refund(system.simulator_url, arrival),
        LATE,
        journal,
        chance(seed, "approver"),
    )
    script_misfortunes(system.simulator_url)
    begun = time.monotonic()
    helpdesk = Helpdesk(balancer.base_url, told["token"], arrivals, begun, journal)
    tell(f"{len(arrivals)} tickets in {SECONDS:.0f} s")
    approver.start()
    helpdesk.start()
    fault = lose(system, south)
    time.sleep(max(0.0, begun + SECONDS - time.monotonic()))
    end_misfortunes(system.simulator_url)
    tell("arrivals end; waiting for rest")
    all_told = helpdesk.finish(DRAIN)
    approver.hurry()
    drain(system, DRAIN)
    approver.stop()
    fault["unanswered"] = 0 if all_told else 1

    def verdict() -> Verdict:
        return judge(system.administrator_url, Outside.read(system.folder / "simulator-ledger"), arrivals, journal)

    return verdict, fault | {"wrong_answers": journal.wrong}


def lose(system: System, south: Machine) -> dict[str, Any]:
    """The fault, step by step; how many leases the machine held at each."""
    time.sleep(CALM)
    at_work = wait_for_leases(system, south)
    south.half_open()
    tell(f"south is cut off half-open with {at_work} leases")
    time.sleep(HALF_OPEN)
    south.heal()
    tell("south comes back")
    time.sleep(BACK)
    cut_with = wait_for_leases(system, south)
    south.cut()
    tell(f"south is cut off with {cut_with} leases")
    time.sleep(CUT)
    south.pull_the_plug()
    tell("south is killed")
    return {"half_open_seconds": HALF_OPEN, "leases_when_half_open": at_work, "leases_when_cut": cut_with}


def judged(
    system: System,
    machines: tuple[Machine, Machine],
    verdict: Verdict,
    fault: dict[str, Any],
    restless: list[str],
    turns: int,
) -> dict[str, Any]:
    invariants = ask_invariants(system)
    audit = system.manage("verify_audit", check=False)
    refused = sum(machine.log(role).count(words) for machine in machines for role in machine.processes.roles
                  for words in ZOMBIES)  # fmt: skip
    found = {
        "accepted": verdict.accepted,
        "lost": len(verdict.lost) + len(verdict.unanswered),
        "doubled": len(verdict.doubled),
        "called_done_early": len(verdict.early),
        "unexpected_ends": len(verdict.unexpected),
        "not_at_rest": len(restless),
        "invariants": "clean" if invariants.get("clean") else "violated",
        "audit": "verifies" if audit.returncode == 0 else "does not verify",
        "effects": dict(verdict.effects),
        "left_to_a_person": dict(verdict.attention),
        "attempts_by_host": attempts_by_host(system),
        "late_writers_refused": refused,
        "turns_of_the_door": turns,
        "own_host_names": all(machine.has_own_host_name for machine in machines),
        "commit": commit(),
        **fault,
    }
    for problem in (verdict.lost, verdict.unanswered, verdict.doubled, verdict.early, verdict.unexpected, restless):
        for line in problem[:5]:
            tell(line)
    if audit.returncode:
        tell(audit.stdout[-500:] + audit.stderr[-500:])
    return {"passed": is_right(found), **found}


def is_right(found: dict[str, Any]) -> bool:
    nothing = ("lost", "doubled", "called_done_early", "unexpected_ends", "not_at_rest", "unanswered", "wrong_answers")
    return (
        found["accepted"] > 0
        and not any(found[name] for name in nothing)
        and (found["invariants"], found["audit"]) == ("clean", "verifies")
    )


def leases(system: System, machine: Machine) -> int:
    """Of this machine's workers, by their host name; 0 where machines may not have one of their own."""
    with psycopg.connect(system.administrator_url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT leased_by FROM cases_task WHERE status = 'leased' AND leased_until > clock_timestamp()"
        ).fetchall()
    return sum(leased_by.startswith(f"{machine.name}:") for (leased_by,) in rows)


def wait_for_leases(system: System, machine: Machine) -> int:
    """A machine without work would have nothing to lose: wait a moment until it has; how many leases."""
    deadline = time.monotonic() + WITH_WORK_WITHIN
    while not (held := leases(system, machine)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return held


def attempts_by_host(system: System) -> dict[str, int]:
    with psycopg.connect(system.administrator_url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT split_part(worker, ':', 1), count(*) FROM cases_attempt GROUP BY 1"
        ).fetchall()
    return dict(Counter(dict(rows)))


def tell(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
