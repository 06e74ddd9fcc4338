"""What the model remembers: rows, the memory of workers, the queue, the outside system, and what may still go wrong.

Nothing here counts without end, so that the states are finitely many. Versions and fences matter only as "still the
one I know": a move of the case makes every older task and lease not `current`, a take-over makes the former holder
not `holds`. Clocks are moves that may happen whenever the promise behind them allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from caseflow.domain.lifecycle import State
from caseflow.domain.retry import RetryPolicy

#: The product's own policy with fewer tries.
POLICY = RetryPolicy(limit=2, infrastructure_limit=2, jitter=0.0, deadline=timedelta(hours=1))


@dataclass(frozen=True)
class Bounds:
    """How often each thing may happen on one path. The values are chosen in `settings.py`."""

    crashes: int = 0  #: of a worker or a dispatcher, anywhere
    stalls: int = 0  #: a living worker sleeps past its lease
    drops: int = 0  #: a message vanishes
    repeats: int = 0  #: a message is delivered twice
    losses: int = 0  #: an answer of the outside system is lost, or it cannot be read
    refusals: int = 0  #: the outside system says no, or is provably too busy
    changes: int = 0  #: a fact changes
    acts: int = 0  #: reject, return, withdraw, supply or ask for data, pause
    closes: int = 0  #: by a person
    recoveries: int = 0  #: orders of a person to a case that needs attention
    lapses: int = 0  #: the time in which an approval may be used ends
    proposals: int = 2  #: plans of one case
    workers: int = 2
    dispatchers: int = 2


@dataclass(frozen=True)
class Outside:
    """What the outside system promises, and what it does not."""

    honours_keys: bool = True
    can_lookup: bool = True
    lookup_forgets: bool = True  #: a look-up by a key that has expired finds nothing
    answers_early: bool = False  #: accepts before it applies
    effect_shows: bool = False  #: the effect changes a fact that is re-read before sending


@dataclass(frozen=True)
class Protections:
    """Each of them can be taken out, to see that the model notices.

    The model shows why each is needed; that the product has it is for the tests on real databases and processes.
    """

    look_up_first: bool = True  #: who takes over a begun call asks before it sends
    subject_lock: bool = True  #: one unsettled effect on a subject
    fence_check: bool = True  #: only the holder of a lease begins a call or settles
    version_check: bool = True  #: no event, claim or call for a case that has moved on
    reserve_before_reading: bool = True
    key_for_life: bool = True
    re_read: bool = True  #: of the facts, before the call begins
    begin_locks: bool = True  #: the checks of `begin_call` and its write are one step
    pause_check: bool = True
    doubt_guard: bool = True  #: no proposal, decision or close while an effect is open
    count_before_work: bool = True
    ring_again: bool = True
    read_back: bool = True  #: before CONFIRMED
    withdraw_cancels_tasks: bool = True
    match_at_decision: bool = True  #: the digest a person saw is the newest plan's
    match_at_begin: bool = True  #: the decision's digest is the plan's
    send_within_lease: bool = True  #: who slept past its lease does not send any more
    wait_for_newest_call: bool = True  #: "not applied" counts when no call of the action can land any more
    judge_at_look_up: bool = True  #: and could not when the look-up was made
    doubt_survives_refusal: bool = True  #: a refused repeat does not settle an earlier call without answer
    every_try_counts: bool = True  #: no way to try again passes by the limit of attempts
    subject_over_expired_key: bool = True  #: a system cannot deny what it has forgotten; the subject shows it
    unread_subject_proves_nothing: bool = True  #: nor can a subject that could not be read


class Case(NamedTuple):
    state: State
    number: int = 0  #: of the newest plan
    approved: int = 0  #: the plan that the newest deciding approval names; 0 without one, or when it lapsed
    begun: bool = False
    open: int = 0
    done: int = 0
    returns: int = 0
    reason: str = ""


class Task(NamedTuple):
    id: int
    case: int
    stage: str
    subject: int = 0  #: number of the plan whose action it is about
    leased: bool = False
    lapsed: bool = False
    claims: int = 0
    lost: int = 0
    current: bool = True
    bell: str = ""  #: "", marked by a dispatcher, sent to the queue, lost
    echo: bool = False  #: a second copy of a message is under way


class Action(NamedTuple):
    case: int
    number: int  #: of its plan
    status: str = "PLANNED"
    sent: bool = False
    accepted: bool = False
    unanswered: int = 0  #: calls without an answer
    waited: int = 0  #: 1: `settles_after` has passed since the first call, 2: since the newest
    aged: bool = False  #: the key's life is over
    calls: int = 0  #: counted only where each call has a key of its own


class Worker(NamedTuple):
    """The memory of a worker; a crash loses all of it."""

    at: str = "idle"
    task: int = 0
    case: int = 0
    stage: str = ""
    subject: int = 0
    holds: bool = True  #: its fence is the task's
    current: bool = True  #: its generation is the case's version
    spent: int = 0
    exhausted: bool = False
    status: str = ""  #: of the action as it was loaded with the claim; "busy" without a row
    sent: bool = False
    accepted: bool = False
    doubt: int = 0  #: calls without an answer as they were loaded
    facts: bool = True  #: the re-read facts are those of the plan
    stale: bool = False  #: the facts had changed before this attempt began (known to the model alone)
    repeat: bool = False
    key: int = 0
    first: bool = False  #: its call is the action's first
    own: bool = False  #: its call has no end in the database
    young: bool = False  #: its key was alive when it looked up
    late: bool = False  #: no call could land any more when it looked up
    answer: str = ""  #: "", confirmed, refused, not_applied, unknown; or why a call was refused


class Key(NamedTuple):
    case: int
    number: int
    call: int = 0


class Left(NamedTuple):
    crashes: int
    stalls: int
    drops: int
    repeats: int
    losses: int
    refusals: int
    changes: int
    acts: int
    closes: int
    recoveries: int
    lapses: int


class World(NamedTuple):
    cases: tuple[Case, ...]
    tasks: tuple[Task, ...]
    actions: tuple[Action, ...]
    workers: tuple[Worker, ...]
    flying: tuple[tuple[Key, bool], ...]  #: requests nobody waits for; whether each is its action's first
    effects: tuple[Key, ...]
    known: tuple[Key, ...]  #: keys that the outside system remembers
    good: bool  #: the facts are those the plan rests on
    paused: bool
    left: Left
    wrong: str  #: what a move did that it must never do


IDLE = Worker()


@dataclass(frozen=True)
class Setting:
    """One exploration: who plays, under which promises, within which bounds."""

    bounds: Bounds = Bounds()
    outside: Outside = Outside()
    protections: Protections = Protections()
    cases: int = 1
    approved: bool = False  #: the cases start with an approved plan


def start(setting: Setting) -> World:
    """Cases about the same subject: just received, or approved."""
    bounds = setting.bounds
    left = Left(**{name: getattr(bounds, name) for name in Left._fields})
    case, stage, number = Case(State.RECEIVED), "check", 0
    if setting.approved:
        case, stage, number = Case(State.EXECUTING, number=1, approved=1), "execute", 1
    tasks = tuple(Task(index + 1, index, stage, number) for index in range(setting.cases))
    return World((case,) * setting.cases, tasks, (), (IDLE,) * bounds.workers, (), (), (), True, False, left, "")
