"""Rows as a file that somebody takes away: the same from both faces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import FileResponse, StreamingHttpResponse

from audit.exporting import MEDIA_TYPES, as_csv, as_lines
from documents.opening import Opened
from documents.workbook import MEDIA_TYPE as XLSX

from .spreadsheets import as_xlsx


def file_of(
    columns: Sequence[str], rows: Iterable[Mapping[str, Any]], form: str, *, name: str
) -> StreamingHttpResponse:
    """`form` is jsonl or csv. Nobody on the way keeps a copy."""
    return StreamingHttpResponse(
        as_csv(columns, rows) if form == "csv" else as_lines(rows),
        content_type=MEDIA_TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{name}.{form}"', "Cache-Control": "no-store"},
    )


def sheet_of(
    columns: Sequence[tuple[str, str]], rows: Iterable[Mapping[str, Any]], form: str, *, name: str
) -> StreamingHttpResponse:
    """`form` is csv or xlsx; `columns` are pairs of a name in `rows` and the title that people read."""
    if form == "xlsx":
        headers = {"Cache-Control": "no-store"}
        file = as_xlsx(columns, rows)
        return FileResponse(file, as_attachment=True, filename=f"{name}.xlsx", content_type=XLSX, headers=headers)
    titled = ({title: row[key] for key, title in columns} for row in rows)
    return file_of([title for _, title in columns], titled, "csv", name=name)


def document_response(opened: Opened) -> FileResponse:
    """A document's file in pieces, as a file and nothing a browser would show or run."""
    response = FileResponse(
        opened.file,
        as_attachment=True,
        filename=opened.filename,
        content_type=opened.media_type,
        headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
    )
    response.headers["Content-Length"] = str(opened.size)
    return response
