"""Where data sets and files lie. A name is there whole or not at all: written aside, synced, renamed.

Any Django storage that can do what FolderStorage adds may stand in the setting STORAGES["documents"].
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, cast

from django.core.files.storage import FileSystemStorage, storages

from caseflow.domain.failpoints import failpoint

ASIDE = "unfinished"  #: the folder of what is being written
HALF_WRITTEN_AFTER = timedelta(hours=1)  #: nobody writes one file for so long; what is older was left behind

#: What the operating system says of a store that takes nothing more.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
CLOSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class StoreUnusable(Exception):
    """The store cannot be written: {code}."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code  #: store_full or store_read_only
        self.message = message


@dataclass(frozen=True, slots=True)
class Aside:
    """A whole file, on the disk, that has no name yet."""

    path: Path
    size: int  #: bytes
    sha256: str

    def drop(self) -> None:
        """What cannot be removed now is swept later."""
        with suppress(OSError):
            self.path.unlink()


@dataclass(frozen=True, slots=True)
class Placed:
    """A whole file of the store."""

    name: str
    size: int  #: bytes
    sha256: str


class FolderStorage(FileSystemStorage):
    """A folder. What it holds is never overwritten by anything else: names follow from content or from a key."""

    def place(
        self, name: str | Callable[[str], str], write: Callable[[IO[bytes]], None], *, about: tuple[str, ...] = ()
    ) -> Placed:
        """Let `write` fill a file, and put it under `name` when it is whole and on the disk.

        `name` may be made from the file's SHA-256. Raises StoreUnusable for a full or read-only store; nothing is under
        `name` then that was not there before.
        """
        aside = self.write_aside(write, about=about)
        try:
            return self.give_name(aside, name(aside.sha256) if callable(name) else name)
        except BaseException:
            aside.drop()
            raise

    def write_aside(self, write: Callable[[IO[bytes]], None], *, about: tuple[str, ...] = ()) -> Aside:
        """The first half of `place`. Raises StoreUnusable, and then nothing is left."""
        with _understood():
            path = Path(self.path(f"{ASIDE}/{secrets.token_hex(16)}"))
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with path.open("xb") as file:
                    write(file)
                    failpoint("document.writing", *about)
                    file.flush()
                    os.fsync(file.fileno())
                return Aside(path, path.stat().st_size, digest_of_file(path))
            except BaseException:
                Aside(path, 0, "").drop()
                raise

    def give_name(self, aside: Aside, name: str) -> Placed:
        """The second half. Raises StoreUnusable, and then the file is still aside."""
        with _understood():
            target = Path(self.path(name))
            target.parent.mkdir(parents=True, exist_ok=True)
            aside.path.rename(target)
            _sync_folder(target.parent)
        return Placed(name, aside.size, aside.sha256)

    def sweep(self, older_than: timedelta = HALF_WRITTEN_AFTER) -> int:
        """Remove what a stopped process left half written; how many files."""
        limit = time.time() - older_than.total_seconds()
        removed = 0
        folder = Path(self.path(ASIDE))
        for path in folder.iterdir() if folder.is_dir() else ():
            try:
                if path.stat().st_mtime < limit:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                    removed += 1
            except OSError:
                continue  # another sweep was faster, or nothing can be removed now: the next one will see to it
        return removed

    def is_whole(self, name: str, *, size: int, sha256: str = "") -> bool:
        """Whether the file is there with this size and, where one is named, this digest."""
        path = Path(self.path(name))
        try:
            return path.stat().st_size == size and (not sha256 or digest_of_file(path) == sha256)
        except FileNotFoundError:
            return False


def digest_of_file(path: Path) -> str:
    """SHA-256, hexadecimal; the file is read in pieces. Raises FileNotFoundError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def document_store() -> FolderStorage:
    return cast(FolderStorage, storages["documents"])


@contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise StoreUnusable("store_full", "the store of documents is full") from error
        if error.errno in CLOSED:
            raise StoreUnusable("store_read_only", "the store of documents cannot be written") from error
        raise


def _sync_folder(folder: Path) -> None:
    # A rename is in the folder, not in the file: without this a power cut may take it back.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
