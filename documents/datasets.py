"""A data set in the store, by its digest: read line by line, never whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any
from zoneinfo import ZoneInfo

from .storage import FolderStorage, Placed, digest_of_file


class NoDataSet(Exception):
    """The store has no whole data set {digest}."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"The store has no whole data set {digest}.")


@dataclass(frozen=True, slots=True)
class DataSet:
    """What it is about, in the words it was chosen with, and where its lines are."""

    digest: str
    path: Path
    about: dict[str, Any]

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.about["zone"])

    @property
    def language(self) -> str:
        return str(self.about["language"])

    @property
    def start(self) -> datetime:
        return datetime.fromisoformat(self.about["start"])

    @property
    def end(self) -> datetime:
        return datetime.fromisoformat(self.about["end"])

    def rows(self) -> Iterator[dict[str, Any]]:
        """A case a row, as `choosing` writes it: names, state, outcome, moments as ISO text, age in seconds."""
        with self.path.open("rb") as file:
            next(file)
            for line in file:
                yield json.loads(line)


def name_of(digest: str) -> str:
    return f"data/{digest[:2]}/{digest}.jsonl"


def store_lines(store: FolderStorage, lines: Iterable[bytes], *, about: tuple[str, ...]) -> tuple[Placed, int]:
    """Keep a data set under its digest; the file, and how many rows it holds. Raises StoreUnusable."""
    count = -1  # the first line is no row

    def write(file: IO[bytes]) -> None:
        nonlocal count
        for line in lines:
            file.write(line)
            count += 1

    placed = store.place(name_of, write, about=about)
    return placed, count


def open_data_set(store: FolderStorage, digest: str) -> DataSet:
    """Raises NoDataSet where it is missing or is not what its name says."""
    path = Path(store.path(name_of(digest)))
    try:
        if digest_of_file(path) != digest:
            raise NoDataSet(digest)
    except FileNotFoundError:
        raise NoDataSet(digest) from None
    with path.open("rb") as file:
        return DataSet(digest, path, json.loads(next(file)))


def has_data_set(store: FolderStorage, digest: str) -> bool:
    """Whether a file has its name; `open_data_set` looks whether it is what the name says."""
    return store.exists(name_of(digest))
