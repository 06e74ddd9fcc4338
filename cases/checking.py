"""The stages of this room: start the check, read the facts, look where somebody rang, read again, stop waiting."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from django.db import InterfaceError, OperationalError

from accounts.principal import SYSTEM
from caseflow.domain.errors import LeaseLost
from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event, Start, State
from caseflow.statements import Values

from .advancing import Beside, advance_case_soon
from .claiming import Lease, loaded
from .observing import Known, Readings, ask_what_is_known, read_now, storing_readings
from .personal import Sealer
from .publishing import NewTask
from .settling import Settlement, settlement
from .stages import Stage, register

log = logging.getLogger("caseflow.checking")


class ReadyPlan(Protocol):
    """A plan that was made of the facts just read, without any transaction; it is stored together with them."""

    def asks(self) -> list[tuple[str, Values]]:
        """What it needs to know behind the case's lock."""

    def settle(self, settling: Settlement, ids: Mapping[str, int]) -> None:
        """Say what follows from the facts, now stored under these ids; `settling.asked` begins with the answers."""


Planner = Callable[[Lease, Known, Readings], ReadyPlan | None]


def _no_plan(lease: Lease, known: Known, readings: Readings) -> None:
    return None


#: Set by the room that proposes, when it is loaded: imports point back.
plan_at_once: Planner = _no_plan


def provide_planner(planner: Planner) -> None:
    """Tell this room how a plan is made of fresh facts; None where that waits for others, or has failed."""
    global plan_at_once
    plan_at_once = planner


_GOES_ON = """
goes_on AS (
  UPDATE cases_task SET stage = %(stage)s, generation = %(generation)s WHERE id = %(task_id)s AND fence = %(fence)s)"""


def begin_check(lease: Lease) -> Lease:
    """The check starts with the claim, and the task goes on as the one that reads, where no more follows (ADR 17).

    Nobody holds the case yet: where it went on since the claim read it, the move fails, and the claim with it.
    """
    case = lease.case
    row = case.definition.table.find(case.state, Event.CHECK_STARTED) if case else None
    if case is None or row is None or row.starts != (Start("observe"),):
        return lease
    generation = case.version + 1
    values = {"stage": "observe", "generation": generation, "task_id": lease.task_id, "fence": lease.fence}
    moved = advance_case_soon(case, Event.CHECK_STARTED, actor=SYSTEM, beside=Beside(_GOES_ON, values))
    return loaded(replace(lease, stage="observe", generation=generation, case=moved))


def check(lease: Lease) -> Lease | None:
    """A received case begins to be checked, where that could not be done with the claim."""
    with settlement(lease) as settling:
        settling.move(Event.CHECK_STARTED)
    return settling.next_lease


def observe(lease: Lease) -> Lease | None:
    """Read every fact of the process. In CHECKING a proposal follows, in the same settlement where its plan is ready
    (ADR 16); elsewhere the facts are only stored."""
    if lease.case is None:
        raise ValueError("observe needs a case")
    known: Known = lease.loaded
    failpoint("observe.before_read", *lease.about)
    readings = read_now(lease.case.definition, known.intake, revision=known.revision)
    failpoint("observe.after_read", *lease.about)
    plan = plan_at_once(lease, known, readings) if lease.case.state is State.CHECKING else None
    if plan is not None:
        try:
            return _settle(lease, known, readings, plan)
        except (LeaseLost, OperationalError, InterfaceError):
            raise
        except Exception:
            # What was read is kept all the same, and `propose` fails by itself, where its tries are counted.
            log.exception("the plan of task %s could not be stored with its facts", lease.task_id)
    return _settle(lease, known, readings)


def _settle(lease: Lease, known: Known, readings: Readings, plan: ReadyPlan | None = None) -> Lease | None:
    with settlement(lease, *(plan.asks() if plan else []), *_keeping(lease, known, readings)) as settling:
        ids = _kept(settling, readings)
        stands = settling.case.state is State.CHECKING and not settling.late
        if stands and plan is not None:
            plan.settle(settling, ids)
        elif stands:
            settling.follow(NewTask("propose"))
    return settling.next_lease


def _keeping(lease: Lease, known: Known, readings: Readings) -> list[tuple[str, Values]]:
    """What was read is stored on the trip of the lock; who lost the lease takes it back."""
    if lease.case is None:
        raise ValueError("a reading needs a case")
    case_id, wrapped = lease.case.id, known.wrapped_key
    return storing_readings(
        case_id, readings, lambda: Sealer.of_wrapped(wrapped) if wrapped else Sealer.of_case(case_id)
    )


def _kept(settling: Settlement, readings: Readings) -> dict[str, int]:
    """Say in the history what was read; the ids by the facts' names."""
    ids: dict[str, int] = dict(settling.asked[-1])  # type: ignore[arg-type]
    calls = {fact.name: fact.call_id for fact in readings.readings}
    settling.record("facts.observed", facts={"observations": list(ids.values()), "calls": calls})
    return ids


def look(lease: Lease) -> Lease | None:
    """An outside system rang: read every fact and store it. Whatever became of it, the case goes its own way."""
    if lease.case is None:
        raise ValueError("look needs a case")
    known: Known = lease.loaded
    readings = read_now(lease.case.definition, known.intake, revision=known.revision)
    with settlement(lease, *_keeping(lease, known, readings)) as settling:
        _kept(settling, readings)
    return settling.next_lease


def recheck(lease: Lease) -> Lease | None:
    """The moment to read again has come."""
    with settlement(lease) as settling:
        settling.move(Event.RECHECK_DUE)
    return settling.next_lease


def data_due(lease: Lease) -> Lease | None:
    """The awaited data or change did not come in time."""
    with settlement(lease) as settling:
        settling.move(Event.WAITED_TOO_LONG, sets={"reason": "waited_too_long"})
    return settling.next_lease


def _load_known(lease: Lease) -> object:
    return ask_what_is_known(lease.case.id) if lease.case else None


register(Stage("check", check, begin=begin_check, becomes="observe"))
register(Stage("observe", observe, load=_load_known))
# A doorbell: nothing waits for it, and one that is not answered must not stop a case.
register(Stage("look", look, load=_load_known, carries=False))
register(Stage("recheck", recheck))
register(Stage("data_due", data_due))
