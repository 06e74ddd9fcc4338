"""Checkouts of one's own: copies in which the stand's commands run as a person runs them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from stand.environment import CHECKOUT, temporary_folder

READY = "ready (Ctrl-C stops everything)"
PATIENCE = 100.0  #: seconds
#: What the test run itself is told, and a person's shell would not say.
TOLD = ("CASEFLOW_", "DATABASE_", "REDIS_URL", "SIMULATOR_URL", "DJANGO_")
NOT_COPIED = shutil.ignore_patterns(".venv*", ".stand", ".git", ".*_cache", "__pycache__", "*.pyc")


def plain_environment() -> dict[str, str]:
    """A person's shell: no server is named, so the stand starts its own."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(TOLD)}
    return plain | {"CASEFLOW_FAST_HASH": "1", "CASEFLOW_UNDO_SECONDS": "1"}


class Demo:
    """`python -m stand.demo` in one checkout."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.lines: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "stand.demo"],
            cwd=checkout,
            env=plain_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def wait_ready(self) -> None:
        wait_for(lambda: READY in self.lines or not self.is_running, self)
        assert READY in self.lines, self.screen

    @property
    def screen(self) -> str:
        return "\n".join(self.lines)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def address(self) -> str:
        return self.said("Caseflow").rstrip("/")

    def said(self, name: str) -> str:
        """What stands behind `name:` on the screen; empty if nothing does."""
        found = [line.partition(":")[2].strip() for line in self.lines if line.strip().startswith(f"{name}:")]
        return found[0] if found else ""

    def family(self) -> set[int]:
        """Every process that came of it and lives."""
        return descendants(self._process.pid) | {self._process.pid}

    def press_ctrl_c(self) -> int:
        return self._end(signal.SIGINT)

    def kill(self) -> int:
        return self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> int:
        self._process.send_signal(number)
        return self._process.wait(PATIENCE)

    def close(self) -> None:
        if self.is_running:
            self.press_ctrl_c()
        self._reader.join(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip())


@pytest.fixture
def a_checkout() -> Iterator[Callable[[], Path]]:
    with ExitStack() as folders:

        def copy() -> Path:
            # Not pytest's own folder, which PostgreSQL's account could not enter.
            checkout = folders.enter_context(temporary_folder()) / "checkout"
            shutil.copytree(CHECKOUT, checkout, ignore=NOT_COPIED)
            checkout.chmod(0o711)
            return checkout

        yield copy


@pytest.fixture
def a_demo() -> Iterator[Callable[[Path], Demo]]:
    started: list[Demo] = []

    def start(checkout: Path) -> Demo:
        started.append(Demo(checkout))
        return started[-1]

    yield start
    for demo in started:
        demo.close()


def wait_for(what: Callable[[], bool], demo: Demo | None = None) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, demo.screen if demo else "nothing came"
        time.sleep(0.05)


def descendants(pid: int) -> set[int]:
    children = {child for child, parent in _parents().items() if parent == pid}
    return children.union(*(descendants(child) for child in children))


def living(pids: set[int]) -> set[int]:
    return pids & set(_parents())


def _parents() -> dict[int, int]:
    """Parent by process id, of processes that have not ended. One whose first thread is a zombie may have others, and
    until they are gone too whoever started it is not told of its end."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # gone meanwhile
            state, parent, threads = fields[0], fields[1], fields[17]
            if state != "Z" or int(threads) > 1:
                found[int(folder.name)] = int(parent)
    return found
