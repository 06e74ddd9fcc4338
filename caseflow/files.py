"""Rows as a file that somebody takes away: the same from both faces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import StreamingHttpResponse

from audit.exporting import MEDIA_TYPES, as_csv, as_lines


def file_of(
    columns: Sequence[str], rows: Iterable[Mapping[str, Any]], form: str, *, name: str
) -> StreamingHttpResponse:
    """`form` is jsonl or csv. Nobody on the way keeps a copy."""
    return StreamingHttpResponse(
        as_csv(columns, rows) if form == "csv" else as_lines(rows),
        content_type=MEDIA_TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{name}.{form}"', "Cache-Control": "no-store"},
    )
