"""Rows as a workbook: every cell is text, so nothing in it is ever run, and a long list is never held in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

import xlsxwriter

from audit.exporting import cell_text
from documents.workbook import AS_TEXT, LONGEST_CELL

WIDTH = 24  #: characters of a column


def as_xlsx(columns: Sequence[tuple[str, str]], rows: Iterable[Mapping[str, Any]]) -> IO[bytes]:
    """A workbook with a header, ready to be read from its beginning; closing it removes it.

    `columns` are pairs of a name in `rows` and a title.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115  # the response that sends it closes it
    with xlsxwriter.Workbook(file, AS_TEXT) as book:
        sheet, bold = book.add_worksheet(), book.add_format({"bold": True})
        sheet.set_column(0, max(0, len(columns) - 1), WIDTH)
        sheet.freeze_panes(1, 0)
        for place, (_, title) in enumerate(columns):
            sheet.write_string(0, place, title, bold)
        for line, row in enumerate(rows, start=1):
            for place, (name, _) in enumerate(columns):
                sheet.write_string(line, place, cell_text(row[name])[:LONGEST_CELL])
    file.seek(0)
    return file
