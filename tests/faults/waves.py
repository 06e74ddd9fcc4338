"""Many cases at their points at once, then one kill -9 of the worker that has them all; one lease is waited for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tests.faults.harness import WORKERS, Harness
from tests.faults.result import Result
from tests.faults.spots import Spot
from tests.flows.running import Ticket

TWO_LEASES = 20.0  #: seconds
REACH = 45.0  #: seconds until every case is at its point
ATTEMPTS = ("first", "second", "last")
LATE: list[threading.Thread] = []


@dataclass(frozen=True)
class Wave:
    """`mode`: who recovers, "same" worker (started again) or "other"; or "asleep": SIGSTOP past two leases, SIGCONT."""

    mode: str
    attempt: str
    victim: str
    spots: tuple[Spot, ...]

    @property
    def number(self) -> int:
        return ATTEMPTS.index(self.attempt) + 1


@dataclass
class Standing:
    """One case of a wave on its way."""

    spot: Spot
    ticket: Ticket
    armed: str
    result: Result


def run_wave(harness: Harness, wave: Wave) -> list[Result]:
    """Every spot's result; nothing is raised but what the harness itself cannot do."""
    victim, other = wave.victim, next(name for name in WORKERS if name != wave.victim)
    harness.system.stop(other)
    if victim not in harness.system.pids:
        harness.start(victim)
    standing = [_bring(harness, wave, spot) for spot in wave.spots]
    with ThreadPoolExecutor(len(standing)) as pool:
        list(pool.map(lambda one: harness.client.open(one.ticket.body), standing))
        held = [one for one in standing if _reaches(harness, one, victim)]
        for one in held:
            if one.spot.before_death:
                one.spot.before_death(harness, one.ticket)
        _let_go(harness, [one for one in held if one.spot.goes_on])
        begun = harness.one("SELECT clock_timestamp()")
        status = _strike(harness, wave, victim)
        harness.start(other if wave.mode != "same" else victim)
        for one in held:
            one.result.exit_status = status
        for _ in pool.map(lambda one: _judge(harness, wave, one, begun), [s for s in held if not s.spot.late]):
            pass
        if wave.mode == "asleep":
            _wake(harness, victim, held, begun)
    if wave.mode != "asleep":
        harness.start(victim if wave.mode != "same" else other)
    return [_late_or(harness, wave, one, begun) for one in standing]


def _bring(harness: Harness, wave: Wave, spot: Spot) -> Standing:
    ticket = harness.ticket(spot.process, *spot.ends, by_hand=spot.by_hand)
    spot.prepare(harness, ticket, wave.number)
    who = [ticket.external_id, spot.stage, *([f"attempt-{wave.number}"] if spot.bound else [])]
    armed = harness.armed.arm(spot.place, *who)
    result = Result(
        row=spot.row,
        scenario=spot.scenario,
        place=spot.place,
        attempt=wave.attempt,
        mode=wave.mode,
        external_id=ticket.external_id,
    )
    return Standing(spot, ticket, armed, result)


def _reaches(harness: Harness, one: Standing, victim: str) -> bool:
    try:
        hit: dict[str, Any] = harness.wait_for(lambda: harness.armed.hit(one.armed), REACH)
    except TimeoutError:
        one.result.problem = f"never came to its point: {harness.story_of(one.ticket.external_id)}"
        return False
    one.result.pid, one.result.role = hit["pid"], hit["role"]
    if hit["role"] != victim:
        one.result.problem = f"{hit['role']} was at the point, not {victim}"
    return True


def _let_go(harness: Harness, going: Sequence[Standing]) -> None:
    """The answer is kept back by the proxy's mute, so that each effect stands outside and nobody heard of it."""
    if not going:
        return
    harness.doors.outside.mode = "mute"
    for one in going:
        harness.armed.release(one.armed)
    for one in going:
        harness.wait_for(lambda one=one: harness.done_outside(one.ticket.subscription), 4)


def _strike(harness: Harness, wave: Wave, victim: str) -> int | str:
    if wave.mode == "asleep":
        harness.system.processes.signal(victim, signal.SIGSTOP)
        harness.doors.outside.heal()
        return "SIGSTOP"
    status = harness.kill(victim)
    harness.doors.outside.heal()
    return status


def _wake(harness: Harness, victim: str, held: Sequence[Standing], begun: Any) -> None:
    """Not before two leases are over; then the sleeper goes on where it stood and must not get anywhere."""
    harness.wait_for(
        lambda: harness.one("SELECT extract(epoch FROM clock_timestamp() - %s::timestamptz)", begun) > TWO_LEASES
    )
    before = {one.ticket.external_id: _written(harness, one.ticket) for one in held if not one.spot.late}
    for one in held:
        harness.armed.release(one.armed)
    harness.system.processes.signal(victim, signal.SIGCONT)
    for one in held:
        external_id = one.ticket.external_id
        if external_id not in before or one.result.problem:
            continue
        try:
            harness.wait_for(lambda one=one: _gave_up(harness, victim, one), 30)
        except TimeoutError:
            one.result.notes.append("the sleeper said nothing when it woke")
        after = _written(harness, one.ticket)
        if after != before[external_id]:
            one.result.problem = f"the sleeper wrote: {before[external_id]} → {after}"


def _gave_up(harness: Harness, victim: str, one: Standing) -> bool:
    task = harness.tasks(one.ticket.external_id, one.spot.stage)[0]["id"]
    return f"lease of task {task} was lost" in harness.system.processes.log_tail(victim, 2000)


def _written(harness: Harness, ticket: Ticket) -> dict[str, int]:
    """How much is written of a case: a sleeper may add nothing to it."""
    (row,) = harness.ask(
        "SELECT c.version, c.state, (SELECT count(*) FROM audit_auditevent e WHERE e.case_id = c.id) AS events,"
        " (SELECT count(*) FROM cases_task t WHERE t.case_id = c.id) AS tasks,"
        " (SELECT count(*) FROM cases_observation o WHERE o.case_id = c.id) AS observations,"
        " (SELECT count(*) FROM approvals_proposal p WHERE p.case_id = c.id) AS proposals,"
        " (SELECT string_agg(a.status, ',' ORDER BY a.id) FROM actions_action a WHERE a.case_id = c.id) AS actions"
        " FROM cases_case c WHERE c.external_id = %s",
        ticket.external_id,
    )
    return row


def _late_or(harness: Harness, wave: Wave, one: Standing, begun: Any) -> Result:
    if one.spot.late and not one.result.problem:
        thread = threading.Thread(target=_judge, args=(harness, wave, one, begun), name=one.ticket.external_id)
        thread.start()
        LATE.append(thread)
    return one.result


def _judge(harness: Harness, wave: Wave, one: Standing, begun: Any) -> None:
    try:
        harness.settle(one.ticket)
        _check(harness, wave, one, begun)
        if one.spot.after:
            one.spot.after(harness, one.ticket)
    except AssertionError as error:
        one.result.problem = one.result.problem or str(error)
    except Exception as error:
        one.result.problem = one.result.problem or f"{type(error).__name__}: {error}"


def _check(harness: Harness, wave: Wave, one: Standing, begun: Any) -> None:
    spot, ticket, result = one.spot, one.ticket, one.result
    result.case = str(
        harness.ask("SELECT public_id FROM cases_case WHERE external_id = %s", ticket.external_id)[0]["public_id"]
    )
    result.state = harness.state(ticket.external_id)
    effects, messages = harness.done_outside(ticket.subscription), harness.done_outside(harness.address(ticket))
    assert effects == spot.effects, f"{effects} effects outside, not {spot.effects}"
    assert spot.messages < 0 or messages == spot.messages, f"{messages} messages outside, not {spot.messages}"
    attempts = harness.attempts(ticket.external_id)
    at_point = [a for a in attempts if a["stage"] == spot.stage and harness.role_of(a["worker"]) == result.role]
    numbered = [a for a in at_point if not spot.bound or a["number"] == wave.number]
    assert numbered, f"no attempt {wave.number} of {spot.stage} is known"
    assert numbered[0]["outcome"] == spot.outcome, f"the attempt at the point is {numbered[0]['outcome']!r}"
    later = [a for a in attempts if a["begun_at"] > begun]
    assert later or not spot.recovers, "nobody went on after the point"
    if not later:
        return
    result.recovered_by, result.recovered_role = later[0]["worker"], harness.role_of(later[0]["worker"])
    result.seconds = round((later[0]["begun_at"] - begun).total_seconds(), 1)
    wanted = wave.victim if wave.mode == "same" else next(name for name in WORKERS if name != wave.victim)
    assert result.recovered_role == wanted, f"{result.recovered_role or 'nobody known'} recovered, not {wanted}"
    assert str(result.pid) not in result.recovered_by, "the process that died went on"


def join_late() -> None:
    """Wait for the cases whose end takes longer than their wave."""
    while LATE:
        LATE.pop().join()
