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
from .storage import Aside, FolderStorage
from .wording import Cells, Counts, count, titles

UTF8_MARK = "\ufeff"  #: spreadsheets take a file without it for another encoding


@dataclass(frozen=True, slots=True)
class Made:
    """Whole files as {"form", "name", "size", "sha256"}, and how many rows they show; aside until they are named."""

    files: list[dict[str, Any]]
    rows: int
    asides: list[Aside]

    def put_in_place(self, store: FolderStorage) -> None:
        """Raises StoreUnusable. What has its name by then keeps it: a manifest decides what counts, not a file."""
        for file, aside in zip(self.files, self.asides, strict=True):
            store.give_name(aside, file["name"])

    def drop(self) -> None:
        for aside in self.asides:
            aside.drop()


def make_files(
    store: FolderStorage,
    data: DataSet,
    *,
    edition: int,
    forms: Sequence[str],
    stem: str,
    about: tuple[str, ...] = (),
) -> Made:
    """A file for each form, aside. Raises StoreUnusable, and then none is left.

    Nothing with a name is touched: somebody who took this work over may have named the same files already. Names
    follow from the content, too, so that another release that makes other bytes takes nobody's file away.
    """
    with translation.override(data.language):
        counts = count(data)
        made = Made([], counts.rows, [])
        try:
            for form in forms:
                write = partial(_WRITERS[form], data=data, counts=counts, edition=edition)
                aside = store.write_aside(write, about=about)
                made.asides.append(aside)
                name = f"{stem}-{aside.sha256[:16]}.{form}"
                made.files.append({"form": form, "name": name, "size": aside.size, "sha256": aside.sha256})
        except BaseException:
            made.drop()
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


def _write_paper(file: IO[bytes], data: DataSet, counts: Counts, *, edition: int) -> None:
    # Its library takes a quarter of a second, from every process that starts: only who makes a paper pays for it.
    from .paper import write_paper

    write_paper(file, data, counts, edition=edition)


_WRITERS: dict[str, Callable[..., None]] = {"xlsx": workbook.write_workbook, "pdf": _write_paper, "csv": write_csv}
FORMS = tuple(_WRITERS)
MEDIA_TYPES = {
    "xlsx": workbook.MEDIA_TYPE,
    "pdf": "application/pdf",
    "csv": exporting.MEDIA_TYPES["csv"],
}
