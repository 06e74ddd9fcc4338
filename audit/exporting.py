"""Rows of an export as lines of a file: JSON Lines for machines, CSV that no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

#: A cell that begins with one of these may be run as a formula.
RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

MEDIA_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


def as_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """One object a line."""
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """With a header; every cell is text that stays text (console.md §1, 25)."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    for cells in _with_header(columns, rows):
        writer.writerow(cells)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def cell_text(value: Any) -> str:
    """A value as the text of one cell."""
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False)
    return str("" if value is None else value)


def safe_cell(value: Any) -> str:
    """The same for a file that holds nothing but text; what would be run gets an apostrophe in front."""
    text = cell_text(value)
    return f"'{text}" if text.lstrip(" ").startswith(RISKY) else text


def _with_header(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[list[str]]:
    yield list(columns)
    for row in rows:
        yield [safe_cell(row[name]) for name in columns]
