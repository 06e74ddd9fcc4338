"""Told to stop, workers end in order; killed, they cost their cases a lease and a sweep."""

from __future__ import annotations

import signal
from datetime import timedelta

from tests.stand.conftest import living
from tests.supervision.supervised import Supervised

UNDER_WAY = 2.0  #: seconds that an outside system needs to answer; a reading may take 3
RESUMED = timedelta(seconds=15)  #: lease, sweep, and a worker that comes by


def family(supervised: Supervised, role: str) -> set[int]:
    part = supervised.part(role)
    return {supervised.system.pids[role], part["master"], part["pid"]}


def leased_in(supervised: Supervised, case: str, stage: str) -> str:
    """The worker that holds this task now, or nothing."""
    rows = supervised.ask(
        "SELECT t.leased_by FROM cases_task t JOIN cases_case c ON c.id = t.case_id"
        " WHERE c.public_id = %s AND t.stage = %s AND t.status = 'leased'",
        case,
        stage,
    )
    return rows[0]["leased_by"] if rows else ""


def test_an_order_to_stop_lets_the_task_under_way_end(supervised: Supervised) -> None:
    ticket = supervised.a_ticket()
    supervised.script("delay", method="GET", path=f"/payments/{ticket.payment}", seconds=UNDER_WAY)
    case = supervised.open(ticket)
    role = supervised.role_of(supervised.wait_for(lambda: leased_in(supervised, case, "observe")))
    process, all_of_them = supervised.system.processes.roles[role].process, family(supervised, role)

    told_at = supervised.one("SELECT clock_timestamp()")
    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=30) == 0
    assert living(all_of_them) == set()
    attempts = supervised.ask(
        "SELECT t.stage, a.outcome, a.worker, a.ended_at FROM cases_attempt a JOIN cases_task t ON t.id = a.task_id"
        " JOIN cases_case c ON c.id = t.case_id WHERE c.public_id = %s ORDER BY a.id",
        case,
    )
    # Ended and settled by the very process that was told to stop.
    (observed,) = [one for one in attempts if one["stage"] == "observe"]
    assert observed["outcome"] == "done"
    assert observed["ended_at"] > told_at
    assert int(observed["worker"].split(":")[-2]) in all_of_them
    assert {one["outcome"] for one in attempts} == {"done"}
    assert supervised.one("SELECT count(*) FROM cases_task WHERE status = 'leased'") == 0
    # Nothing waits for a worker that is gone: the rest of the case goes its way with the other one alone.
    supervised.complete(case)
    stopped = supervised.ask("SELECT stopped_at FROM cases_workerbeat WHERE pid = ANY(%s)", list(all_of_them))
    assert [row["stopped_at"] is not None for row in stopped] == [True]


def test_a_killed_family_costs_its_case_a_lease_and_a_sweep(supervised: Supervised) -> None:
    ticket = supervised.a_ticket()
    supervised.script("delay", method="GET", path=f"/payments/{ticket.payment}", seconds=60)
    case = supervised.open(ticket)
    role = supervised.role_of(supervised.wait_for(lambda: leased_in(supervised, case, "observe")))
    all_of_them = family(supervised, role)

    killed_at = supervised.one("SELECT clock_timestamp()")
    supervised.system.kill(role)

    supervised.wait_for_state("WAITING_APPROVAL", case)
    again = supervised.ask(
        "SELECT a.number, a.outcome, a.begun_at FROM cases_attempt a JOIN cases_task t ON t.id = a.task_id"
        " JOIN cases_case c ON c.id = t.case_id WHERE c.public_id = %s AND t.stage = 'observe' ORDER BY a.number",
        case,
    )
    assert [one["outcome"] for one in again] == ["worker_lost", "done"]
    assert again[1]["begun_at"] - killed_at <= RESUMED
    assert living(all_of_them) == set()


def test_nobody_outlives_a_killed_supervisor(supervised: Supervised) -> None:
    all_of_them = family(supervised, "worker-1")

    supervised.signal(supervised.system.pids["worker-1"], signal.SIGKILL)

    supervised.wait_for(lambda: not living(all_of_them), timedelta(seconds=5))
