"""The figures of an evaluation: accuracy by ending, refusals by check, injections, tokens, cost and time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any

from .evaluating import Judged

DIGITS = 4  #: of a share


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some tickets ended as labelled, and how many had the right decision in the first answer."""

    cases: int
    right: int
    first_right: int

    @property
    def accuracy(self) -> float:
        return round(self.right / self.cases, DIGITS) if self.cases else 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Shares are of all tickets, 0…1; what a provider did not serve counts as not right."""

    cases: int
    accuracy: float
    first_accuracy: float  #: of its first answers, before any check
    accepted: int
    wrong: int  #: passed the checks with another ending than the label's
    asked_for_facts: int
    refused: int
    mended: int  #: accepted after a repair
    unserved: int
    injections: int
    injections_followed: int  #: the first answer did as wished
    injections_through: int  #: the wish, or a wrong ending, passed the checks
    injections_echoed: int  #: an accepted explanation repeats the wish
    refused_by: Mapping[str, int]  #: code of a check → tickets whose last answer it refused
    mended_after: Mapping[str, int]  #: code of a check → tickets whose first answer it refused and a later one was fine
    unserved_by: Mapping[str, int]  #: code of a fault → tickets
    endings: Mapping[str, Share]
    languages: Mapping[str, Share]
    kinds: Mapping[str, Share]
    tokens_in: int
    tokens_out: int
    cost: Mapping[str, str]  #: by currency
    median_seconds: float
    p95_seconds: float


def measure(judged: Sequence[Judged]) -> Measured:
    all_of_them = _share(judged)
    endings, languages, kinds = defaultdict(list), defaultdict(list), defaultdict(list)
    for one in judged:
        endings[one.case.expected].append(one)
        languages[one.case.language].append(one)
        for kind in one.case.kinds:
            kinds[kind].append(one)
    cost: defaultdict[str, Decimal] = defaultdict(Decimal)
    for one in judged:
        for currency, amount in one.cost.items():
            cost[currency] += amount
    seconds = sorted(one.seconds for one in judged if not one.unserved)
    return Measured(
        cases=len(judged),
        accuracy=all_of_them.accuracy,
        first_accuracy=round(all_of_them.first_right / len(judged), DIGITS) if judged else 0.0,
        accepted=sum(bool(one.decision) for one in judged),
        wrong=sum(one.is_wrong for one in judged),
        asked_for_facts=sum(bool(one.missing) for one in judged),
        refused=sum(bool(one.refused_by) for one in judged),
        mended=sum(bool(one.mended) for one in judged),
        unserved=sum(bool(one.unserved) for one in judged),
        injections=sum(one.case.injection is not None for one in judged),
        injections_followed=sum(one.followed for one in judged),
        injections_through=sum(one.through for one in judged),
        injections_echoed=sum(one.echoed for one in judged),
        refused_by=_counted(code for one in judged for code in one.refused_by),
        mended_after=_counted(code for one in judged for code in one.mended),
        unserved_by=_counted(one.unserved for one in judged if one.unserved),
        endings=_shares(endings),
        languages=_shares(languages),
        kinds=_shares(kinds),
        tokens_in=sum(one.tokens[0] for one in judged),
        tokens_out=sum(one.tokens[1] for one in judged),
        cost={currency: str(amount) for currency, amount in sorted(cost.items())},
        median_seconds=percentile(seconds, 50),
        p95_seconds=percentile(seconds, 95),
    )


def percentile(ordered: Sequence[float], percent: int) -> float:
    """The smallest value that at least `percent` of them do not exceed (nearest rank); 0 for none."""
    if not ordered:
        return 0.0
    return round(ordered[max(ceil(len(ordered) * percent / 100) - 1, 0)], DIGITS)


def list_different(one: Sequence[Judged], other: Sequence[Judged]) -> list[dict[str, Any]]:
    """The tickets that two proposers ended differently, with what each came to."""
    return [
        {"id": left.case.id, "expected": left.case.expected, "this": outcome_of(left), "other": outcome_of(right)}
        for left, right in zip(one, other, strict=True)
        if outcome_of(left) != outcome_of(right)
    ]


def outcome_of(judged: Judged) -> str:
    """A decision, or in brackets why there is none."""
    if judged.decision:
        return judged.decision
    if judged.missing:
        return "(needs another check)"
    return f"(refused: {', '.join(judged.refused_by)})" if judged.refused_by else f"(not served: {judged.unserved})"


def _share(judged: Sequence[Judged]) -> Share:
    return Share(len(judged), sum(one.is_right for one in judged), sum(one.first_is_right for one in judged))


def _shares(groups: Mapping[str, Sequence[Judged]]) -> dict[str, Share]:
    return {name: _share(groups[name]) for name in sorted(groups)}


def _counted(codes: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(codes).items(), key=lambda pair: (-pair[1], pair[0])))
