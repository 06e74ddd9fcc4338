"""A child process that is told by lines and answers in JSON lines, so that its stretches of work can be measured."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stand.environment import CHECKOUT

PATIENCE = 30.0  #: seconds for its end


class Talker:
    """Raises RuntimeError with the end of its log when it ends instead of answering."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                argv,
                cwd=CHECKOUT,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self.told = self._answer()

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, order: str) -> dict[str, Any]:
        self.tell(order)
        return self._answer()

    def tell(self, order: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(order + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """What it says next."""
        return self._answer()

    def close(self) -> None:
        if self._process.poll() is None:
            try:
                self.tell("end")
                self._process.wait(PATIENCE)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Talker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            tail = "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
            raise RuntimeError(f"it ended with {code}.\n{tail}")
        found: dict[str, Any] = json.loads(line)
        return found
