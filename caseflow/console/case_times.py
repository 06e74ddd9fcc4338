"""Where the time of one case went: the five parts in their order, and how long it was in each state (design §14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext

from caseflow.domain.lifecycle import OPEN
from caseflow.domain.times import Part
from cases.models import Case
from cases.times import time_segments_of

from . import charts, words
from .history import Happened
from .moments import took_text
from .tables import share

LEAST = timedelta(0)


@dataclass(frozen=True, slots=True)
class PartShown:
    """One of the five parts."""

    tone: str
    label: str
    took: timedelta
    share: str


@dataclass(frozen=True, slots=True)
class Stay:
    """One state: how often the case came into it, and how long it was there in all."""

    state: words.Shown
    times: int
    took: timedelta
    is_here: bool


@dataclass(frozen=True, slots=True)
class CaseTimes:
    """Up to the end of the case, or up to now. The parts add up to `total` exactly."""

    chart: charts.Strip
    parts: Sequence[PartShown]
    total: timedelta
    stays: Sequence[Stay]
    is_open: bool


def times_of(case: Case, history: Sequence[Happened]) -> CaseTimes:
    """One query; the history is there already."""
    segments = time_segments_of(case.pk)
    sums = dict.fromkeys(Part, 0)
    for segment in segments:
        sums[segment.part] += segment.length
    whole = sum(sums.values())
    parts = [
        PartShown(
            tone=part.value,
            label=words.part_word(part),
            took=timedelta(microseconds=length),
            share=share(length / whole if whole else 0),
        )
        for part, length in sums.items()
    ]
    pieces = [
        charts.Piece(
            segment.length,
            segment.part.value,
            f"{words.part_word(segment.part)}: {took_text(timedelta(microseconds=segment.length))}",
        )
        for segment in segments
    ]
    chart = charts.strip(
        gettext("Where the time went"),
        "; ".join(f"{part.label} {took_text(part.took)}" for part in parts),
        pieces,
        legend=[(part.tone, part.label) for part in parts],
    )
    return CaseTimes(
        chart=chart,
        parts=parts,
        total=timedelta(microseconds=whole),
        stays=_stays(history, case.closed_at or timezone.now()),
        is_open=case.closed_at is None,
    )


def _stays(history: Sequence[Happened], until: datetime) -> list[Stay]:
    """In the order in which the case first came into each state; a closed state takes no time."""
    moves = [(event.at, event.to_state) for event in history if event.to_state]
    ends = [*(at for at, _ in moves[1:]), until]
    found: dict[str, tuple[words.Shown, int, timedelta]] = {}
    for (begun, state), ended in zip(moves, ends, strict=True):
        _, times, took = found.get(state.code, (state, 0, LEAST))
        # A clock that was set back makes a stay empty, never negative.
        spent = max(LEAST, ended - begun) if state.code in OPEN else LEAST
        found[state.code] = (state, times + 1, took + spent)
    here = moves[-1][1].code if moves else ""
    return [Stay(state, times, took, state.code == here) for state, times, took in found.values()]
