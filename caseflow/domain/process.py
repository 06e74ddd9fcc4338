"""A kind of case, written as one class in one file (design §7). No I/O: outside facts come in, plans go out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from .lifecycle import STANDARD, Table
from .retry import RetryPolicy
from .roles import Right

Facts = Mapping[str, Mapping[str, Any]]  #: fact name → its value
IntakeBody = Mapping[str, Any]  #: the newest intake revision


class IntakeSchema(BaseModel):
    """Base of every intake schema: unknown fields are refused, types are not bent."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True, slots=True)
class FactSource:
    """Which system is asked for a fact, and for which subject: `subject` names a field of the intake."""

    name: str
    system: str
    subject: str


class EndingKind(StrEnum):
    """What the engine does with a decision of the proposer."""

    ACT = "act"  #: effects, after an approval unless the process needs none
    CLOSE = "close"  #: nothing to change; closing notices first where the plan has some
    ASK_DATA = "ask_data"  #: wait for somebody to supply data
    WAIT = "wait"  #: not yet: read again later
    PERSON = "person"  #: needs attention


@dataclass(frozen=True, slots=True)
class Ending:
    """One allowed decision: what follows, and the sentence that explains it to a support person."""

    kind: EndingKind
    sentence: str
    wait_for: timedelta = timedelta(hours=72)  #: ASK_DATA, WAIT: until attention
    every: timedelta = timedelta(minutes=15)  #: WAIT: how often to read again
    request: str = ""  #: ACT: the exact effect in one sentence, with {subject}


@dataclass(frozen=True, slots=True)
class AmountQuorum:
    """More people for more money. `amount` and `currency` are paths of critical facts; `steps` say for each currency
    from which amount on how many persons have to approve, such as {"RUB": {"10000": 2, "100000": 3}}."""

    amount: str
    currency: str
    steps: Mapping[str, Mapping[str, int]]

    def quorum_for(self, facts: Facts) -> int:
        """Persons; the most that any step asks for where the amount is no number or the currency has no steps."""
        steps = self.steps.get(str(value_at(facts, self.currency)))
        amount = _amount(value_at(facts, self.amount))
        if steps is None or amount is None:
            return max(self.numbers, default=1)
        return max((persons for start, persons in steps.items() if amount >= Decimal(start)), default=1)

    @property
    def numbers(self) -> list[int]:
        return [persons for steps in self.steps.values() for persons in steps.values()]


def _amount(value: Any) -> Decimal | None:
    try:
        amount = Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        return None
    return amount if amount is not None and amount.is_finite() else None


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """Who decides, how many, how long. Times run from the proposal (validity) and from the deciding approval."""

    right: Right = Right.DECIDE
    quorum: int = 1  #: persons, whatever the amount
    by_amount: AmountQuorum | None = None
    four_eyes: bool = True  #: who caused the proposal does not decide on it
    validity: timedelta = timedelta(hours=24)
    execute_within: timedelta = timedelta(hours=1)

    def quorum_for(self, facts: Facts) -> int:
        """How many persons have to approve a plan that rests on these facts."""
        return max(self.quorum, self.by_amount.quorum_for(facts) if self.by_amount else 1)


@dataclass(frozen=True, slots=True)
class EffectSpec:
    """One intended change in an outside system.

    `preconditions` are paths of facts and the values they must have before the send, `confirms` the values that a
    read-back must show before anybody says "done".
    """

    system: str
    operation: str
    subject: str
    request: Mapping[str, Any]
    preconditions: Mapping[str, Any]
    confirms: Mapping[str, Any]
    again_after: str = ""  #: action id of an equal, confirmed effect that is repeated on purpose
    undoes: str = ""  #: action id that this effect compensates


@dataclass(frozen=True, slots=True)
class NoticeSpec:
    """One message to a person. `to` names a personal fact ("customer.email"); the text is made from `template`.

    `preconditions` are paths of facts and the values they must have at delivery: they are read again for each message,
    and one whose recipient may not have it is held back with the code `otherwise`, without stopping the others.
    """

    system: str
    to: str
    template: str
    language: str = "ru"
    params: Mapping[str, Any] = field(default_factory=dict)
    operation: str = "send"
    preconditions: Mapping[str, Any] = field(default_factory=dict)
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, in order; notices follow when every effect is confirmed."""

    effects: Sequence[EffectSpec] = ()
    notices: Sequence[NoticeSpec] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """An earlier effect of the same case, as a plan may know it."""

    action_id: str
    system: str
    operation: str
    subject: str
    status: str
    undoes: str = ""  #: action id that it compensates


def standing(effects: Sequence[Effect]) -> list[Effect]:
    """The confirmed effects that nothing confirmed has undone, oldest first; a compensation itself is none of them."""
    undone = {effect.undoes for effect in effects if effect.undoes and effect.status == "CONFIRMED"}
    return [
        effect
        for effect in effects
        if effect.status == "CONFIRMED" and not effect.undoes and effect.action_id not in undone
    ]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposer's answer: evidence, never a status. Code checks it before it becomes a Proposal (requirement B2)."""

    decision: str
    reason: str
    evidence: Sequence[str]
    requires_approval: bool = True


class Process(ABC):
    """Subclass once per kind of case and name it in the setting PROCESSES."""

    slug: ClassVar[str]
    version: ClassVar[int]
    title: ClassVar[str]
    Intake: ClassVar[type[IntakeSchema]]
    personal_intake: ClassVar[frozenset[str]] = frozenset()  #: fields kept as personal text
    facts: ClassVar[tuple[FactSource, ...]]
    personal_facts: ClassVar[frozenset[str]] = frozenset()  #: paths kept as personal text; `fact.*` means every value
    from_outside: ClassVar[bool] = True  #: else only services of ours open such a case and say what it is about
    own_source: ClassVar[str] = ""  #: of the tickets that such a service writes; nobody else's ticket may name it
    critical: ClassVar[tuple[str, ...]] = ()  #: paths a decision depends on
    endings: ClassVar[Mapping[str, Ending]]
    words: ClassVar[Mapping[str, str]] = {}  #: what pages call what only this process knows; see `word_of`
    proposer: ClassVar[str] = "rules"
    prompts: ClassVar[str] = ""  #: folder of `approvals/prompts`; without one no model is asked
    told_facts: ClassVar[tuple[str, ...]] = ()  #: paths a model may be told; personal ones go as placeholders
    told_intake: ClassVar[tuple[str, ...]] = ()  #: fields a model may be told; personal ones go as fenced text
    approval: ClassVar[ApprovalPolicy | None] = ApprovalPolicy()
    retry: ClassVar[Mapping[str, RetryPolicy]] = {}
    table: ClassVar[Table] = STANDARD
    rule_version: ClassVar[str] = "1"
    schema_version: ClassVar[str] = "1"

    @abstractmethod
    def decide(self, *, facts: Facts, intake: IntakeBody) -> Proposed:
        """What the business rule says of these facts. Too few facts mean another check, never a guess."""

    @abstractmethod
    def plan(self, *, decision: str, facts: Facts, intake: IntakeBody, effects: Sequence[Effect]) -> Plan:
        """The effects and notices of a decision."""

    def subject(self, intake: IntakeBody) -> str:
        """What the case is about, for lists: an id, never personal text."""
        return ""


def value_at(facts: Facts, path: str) -> Any:
    """`value_at({"payment": {"status": "confirmed"}}, "payment.status")`; None where nothing is known."""
    value: Any = facts
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value


def word_of(processes: Iterable[Process], *name: str) -> str | None:
    """What a process calls a thing, in English: its `words` under the name's parts, joined by dots.

    `intake.<field>`, `fact.<name>`, `part.<of a fact>`, `value.<fact>.<part>.<value>`, `system.<name>` and
    `operation.<system>.<operation>`. None where no process has a word; the first of two.
    """
    wanted = ".".join(name)
    return next((process.words[wanted] for process in processes if wanted in process.words), None)


def is_personal(process: Process, path: str) -> bool:
    """Whether the value at this path of facts is kept as personal text."""
    return path in process.personal_facts or f"{path.partition('.')[0]}.*" in process.personal_facts


def differences(expected: Mapping[str, Any], facts: Facts) -> dict[str, tuple[Any, Any]]:
    """Path → (expected, found), for every path whose value is not the expected one."""
    found = {path: value_at(facts, path) for path in expected}
    return {path: (value, found[path]) for path, value in expected.items() if found[path] != value}
