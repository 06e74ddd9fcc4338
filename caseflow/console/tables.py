"""A table as a page shows it under a chart: the same numbers in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext

from . import charts, words
from .moments import ago_text


@dataclass(frozen=True, slots=True)
class Cell:
    """One value: text with an address, or a word with its icon, or a code of the machine."""

    text: str = ""
    address: str = ""
    word: words.Shown | None = None
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Its heads, and rows whose first cell names the row."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """One indicator: what it tells, a chart or none, and tables that say the same. `empty` stands in for no rows."""

    name: str
    title: str
    hint: str
    empty: str
    tables: Sequence[Table]
    charts: Sequence[charts.Bars | charts.Trend] = ()

    @property
    def has_rows(self) -> bool:
        return any(table.rows for table in self.tables)


def number(value: int) -> Cell:
    return Cell(number_text(value))


def number_text(value: int) -> str:
    return number_format(value, force_grouping=True)


def share(value: float) -> str:
    """0…1 as `12.5 %`."""
    return gettext("%(share)s %%") % {"share": number_format(100 * value, decimal_pos=1)}


def age(moment: datetime | None) -> Cell:
    return Cell(ago_text(moment) if moment else "–")


def seconds_since(moment: datetime | None) -> float:
    return (timezone.now() - moment).total_seconds() if moment else 0.0
