"""What a file says around its rows: titles, counts and moments, in the active language and the data's own zone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_lazy, ngettext, pgettext_lazy

from caseflow.domain import words
from caseflow.domain.lifecycle import CLOSED
from caseflow.domain.periods import Period
from cases.processes import all_processes

from .datasets import DataSet

#: What a report is about → its title.
_KINDS = {"requests": pgettext_lazy("report", "Requests")}

Row = Mapping[str, Any]

#: Names of a row's cells and their titles, in order.
COLUMNS = (
    ("ticket", gettext_lazy("Ticket")),
    ("case", gettext_lazy("Case")),
    ("subject", gettext_lazy("Subject")),
    ("process", gettext_lazy("Process")),
    ("state", gettext_lazy("State")),
    ("outcome", gettext_lazy("Outcome")),
    ("opened", gettext_lazy("Opened")),
    ("closed", gettext_lazy("Closed")),
    ("age", gettext_lazy("Age")),
)


@dataclass(slots=True)
class Counts:
    """What the rows of a data set add up to."""

    rows: int = 0
    opened: int = 0  #: within the period
    closed: int = 0  #: within the period
    states: Counter[str] = field(default_factory=Counter)

    @property
    def open(self) -> int:
        return sum(number for state, number in self.states.items() if state not in CLOSED)


def count(data: DataSet) -> Counts:
    """Reads every row once."""
    counts, start = Counts(), str(data.about["start"])
    for row in data.rows():
        counts.rows += 1
        counts.opened += row["opened"] >= start  # the same ISO form: text compares like time
        counts.closed += row["closed"] is not None
        counts.states[row["state"]] += 1
    return counts


def kind_title(kind: str) -> str:
    return str(_KINDS.get(kind, kind))


def title_of(data: DataSet) -> str:
    """“Requests, Sales, 1 October 2026”."""
    return title(data.about["kind"], data.about["department"], data.about["period"])


def title(kind: str, department: str, period: str) -> str:
    return f"{kind_title(kind)}, {department}, {period_text(period)}"


def period_text(text: str) -> str:
    """The dates of a period such as 2026-W40: one, or the first and the last."""
    period = Period.parse(text)
    last = period.next().first - timedelta(days=1)
    return " – ".join(date_format(day, "j E Y") for day in dict.fromkeys((period.first, last)))


def introduction(data: DataSet, counts: Counts, edition: int) -> list[str]:
    """The lines above the table."""
    about = data.about
    as_of = gettext("As of %(moment)s, %(zone)s") % {
        "moment": _moment(data.about["end"], data.zone),
        "zone": about["zone"],
    }
    lines = [about["organisation"], as_of]
    if edition > 1:
        lines.append(gettext("Corrected edition %(number)s") % {"number": edition})
    return [*lines, *sentences(counts)]


def sentences(counts: Counts) -> list[str]:
    opened = ngettext(
        "%(number)s ticket was opened in the period.",
        "%(number)s tickets were opened in the period.",
        counts.opened,
    )
    closed = ngettext(
        "%(number)s ticket was closed in the period.",
        "%(number)s tickets were closed in the period.",
        counts.closed,
    )
    still_open = ngettext(
        "%(number)s ticket is open at the end of the period.",
        "%(number)s tickets are open at the end of the period.",
        counts.open,
    )
    told = ((opened, counts.opened), (closed, counts.closed), (still_open, counts.open))
    return [sentence % {"number": number} for sentence, number in told]


def state_counts(counts: Counts) -> list[tuple[str, int]]:
    """The states that occur, in the order of a case's way."""
    return [(gettext(word.label), counts.states[state]) for state, word in words.STATES.items() if counts.states[state]]


def cut_sentence(shown: int, total: int) -> str:
    """That a printed table ends early."""
    return ngettext(
        "Of %(total)s row only the first %(shown)s are printed here; the workbook holds it.",
        "Of %(total)s rows only the first %(shown)s are printed here; the workbook holds them all.",
        total,
    ) % {"total": total, "shown": shown}


def titles(zone: ZoneInfo) -> list[str]:
    """Of the columns; those of moments name the zone."""
    return [f"{title} ({zone.key})" if name in ("opened", "closed") else str(title) for name, title in COLUMNS]


class Cells:
    """A row's cells as text. Words are looked up once for a file: a big one has millions of cells."""

    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone
        self._states = {code: gettext(word.label) for code, word in words.STATES.items()}
        self._outcomes = {code: gettext(word.label) for code, word in words.OUTCOMES.items()}
        self._processes = {process.slug: gettext(process.title) for process in all_processes().values()}
        self._days, self._hours = gettext("%(days)s d %(hours)s h"), gettext("%(hours)s h %(minutes)s min")

    def of(self, row: Row) -> list[str]:
        return [
            row["ticket"],
            row["case"],
            row["subject"],
            self._processes.get(row["process"], row["process"]),
            self._states.get(row["state"], row["state"]),
            self._outcomes.get(row["outcome"], row["outcome"]),
            _moment(row["opened"], self._zone),
            _moment(row["closed"], self._zone) if row["closed"] else "",
            self._age(row["age"]),
        ]

    def all(self, rows: Iterable[Row]) -> Iterable[list[str]]:
        return map(self.of, rows)

    def _age(self, seconds: int) -> str:
        hours, rest = divmod(seconds, 3600)
        if hours >= 24:
            return self._days % {"days": hours // 24, "hours": hours % 24}
        return self._hours % {"hours": hours, "minutes": rest // 60}


def _moment(text: str, zone: ZoneInfo) -> str:
    return f"{datetime.fromisoformat(text).astimezone(zone):%Y-%m-%d %H:%M}"
