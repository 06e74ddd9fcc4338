"""What the files of a document say, and that the same data give the same bytes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation
from fpdf import FPDF

from caseflow.domain.canonical import canonical_bytes
from documents import paper
from documents.datasets import DataSet, open_data_set, store_lines
from documents.making import make_files
from documents.storage import FolderStorage
from documents.wording import Cells, count, introduction, sentences, title_of, titles
from tests.documents.conftest import ABOUT, ROW

FORMULA = '=HYPERLINK("https://example.org?"&A1)'
MOST_MEMORY = 512 * 1024  #: KiB

_MAKE = """
import json, resource, sys
import django; django.setup()
from documents.datasets import open_data_set
from documents.making import make_files
from documents.storage import FolderStorage
folder, digest, *forms = sys.argv[1:]
store = FolderStorage(location=folder)
made = make_files(store, open_data_set(store, digest), edition=1, forms=forms, stem="again")
print(json.dumps([made.rows, {file["form"]: file["sha256"] for file in made.files},
                  resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def _data(store: FolderStorage, rows: list[dict[str, Any]], **about: Any) -> DataSet:
    lines = (canonical_bytes(line) + b"\n" for line in [ABOUT | about, *rows])
    return open_data_set(store, store_lines(store, lines, about=())[0].sha256)


def _in_another_process(store: FolderStorage, digest: str, *forms: str) -> tuple[int, dict[str, str], int]:
    """(rows, SHA-256 of each form, most memory in KiB), as a worker of its own would have it."""
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "CASEFLOW_LOG_LEVEL": "WARNING"}
    command = [sys.executable, "-c", _MAKE, str(store.location), digest, *forms]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=220, check=True)
    rows, digests, memory = json.loads(done.stdout)
    return rows, digests, memory


def test_the_same_data_set_gives_the_same_bytes_at_any_time_in_any_process(store: FolderStorage) -> None:
    data = _data(store, [ROW | {"ticket": f"Т-{number} ☂ 漢"} for number in range(40)])
    forms = ("xlsx", "pdf", "csv")
    first = {file["form"]: file["sha256"] for file in make_files(store, data, edition=1, forms=forms, stem="one").files}
    assert _in_another_process(store, data.digest, *forms)[:2] == (40, first)


def test_a_formula_in_a_ticket_is_text_in_every_form(store: FolderStorage) -> None:
    data = _data(store, [ROW | {"ticket": FORMULA, "subject": "@SUM(A1)"}])
    made = make_files(store, data, edition=1, forms=("xlsx", "csv"), stem="f")
    made.put_in_place(store)
    files = {file["form"]: file["name"] for file in made.files}
    with zipfile.ZipFile(store.path(files["xlsx"])) as book:
        sheets = b"".join(book.read(name) for name in book.namelist() if name.startswith("xl/worksheets/sheet"))
    assert b"=HYPERLINK(" in sheets
    assert set(re.findall(rb'<c [^>]*t="(\w+)"', sheets)) == {b"inlineStr"}
    assert len(re.findall(rb"<c ", sheets)) == len(re.findall(rb"<is>", sheets))
    assert not re.search(rb"<f[ >]", sheets)
    (_, row) = csv.reader(io.StringIO(Path(store.path(files["csv"])).read_text("utf-8-sig")))
    assert row[0] == f"'{FORMULA}" and row[2] == "'@SUM(A1)"


@pytest.mark.parametrize(
    ("language", "title", "sentence"),
    [
        ("ru", "Заявки, Продажи, 1 октября 2026", "За период закрыто 2 обращения."),
        ("en", "Requests, Продажи, 1 October 2026", "2 tickets were closed in the period."),
    ],
)
def test_a_document_speaks_the_organisations_language_with_its_plurals_and_in_its_zone(
    store: FolderStorage, language: str, title: str, sentence: str
) -> None:
    data = _data(store, [ROW, ROW, ROW | {"state": "CHECKING", "closed": None, "outcome": ""}], language=language)
    with translation.override(language):
        counts = count(data)
        assert title_of(data) == title
        assert sentence in sentences(counts)
        assert "2026-10-02 00:00, Europe/Moscow" in " ".join(introduction(data, counts, 1))
        assert "(Europe/Moscow)" in titles(data.zone)[6]
        assert Cells(data.zone).of(ROW)[6] == "2026-10-01 13:00"
    assert (counts.opened, counts.closed, counts.open) == (3, 2, 1)


def test_a_printed_document_ends_early_and_says_so(store: FolderStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "PRINTED", 3)
    printed: list[str] = []
    write = FPDF.multi_cell

    def listen(self: FPDF, w: float, h: float | None = None, text: str = "", **more: Any) -> Any:
        printed.append(text)
        return write(self, w, h, text, **more)

    monkeypatch.setattr(FPDF, "multi_cell", listen)
    make_files(store, _data(store, [ROW] * 5, language="en"), edition=2, forms=("pdf",), stem="p")
    assert printed.count("Of 5 rows only the first 3 are printed here; the workbook holds them all.") == 2
    assert "Corrected edition 2" in printed


@pytest.mark.timeout(240)
def test_a_file_of_200_000_rows_takes_less_than_512_megabytes(store: FolderStorage) -> None:
    row = canonical_bytes(ROW) + b"\n"
    lines = (line for line in [canonical_bytes(ABOUT) + b"\n", *[row] * 200_000])
    placed, rows = store_lines(store, lines, about=())
    assert rows == 200_000
    made, _, memory = _in_another_process(store, placed.sha256, "xlsx")
    assert made == 200_000
    assert memory < MOST_MEMORY
