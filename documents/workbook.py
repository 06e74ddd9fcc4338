"""A data set as a workbook: every cell is text, rows go to the disk as they come, the same data give the same bytes."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import xlsxwriter
from django.utils.translation import gettext, pgettext
from xlsxwriter.exceptions import FileCreateError

from .datasets import DataSet
from .wording import Cells, Counts, introduction, state_counts, title_of, titles

WIDTHS = (28, 16, 20, 28, 22, 18, 22, 22, 14)  #: characters of each column
MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
LONGEST_CELL = 32_767  #: characters that the format allows
MOST_ROWS = 1_048_575  #: that the format allows below the header
#: Nothing in a cell is ever run or taken for anything else, and rows go to the disk as they come.
AS_TEXT = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
}


def write_workbook(file: IO[bytes], data: DataSet, counts: Counts, *, edition: int) -> None:
    """Two sheets: what the rows add up to, and the rows. In the active language."""
    # Its own half-finished files lie beside this one: on the same disk, and swept where a process is stopped.
    with TemporaryDirectory(dir=Path(file.name).parent) as folder:
        try:
            with xlsxwriter.Workbook(file, AS_TEXT | {"tmpdir": folder}) as book:
                _write_summary(book, data, counts, edition)
                _write_table(book, data)
        except FileCreateError as error:
            raise error.args[0] from error  # what the disk said: a full one is known by it


def _write_summary(book: xlsxwriter.Workbook, data: DataSet, counts: Counts, edition: int) -> None:
    # Without a moment of its own the workbook would carry that of its making.
    made = data.end.astimezone(UTC).replace(tzinfo=None)
    book.set_properties({"title": title_of(data), "created": made})
    bold = book.add_format({"bold": True})
    summary = book.add_worksheet(pgettext("sheet", "Summary"))
    summary.set_column(0, 0, 60)
    lines: list[tuple[str, ...]] = [(title_of(data),)]
    lines += [(line,) for line in introduction(data, counts, edition)]
    lines += [(label, str(number)) for label, number in state_counts(counts)]
    for number, line in enumerate(lines):
        for place, text in enumerate(line):
            summary.write_string(number, place, text, bold if number == 0 else None)


def _write_table(book: xlsxwriter.Workbook, data: DataSet) -> None:
    table = book.add_worksheet(gettext("Tickets"))
    bold = book.add_format({"bold": True})
    for place, width in enumerate(WIDTHS):
        table.set_column(place, place, width)
    table.freeze_panes(1, 0)
    for place, title in enumerate(titles(data.zone)):
        table.write_string(0, place, title, bold)
    for number, cells in enumerate(Cells(data.zone).all(data.rows()), start=1):
        if number > MOST_ROWS:
            break
        for place, text in enumerate(cells):
            table.write_string(number, place, text[:LONGEST_CELL])
