"""A page of numbers as a file: every value that stands in its tables, one a line, with where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import QueryDict, StreamingHttpResponse
from django.utils.translation import gettext_lazy

from accounts.models import Person
from audit.services import PLATFORM
from caseflow.files import sheet_of
from operations.exporting import put_on_record

from . import proposers_page
from .metrics_page import MetricsPage, Sections, all_indicators, gather
from .tables import Cell

#: Name of a page and of its file → what stands on it.
PAGES: Mapping[str, Sections] = {"metrics": all_indicators, "proposers": proposers_page.sections}
COLUMNS = {
    "indicator": gettext_lazy("Indicator"),
    "table": gettext_lazy("Table"),
    "row": gettext_lazy("Row"),
    "column": gettext_lazy("Column"),
    "value": gettext_lazy("Value"),
}


def take_out(person: Person, query: QueryDict, *, what: str, form: str) -> StreamingHttpResponse:
    """What the page of this address shows, as csv or xlsx, on record wherever something was counted. Raises
    NotPermitted where a right ended meanwhile."""
    page = gather(person, query, PAGES[what])
    lines = list(lines_of(page))
    places = [PLATFORM] if page.scope.organisations is None else page.scope.organisations
    put_on_record(person, dict.fromkeys(places, len(lines)), what=what, form=form, told=page.told)
    return sheet_of([(name, str(title)) for name, title in COLUMNS.items()], lines, form, name=what)


def lines_of(page: MetricsPage) -> Iterator[Mapping[str, Any]]:
    """A row's first cell names it; every other one is a value under its head."""
    for section in page.sections:
        for table in section.tables:
            for row in table.rows:
                for head, cell in list(zip(table.heads, row, strict=True))[1:]:
                    yield {
                        "indicator": section.title,
                        "table": table.label,
                        "row": _text(row[0]),
                        "column": head,
                        "value": _text(cell),
                    }


def _text(cell: Cell) -> str:
    return cell.word.label if cell.word else cell.text
