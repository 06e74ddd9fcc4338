"""What a person may order where the machines cannot go on: each kind is a row of design §4 and nothing else.

Pure: the table says in which states a kind may be ordered, what has to hold, who is needed and what it starts. What
holds is read by `actions.standing` under the case's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from .lifecycle import OPEN, Event, Guard, State, Table
from .roles import Right


class Kind(StrEnum):
    OBSERVE_AGAIN = "observe_again"
    ASK_AGAIN = "ask_again"
    CORRECT_INPUT = "correct_input"
    RECONCILE = "reconcile"
    REPEAT = "repeat"
    ACCEPT_NOT_APPLIED = "accept_not_applied"
    RESULT_BY_HAND = "result_by_hand"
    SEND_NOTICE = "send_notice"
    FINISH_WITHOUT_NOTICE = "finish_without_notice"
    FINISH_BY_HAND = "finish_by_hand"
    CLOSE = "close"


class Result(StrEnum):
    """What two people found out about an effect in doubt."""

    DONE = "done"
    NOT_DONE = "not_done"


class Need(StrEnum):
    """What has to hold beside the guard columns; the value is the code of the refusal."""

    IN_DOUBT = "nothing_in_doubt"  #: an effect is REQUESTED or UNKNOWN
    UNANSWERED = "no_answer_is_missing"  #: that effect is UNKNOWN
    DENIED = "no_evidence"  #: a look-up after its last request said "not applied"
    DENIED_FOR_GOOD = "no_final_evidence"  #: and it was asked when nothing could land any more, of a living key
    KEY_LIVES = "key_not_alive"  #: the system honours keys and this one is younger than its life
    CANNOT_LAND = "may_still_land"  #: its unanswered request can no longer be carried out
    PLAN_STANDS = "effects_not_confirmed"  #: every effect of the plan is CONFIRMED, or it closes with notices only
    ASKED_SELDOM = "asked_too_often"  #: the case came back less often than it may
    NOTICE_LEFT = "no_notice_left"  #: a notice of that plan is not CONFIRMED


class Evidence(StrEnum):
    NONE = "none"
    LOOKUP = "lookup"  #: the look-up that is stored with the action
    WRITTEN = "written"  #: what the person writes: a link or a number


@dataclass(frozen=True, slots=True)
class Doubt:
    """An effect whose result nobody knows, and what the stored calls say of it."""

    action: str
    status: str
    denied: bool
    denied_for_good: bool
    key_lives: bool
    cannot_land: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a case stands, as far as recoveries are concerned."""

    state: State
    plan_begun: bool
    effects_open: int
    effects_done: int
    doubt: Doubt | None = None
    plan_stands: bool = False
    notice_left: bool = False
    returns: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind: where, under which conditions, by whom, on which evidence, and the stage it starts."""

    kind: Kind
    states: frozenset[State]
    needs: tuple[Guard | Need, ...] = ()
    rights: tuple[Right, ...] = (Right.RECOVER,)
    two_persons: bool = False
    evidence: Evidence = Evidence.NONE
    about_action: bool = False
    starts: str = ""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a kind cannot be ordered: a state, guards of the case row, or a need."""

    code: str
    guards: tuple[Guard, ...] = ()


#: Times that a case may come back, or a proposer be asked again, before a person has to look (design §4).
MAX_RETURNS = 3

_STOPPED = frozenset({State.NEEDS_ATTENTION})
_SETTLED, _BEGUN, _UNDONE = Guard.NO_EFFECTS_OPEN, Guard.PLAN_BEGUN, Guard.NO_EFFECTS_DONE

RULES: Mapping[Kind, Rule] = {
    rule.kind: rule
    for rule in (
        Rule(Kind.OBSERVE_AGAIN, _STOPPED, (_SETTLED,), starts="observe"),
        Rule(Kind.ASK_AGAIN, frozenset({State.WAITING_APPROVAL}), (_SETTLED, Need.ASKED_SELDOM), starts="observe"),
        Rule(Kind.CORRECT_INPUT, _STOPPED, (_SETTLED,), rights=(Right.RECOVER, Right.SUPPLY_DATA), starts="observe"),
        Rule(
            Kind.RECONCILE,
            _STOPPED | {State.EXECUTING},
            (_BEGUN, Need.IN_DOUBT, Need.UNANSWERED),
            about_action=True,
            starts="reconcile",
        ),
        Rule(
            Kind.REPEAT,
            _STOPPED,
            (_BEGUN, Need.IN_DOUBT, Need.UNANSWERED, Need.DENIED, Need.KEY_LIVES),
            evidence=Evidence.LOOKUP,
            about_action=True,
            starts="execute",
        ),
        Rule(
            Kind.ACCEPT_NOT_APPLIED,
            _STOPPED,
            (Need.IN_DOUBT, Need.UNANSWERED, Need.DENIED, Need.DENIED_FOR_GOOD),
            evidence=Evidence.LOOKUP,
            about_action=True,
        ),
        Rule(
            Kind.RESULT_BY_HAND,
            _STOPPED,
            (_BEGUN, Need.IN_DOUBT),
            two_persons=True,
            evidence=Evidence.WRITTEN,
            about_action=True,
            starts="execute",
        ),
        Rule(Kind.SEND_NOTICE, _STOPPED, (_SETTLED, Need.PLAN_STANDS, Need.NOTICE_LEFT), starts="notify"),
        Rule(Kind.FINISH_WITHOUT_NOTICE, _STOPPED, (_SETTLED, Need.PLAN_STANDS, Need.NOTICE_LEFT)),
        Rule(Kind.FINISH_BY_HAND, _STOPPED, (_SETTLED,), two_persons=True, evidence=Evidence.WRITTEN),
        Rule(Kind.CLOSE, OPEN, (_SETTLED, _UNDONE)),
    )
}

_EVENTS: Mapping[Kind, Event] = {
    Kind.OBSERVE_AGAIN: Event.OBSERVE_AGAIN,
    Kind.ASK_AGAIN: Event.ASKED_AGAIN,
    Kind.CORRECT_INPUT: Event.INPUT_CORRECTED,
    Kind.RECONCILE: Event.RECONCILE_ORDERED,
    Kind.REPEAT: Event.REPEAT_ORDERED,
    Kind.RESULT_BY_HAND: Event.RESULT_BY_HAND,
    Kind.SEND_NOTICE: Event.NOTICE_ORDERED,
    Kind.FINISH_BY_HAND: Event.FINISHED_BY_HAND,
    Kind.CLOSE: Event.CLOSED_BY_PERSON,
}

_HOLDS: Mapping[Guard | Need, Callable[[Standing], bool]] = {
    Guard.NO_EFFECTS_OPEN: lambda at: at.effects_open == 0,
    Guard.NO_EFFECTS_DONE: lambda at: at.effects_done == 0,
    Guard.PLAN_BEGUN: lambda at: at.plan_begun,
    Need.IN_DOUBT: lambda at: at.doubt is not None,
    Need.UNANSWERED: lambda at: at.doubt is not None and at.doubt.status == "UNKNOWN",
    Need.DENIED: lambda at: at.doubt is not None and at.doubt.denied,
    Need.DENIED_FOR_GOOD: lambda at: at.doubt is not None and at.doubt.denied_for_good,
    Need.KEY_LIVES: lambda at: at.doubt is not None and at.doubt.key_lives,
    Need.CANNOT_LAND: lambda at: at.doubt is not None and at.doubt.cannot_land,
    Need.PLAN_STANDS: lambda at: at.plan_stands,
    Need.ASKED_SELDOM: lambda at: at.returns + 1 < MAX_RETURNS,
    Need.NOTICE_LEFT: lambda at: at.notice_left,
}


def event_of(kind: Kind, standing: Standing) -> Event | None:
    """The event that moves the case; None where the case stays and only its action or task changes."""
    if kind is Kind.FINISH_WITHOUT_NOTICE:
        return Event.FINISHED_WITHOUT_NOTICE if standing.effects_done else Event.FINISHED_WITHOUT_CLOSING_NOTICE
    if kind is Kind.RECONCILE and standing.state is State.EXECUTING:
        return None
    return _EVENTS.get(kind)


def obstacle(kind: Kind, standing: Standing, table: Table, *, result: str = "") -> Obstacle | None:
    """Why `kind` cannot be ordered now; None where it can. `result` is what a result by hand would say."""
    rule = RULES[kind]
    event = event_of(kind, standing)
    if standing.state not in rule.states or (event is not None and table.find(standing.state, event) is None):
        return Obstacle("forbidden_transition")
    needs = [need for need in rule.needs if not _spared(need, kind, standing)]
    if result == Result.NOT_DONE:
        needs.append(Need.CANNOT_LAND)
    missing = [need for need in needs if not _HOLDS[need](standing)]
    guards = tuple(need for need in missing if isinstance(need, Guard))
    if guards:
        return Obstacle("forbidden_transition", guards)
    return Obstacle(missing[0].value) if missing else None


def possible(standing: Standing, table: Table) -> list[Kind]:
    """What may be ordered now, in the order of the table."""
    return [kind for kind in RULES if obstacle(kind, standing, table) is None]


def _spared(need: Guard | Need, kind: Kind, standing: Standing) -> bool:
    """A case that stopped with a change accepted and never read back can be looked at again, too."""
    return need is Need.UNANSWERED and kind is Kind.RECONCILE and standing.state is State.NEEDS_ATTENTION
