"""Making the files of a document from a data set: the same data, release and forms give the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

from django.utils import translation

from audit import exporting

from . import workbook
from .datasets import DataSet
from .paper import write_paper
from .storage import FolderStorage
from .wording import Cells, Counts, count, titles

UTF8_MARK = "\ufeff"  #: spreadsheets take a file without it for another encoding


@dataclass(frozen=True, slots=True)
class Made:
    """Whole files in the store, as {"form", "name", "size", "sha256"}, and how many rows they show."""

    files: list[dict[str, Any]]
    rows: int

    def take_away(self, store: FolderStorage) -> None:
        for file in self.files:
            store.delete(file["name"])


def make_files(
    store: FolderStorage,
    data: DataSet,
    *,
    edition: int,
    forms: Sequence[str],
    stem: str,
    about: tuple[str, ...] = (),
) -> Made:
    """`<stem>.<form>` for each form. Raises StoreUnusable; what was placed before that is taken away again."""
    with translation.override(data.language):
        counts = count(data)
        made = Made([], counts.rows)
        try:
            for form in forms:
                write = partial(_WRITERS[form], data=data, counts=counts, edition=edition)
                placed = store.place(f"{stem}.{form}", write, about=about)
                made.files.append({"form": form, "name": placed.name, "size": placed.size, "sha256": placed.sha256})
        except BaseException:
            made.take_away(store)
            raise
    return made


def write_csv(file: IO[bytes], data: DataSet, counts: Counts, *, edition: int) -> None:
    """Nothing in it is taken for a formula: what would be gets an apostrophe in front."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
    text.write(UTF8_MARK)
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(titles(data.zone))
    writer.writerows(_safe_rows(data))
    text.detach()


def _safe_rows(data: DataSet) -> Iterator[list[str]]:
    for cells in Cells(data.zone).all(data.rows()):
        yield [exporting.safe_cell(text) for text in cells]


_WRITERS: dict[str, Callable[..., None]] = {"xlsx": workbook.write_workbook, "pdf": write_paper, "csv": write_csv}
FORMS = tuple(_WRITERS)
MEDIA_TYPES = {
    "xlsx": workbook.MEDIA_TYPE,
    "pdf": "application/pdf",
    "csv": exporting.MEDIA_TYPES["csv"],
}
