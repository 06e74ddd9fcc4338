"""The points at which a worker may die: how a case is brought there, and what must hold afterwards."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

import redis

from tests.faults.harness import Harness
from tests.flows.running import Ticket
from tests.flows.test_messages_are_only_bells import a_broker, ring

Prepare = Callable[[Harness, Ticket, int], None]


def nothing(harness: Harness, ticket: Ticket, attempt: int) -> None:
    """The outside world is well."""


def busy_before(harness: Harness, ticket: Ticket, attempt: int) -> None:
    """Earlier attempts are told 429: provably not applied."""
    if attempt > 1:
        path = f"/subscriptions/{ticket.subscription}/*"
        harness.script("too_many", method="POST", path=path, times=attempt - 1, retry_after="0")


def answer_of_effect(kind: str, **fault: object) -> Prepare:
    """The attempt at the point applies its effect and answers badly, after the busy ones."""

    def prepare(harness: Harness, ticket: Ticket, attempt: int) -> None:
        busy_before(harness, ticket, attempt)
        harness.script(kind, method="POST", path=f"/subscriptions/{ticket.subscription}/*", **fault)

    return prepare


def old_reading_after(harness: Harness, ticket: Ticket, attempt: int) -> None:
    """The read-back shows the old state once: one reading before the plan, one before each attempt, one after it."""
    busy_before(harness, ticket, attempt)
    path = f"/subscriptions/{ticket.subscription}"
    harness.script("stale_read", method="GET", path=path, times=attempt + 2)


def doubt_and_old_readings(harness: Harness, ticket: Ticket, attempt: int) -> None:
    """The effect is applied, the answer lost; earlier reconcile attempts still read the old state."""
    harness.script("error_after", method="POST", path=f"/subscriptions/{ticket.subscription}/*")
    path = f"/subscriptions/{ticket.subscription}"
    harness.script("stale_read", method="GET", path=path, times=1 + attempt)


def payment_fails_once(harness: Harness, ticket: Ticket, attempt: int) -> None:
    harness.script("error_before", method="GET", path=f"/payments/{ticket.payment}", times=attempt)


@dataclass(frozen=True)
class Spot:
    """One row at one place. `stage` and the attempt bind the arm; `numbered` says that its stage's attempts count."""

    row: str
    scenario: str
    place: str
    stage: str
    prepare: Prepare = nothing
    process: str = "restore_quickly"
    ends: tuple[str, ...] = ("COMPLETED",)
    effects: int = 1
    messages: int = 1
    outcome: str = "worker_lost"  #: of the attempt at the point, afterwards
    bound: bool = True  #: the arm waits for the attempt of that number
    goes_on: bool = False  #: let go when all are held; dies as soon as its effect stands in the outside ledger
    recovers: bool = True  #: something is left to be done after the point
    by_hand: bool = False
    late: bool = False  #: its end takes longer than a wave
    before_death: Callable[[Harness, Ticket], None] | None = None
    after: Callable[[Harness, Ticket], None] | None = None


def forget_key(harness: Harness, ticket: Ticket) -> None:
    """The outside system throws the key of this effect away."""
    with sqlite3.connect(harness.system.folder / "simulator-ledger", timeout=10) as ledger:
        ledger.execute(
            "UPDATE keys SET created_at = 0 WHERE key IN (SELECT key FROM effects WHERE subject = ?)",
            [ticket.subscription],
        )


def one_call_only(harness: Harness, ticket: Ticket) -> None:
    """Nothing was sent a second time."""
    sent = [one for one in requests_about(harness, ticket) if one["method"] == "POST" and one["fault"] != "too_many"]
    assert len(sent) == 1, f"{len(sent)} requests were sent for {ticket.subscription}"


def requests_about(harness: Harness, ticket: Ticket) -> list[dict[str, object]]:
    with harness._outside_lock:
        rows = harness._outside.execute(
            "SELECT method, path, key, fault, status FROM requests WHERE path LIKE ? ORDER BY id",
            [f"/subscriptions/{ticket.subscription}%"],
        ).fetchall()
    return [dict(zip(("method", "path", "key", "fault", "status"), row, strict=True)) for row in rows]


def one_decided(harness: Harness, ticket: Ticket) -> None:
    """Approving after the end loses, and is told so."""
    row = harness.ask(
        "SELECT p.public_id AS id, p.digest, c.version AS case_version, c.public_id AS case FROM approvals_proposal p"
        " JOIN cases_case c ON c.id = p.case_id WHERE c.external_id = %s ORDER BY p.number DESC LIMIT 1",
        ticket.external_id,
    )[0]
    answer = harness.approver.decide(row)
    assert answer is not None and answer.status_code == 409, "an expired proposal was decided"


def redelivered(harness: Harness, ticket: Ticket) -> None:
    """The same bells again, five times each, move nothing."""
    before = harness.attempts(ticket.external_id)
    with a_broker(harness) as broker:
        for task in harness.tasks(ticket.external_id):
            for _ in range(5):
                ring(broker, task["id"])
    harness.wait_for(lambda: queue_is_empty(harness))
    assert harness.attempts(ticket.external_id) == before, "a repeated message was worked on"


def queue_is_empty(harness: Harness) -> bool:
    with redis.Redis.from_url(harness.bell.url) as server:
        return not server.llen("caseflow:quick") and not server.llen("caseflow:slow")


def one_live_task(harness: Harness, ticket: Ticket) -> None:
    """The retry was scheduled once."""
    observing = harness.tasks(ticket.external_id, "observe")
    assert len(observing) == 1, f"{len(observing)} tasks read the facts"


def one_proposal(harness: Harness, ticket: Ticket) -> None:
    proposals = harness.ask(
        "SELECT p.id FROM approvals_proposal p JOIN cases_case c ON c.id = p.case_id WHERE c.external_id = %s",
        ticket.external_id,
    )
    assert len(proposals) == 1, f"{len(proposals)} proposals"


def both_requests_costed(harness: Harness, ticket: Ticket) -> None:
    """The model was asked twice, each request has its costs, and one proposal came of it."""
    one_proposal(harness, ticket)
    calls = harness.ask(
        "SELECT m.outcome, m.cost FROM approvals_modelcall m JOIN cases_case c ON c.id = m.case_id"
        " WHERE c.external_id = %s ORDER BY m.id",
        ticket.external_id,
    )
    assert [call["outcome"] for call in calls] in (["lost", "answered"], ["answered", "answered"]), calls
    assert all(call["cost"] is not None for call in calls), calls


#: Each for the first, second and last attempt, with the same and with another worker.
EXECUTION = (
    Spot("C21", "approved, before the attempt's call began", "execute.before_begin", "execute", busy_before),
    Spot("C22", "call recorded, before the request", "execute.begun", "execute", busy_before),
    Spot("C23", "request sent, no response", "execute.begun", "execute", busy_before, goes_on=True),
    Spot("C24", "response read, before it was stored", "execute.answered", "execute", busy_before),
    Spot(
        *("C25", "acceptance stored, before the verification", "worker.claimed", "reconcile", old_reading_after),
        bound=False,
        after=one_call_only,
    ),
    Spot("C26", "verified, before CONFIRMED was committed", "execute.before_commit", "execute", busy_before),
    Spot(
        *("C27", "CONFIRMED committed with the notice's intent", "execute.committed", "execute", busy_before),
        outcome="done",
    ),
    Spot("C28", "reconciler claimed", "worker.claimed", "reconcile", doubt_and_old_readings),
    Spot("C28", "reconciler asked", "reconcile.looked_up", "reconcile", doubt_and_old_readings),
    Spot(
        "C28", "reconciler before its verdict was stored", "reconcile.before_store", "reconcile", doubt_and_old_readings
    ),
)

#: The outside system applies the effect and spoils the answer; the worker dies before it could find out.
_SPOILT = ("worker.claimed", "reconcile")
SPOILT_ANSWERS = (
    Spot("C29", "applied, then 500", *_SPOILT, answer_of_effect("error_after"), bound=False),
    Spot("C29", "applied, then reset", *_SPOILT, answer_of_effect("reset_after"), bound=False),
    Spot("C29", "applied, then closed", *_SPOILT, answer_of_effect("drop_after"), bound=False),
    Spot("C29", "applied, then one byte a second", *_SPOILT, answer_of_effect("drip", seconds=1), bound=False),
)

#: Each once.
ONCE = (
    Spot("C10", "claimed, before the read", "worker.claimed", "observe"),
    Spot("C11", "read, before the result's transaction", "observe.after_read", "observe"),
    Spot("C12", "inside the result's transaction", "observe.before_commit", "observe"),
    Spot(
        *("C13", "result committed, before the message was acknowledged", "notify.committed", "notify"),
        outcome="done",
        recovers=False,
        after=redelivered,
    ),
    Spot("C14", "raised, before the fault was stored", "worker.before_fault_stored", "observe", payment_fails_once),
    Spot(
        *("C15", "fault and next try stored, before ack", "worker.fault_stored", "observe", payment_fails_once),
        process="restore_access",
        outcome="fault",
        recovers=False,
        after=one_live_task,
    ),
    Spot("C16", "proposer answered, before the proposal was stored", "propose.answered", "observe", after=one_proposal),
    Spot(
        "C17", "proposal written with its facts, not committed", "observe.before_commit", "observe", after=one_proposal
    ),
    Spot(
        *("C20", "expiry between select and update", "expire.before_commit", "expire"),
        process="restore_briefly",
        ends=("NEEDS_ATTENTION",),
        effects=0,
        messages=0,
        by_hand=True,
        after=one_decided,
    ),
    Spot(
        *("C30", "key expired, effect applied earlier", "execute.answered", "execute"),
        process="restore_forgetfully",
        ends=("NEEDS_ATTENTION", "COMPLETED"),
        messages=-1,
        late=True,
        before_death=forget_key,
        after=one_call_only,
    ),
    Spot("C32", "notice sent, before the mark; the channel can be asked", "notify.answered", "notify"),
    Spot(
        *("C32", "notice sent, before the mark; the channel is blind", "notify.answered", "notify"),
        process="restore_blindly",
        ends=("NEEDS_ATTENTION",),
    ),
    Spot(
        *("C16", "a model answered, before its answer was kept", "ask_model.answered", "ask_model"),
        process="restore_with_model",
        after=both_requests_costed,
    ),
    Spot(
        *("C17", "a model's proposal written, not committed", "ask_model.before_commit", "ask_model"),
        process="restore_with_model",
        after=both_requests_costed,
    ),
)
