"""What a proposer says, as values: a decision with the evidence it claims, or why there is none; and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, Protocol

from caseflow.domain.errors import BrokenProposal
from caseflow.domain.process import Proposed


@dataclass(frozen=True, slots=True)
class Claimed:
    """A piece of evidence: the path of a fact and the value that it is said to have."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an answer is not accepted: a stable code (`approvals.answer_rules`) and a name that is ours, never the
    model's words. `told` is the sentence for the model; it may quote the answer, so it is sent and never stored."""

    code: str
    about: str = ""
    told: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Asking:
    """One request to a model, before it is sent. `cost_limit` is the most that it can cost."""

    call_id: str
    provider: str
    model: str
    prompt_version: str
    prompt_digest: str
    schema_version: str
    parameters: Mapping[str, Any]
    repair: int  #: 0 for the first question, then 1 and 2
    cost_limit: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Call:
    """One request that was made, and what came of it: `answered`, `missing`, `invalid` or `failed`.

    `raw` is the answer as it came (personal text: it may quote the claim). Counts of tokens are the provider's own,
    None where it did not say; then `cost` is the most that the request can have cost.
    """

    asking: Asking
    outcome: str
    raw: str = ""
    code: str = ""  #: of a fault
    status: int | None = None  #: HTTP
    finish_reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal = Decimal(0)
    duration: timedelta = timedelta(0)
    problems: tuple[Problem, ...] = ()


class Journal(Protocol):
    """Keeps each request before it is sent and after it was answered, so that none goes without its costs."""

    def begin(self, asking: Asking) -> None: ...

    def end(self, call: Call) -> None: ...


class NoJournal:
    """For proposers that are asked outside a case."""

    def begin(self, asking: Asking) -> None:
        pass

    def end(self, call: Call) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Answer:
    """A proposer's last word. Exactly one of `proposed`, `missing` and `problems` says what follows.

    `explanation` are the model's own words, with placeholders such as `[customer.email]` for personal values; they are
    text to be shown as a model's, never a status.
    """

    proposed: Proposed | None = None
    evidence: tuple[Claimed, ...] = ()
    explanation: str = ""
    missing: tuple[str, ...] = ()  #: paths of facts without which it cannot decide: needs another check
    problems: tuple[Problem, ...] = ()  #: of the last answer, after the last repair
    calls: Sequence[Call] = ()
    placeholders: Mapping[str, str] = field(default_factory=dict, repr=False)  #: what each stands for: personal

    @property
    def said(self) -> Proposed:
        """Raises BrokenProposal where it proposes nothing."""
        if self.proposed is None:
            raise BrokenProposal(problem="it holds no decision")
        return self.proposed

    @property
    def decision(self) -> str:
        """ "" where there is none."""
        return self.proposed.decision if self.proposed else ""

    @property
    def tokens(self) -> tuple[int, int]:
        """(sent, received) of all calls, as far as the provider said."""
        return sum(call.tokens_in or 0 for call in self.calls), sum(call.tokens_out or 0 for call in self.calls)

    @property
    def cost(self) -> Decimal:
        return sum((call.cost for call in self.calls), Decimal(0))

    @property
    def duration(self) -> timedelta:
        return sum((call.duration for call in self.calls), timedelta(0))
