"""A data set as a PDF to read and print: what the rows add up to, and as many of them as people leaf through.

A PDF of every row would take minutes and gigabytes: it is put together in memory. What is left out is said.
"""

from __future__ import annotations

from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import IO

from django.utils.translation import get_language, gettext
from fpdf import FPDF

from .datasets import DataSet
from .wording import COLUMNS, Cells, Counts, cut_sentence, introduction, state_counts, title_of

FONTS = Path(__file__).parent / "fonts"
PRINTED = 2_000  #: rows
LONGEST_CELL = 60  #: characters; the workbook holds the whole of longer ones
WIDTHS = (40, 30, 28, 52, 34, 24, 28, 28, 18)  #: millimetres; together the paper between its margins, roughly
LINE = 5  #: millimetres
RULE = 200  #: grey of the lines between rows, of 255


class Paper(FPDF):
    """A4, lying, with the number of each page."""

    def footer(self) -> None:
        self.set_y(-12)
        self.set_font("DejaVu", size=7)
        number = gettext("Page %(number)s of %(all)s") % {"number": self.page_no(), "all": "{nb}"}
        self.cell(0, LINE, number, align="R")


def write_paper(file: IO[bytes], data: DataSet, counts: Counts, *, edition: int) -> None:
    """In the active language."""
    paper = Paper(orientation="landscape", format="A4")
    # The moment of the data, not of the making: the same data give the same bytes.
    paper.set_creation_date(data.end.astimezone(UTC))
    paper.set_title(title_of(data))
    paper.set_lang(get_language() or "en")
    paper.add_font("DejaVu", fname=FONTS / "DejaVuSans.ttf")
    paper.add_font("DejaVu", style="B", fname=FONTS / "DejaVuSans-Bold.ttf")
    paper.set_auto_page_break(True, margin=15)
    paper.add_page()
    _write_summary(paper, data, counts, edition)
    _write_table(paper, data)
    if counts.rows > PRINTED:
        paper.ln(LINE)
        paper.set_font("DejaVu", size=9)
        paper.multi_cell(0, LINE, cut_sentence(PRINTED, counts.rows), new_x="LMARGIN", new_y="NEXT")
    file.write(bytes(paper.output()))


def _write_summary(paper: FPDF, data: DataSet, counts: Counts, edition: int) -> None:
    paper.set_font("DejaVu", style="B", size=14)
    paper.multi_cell(0, 8, title_of(data), new_x="LMARGIN", new_y="NEXT")
    paper.set_font("DejaVu", size=9)
    lines = introduction(data, counts, edition)
    lines += [f"{label}: {number}" for label, number in state_counts(counts)]
    if counts.rows > PRINTED:
        lines.append(cut_sentence(PRINTED, counts.rows))
    for line in lines:
        paper.multi_cell(0, LINE, line, new_x="LMARGIN", new_y="NEXT")
    paper.ln(LINE)


def _write_table(paper: FPDF, data: DataSet) -> None:
    scale = paper.epw / sum(WIDTHS)
    widths = [width * scale for width in WIDTHS]

    def write_header() -> None:
        paper.set_font("DejaVu", style="B", size=6.5)
        # The zone of the moments stands above the table; here it would be cut off.
        _write_row(paper, widths, [str(title) for _, title in COLUMNS])
        paper.set_font("DejaVu", size=6.5)

    paper.set_draw_color(RULE)
    write_header()
    for cells in Cells(data.zone).all(islice(data.rows(), PRINTED)):
        if paper.will_page_break(LINE):
            paper.add_page()
            write_header()
        _write_row(paper, widths, cells)


def _write_row(paper: FPDF, widths: list[float], cells: list[str]) -> None:
    for width, text in zip(widths, cells, strict=True):
        paper.cell(width, LINE, _fitting(paper, text[:LONGEST_CELL], width - 2), border="B")
    paper.ln(LINE)


def _fitting(paper: FPDF, text: str, width: float) -> str:
    """As much of the text as fits on one line, with an ellipsis where that is not all."""
    text = " ".join(text.split())
    if paper.get_string_width(text) <= width:
        return text
    while text and paper.get_string_width(f"{text}…") > width:
        text = text[:-1]
    return f"{text}…"
