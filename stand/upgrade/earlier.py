"""The earlier state: its files, and whether what is installed is what it was locked to."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path

from stand.environment import CHECKOUT
from stand.system import System

#: Where the engine stood whole: every fault proved, one process. Stands for the first release until there are tags.
FIRST = "79e8cf0"


class NoSuchState(RuntimeError):
    """This checkout does not know the earlier commit: its history was cut off. Fetch the whole of it."""


def unpack(commit: str, folder: Path) -> Path:
    """The files of a commit in `folder`. Raises NoSuchState."""
    done = subprocess.run(["git", "archive", "--format=tar", commit], cwd=CHECKOUT, capture_output=True)
    if done.returncode:
        raise NoSuchState(NoSuchState.__doc__)
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        # Python before 3.11.4, such as Debian 12's own, knows no filter; it is our own archive.
        if hasattr(tarfile, "data_filter"):
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder)  # noqa: S202
    return folder


def other_versions(lock: Path) -> list[str]:
    """What a lock names and this environment has in another version or not at all, as `name 1.0, here 2.0`."""
    found = []
    for line in lock.read_text(encoding="utf-8").splitlines():
        name, equals, rest = line.partition("==")
        if not equals or line.startswith((" ", "#")) or ";" in rest:
            continue
        wanted = rest.split()[0]
        try:
            here = version(name)
        except PackageNotFoundError:
            here = "none"
        if here != wanted:
            found.append(f"{name} {wanted}, here {here}")
    return found


class EarlierSystem(System):
    """Runs the product's processes and commands from `checkout`, in the words that it knew then."""

    def _argv(self, name: str) -> list[str]:
        argv = super()._argv(name)
        if name == "web" and not (self.checkout / "caseflow" / "web_server.py").exists():
            return [sys.executable, "-m", "gunicorn", "caseflow.wsgi", "--bind", argv[-1]]
        return argv
