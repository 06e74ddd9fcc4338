"""The stages of this room: start the check, read the facts, look where somebody rang, read again, stop waiting."""

from __future__ import annotations

from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event, State

from .claiming import Lease
from .observing import Known, ask_what_is_known, read_now, store_readings
from .personal import Sealer
from .publishing import NewTask
from .settling import settlement
from .stages import Stage, register


def check(lease: Lease) -> Lease | None:
    """A received case begins to be checked."""
    with settlement(lease) as settling:
        settling.move(Event.CHECK_STARTED)
    return settling.next_lease


def observe(lease: Lease) -> Lease | None:
    """Read every fact of the process. In CHECKING a proposal follows; elsewhere the facts are only stored."""
    if lease.case is None:
        raise ValueError("observe needs a case")
    known: Known = lease.loaded
    failpoint("observe.before_read", *lease.about)
    readings = read_now(lease.case.definition, known.intake, revision=known.revision)
    failpoint("observe.after_read", *lease.about)
    with settlement(lease) as settling:
        sealer = Sealer.of_wrapped(known.wrapped_key) if known.wrapped_key else None
        ids = store_readings(lease.case.id, readings, at=settling.now, sealer=sealer)
        calls = {fact.name: fact.call_id for fact in readings.readings}
        settling.record("facts.observed", facts={"observations": ids, "calls": calls})
        if settling.case.state is State.CHECKING and not settling.late:
            settling.follow(NewTask("propose"))
    return settling.next_lease


def look(lease: Lease) -> Lease | None:
    """An outside system rang: read every fact and store it. Whatever became of it, the case goes its own way."""
    if lease.case is None:
        raise ValueError("look needs a case")
    known: Known = lease.loaded
    readings = read_now(lease.case.definition, known.intake, revision=known.revision)
    with settlement(lease) as settling:
        sealer = Sealer.of_wrapped(known.wrapped_key) if known.wrapped_key else None
        ids = store_readings(lease.case.id, readings, at=settling.now, sealer=sealer)
        calls = {fact.name: fact.call_id for fact in readings.readings}
        settling.record("facts.observed", facts={"observations": ids, "calls": calls})
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


register(Stage("check", check, inline=True))
register(Stage("observe", observe, load=_load_known))
# A doorbell: nothing waits for it, and one that is not answered must not stop a case.
register(Stage("look", look, load=_load_known, carries=False))
register(Stage("recheck", recheck))
register(Stage("data_due", data_due))
