"""Commands run in this process, on the real database and, where a case has to move, the real outside world."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Organisation
from tests.driving import engine, simulator, test_processes
from tests.factories import make_organisation, make_person

__all__ = ["engine", "simulator", "test_processes"]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left: its exit code, what it wrote, and the sentence of its failure."""

    code: int
    out: str
    err: str
    failure: str = ""

    def json(self) -> Any:
        assert self.out, self.failure
        return json.loads(self.out)

    def lines(self) -> list[Any]:
        """One JSON value a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ran]


@pytest.fixture
def run() -> Run:
    def run_command(*arguments: str) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        try:
            call_command(*arguments, stdout=out, stderr=err)
        except CommandError as failure:
            return Ran(failure.returncode, out.getvalue(), err.getvalue(), str(failure))
        except SystemExit as end:  # it ran to its end and something remains
            return Ran(int(end.code or 0), out.getvalue(), err.getvalue())
        return Ran(0, out.getvalue(), err.getvalue())

    return run_command


@pytest.fixture
def acme(database: None) -> Organisation:
    """An organisation with an operator, a viewer and somebody of another organisation."""
    organisation = make_organisation("acme")
    make_person("operator", organisation, "operator")
    make_person("viewer", organisation, "viewer")
    make_person("stranger", make_organisation("globex"), "operator")
    return organisation


@pytest.fixture
def a_file(tmp_path: Path) -> Callable[..., str]:
    def write(*lines: bytes, end: bytes = b"\n") -> str:
        path = tmp_path / "tickets.jsonl"
        path.write_bytes(b"".join(line + end for line in lines))
        return str(path)

    return write
