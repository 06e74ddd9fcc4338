"""Where a worker's time goes, sampled from outside by py-spy: threads that hold the GIL, own time and with callees.

py-spy belongs to the benchmark's own packages (`lock/bench.txt`); it slows what it looks at by a few per cent.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from stand.environment import CHECKOUT

RATE = 200  #: samples a second
SHOWN = 70  #: functions of each list


def find_sampler() -> str:
    """Raises RuntimeError where py-spy is not installed."""
    for path in (CHECKOUT / ".venv-bench" / "bin" / "py-spy", CHECKOUT / ".venv" / "bin" / "py-spy"):
        if path.exists():
            return str(path)
    if found := shutil.which("py-spy"):
        return found
    raise RuntimeError("py-spy is not installed: make bench-venv")


class Profiler:
    """Samples one family of processes between `start` and `stop`, then writes what it saw as text."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._raw = path.with_suffix(".stacks")
        self._sampler = find_sampler()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, pid: int) -> None:
        argv = [self._sampler, "record", "--pid", str(pid), "--subprocesses", "--format", "raw", "--rate", str(RATE)]
        argv += ["--output", str(self._raw), "--duration", "3600", "--gil"]
        self._process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self, more: str = "") -> None:
        """`more` is written below."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        self._process.wait(60)
        self._path.write_text(told(self._raw.read_text(encoding="utf-8", errors="replace").splitlines()) + "\n" + more)


def told(stacks: Iterable[str]) -> str:
    """Two lists of the samples `frame;frame;… count`: by own time, and with what was called."""
    own: Counter[str] = Counter()
    own_by_function: Counter[str] = Counter()
    within: Counter[str] = Counter()
    total = 0
    for line in stacks:
        stack, _, count = line.rpartition(" ")
        frames = [frame for frame in stack.split(";") if not frame.startswith("process ")]
        if not frames or not count.isdigit():
            continue
        total += int(count)
        own[frames[-1]] += int(count)
        functions = [_function(frame) for frame in frames]
        own_by_function[functions[-1]] += int(count)
        for function in set(functions):
            within[function] += int(count)
    lines = [f"{total} samples at {RATE} a second"]
    for heading, counts in (
        ("own time by function", own_by_function),
        ("with what it calls", within),
        ("own time by line", own),
    ):
        lines += ["", heading, *_listed(counts, total)]
    return "\n".join(lines) + "\n"


def _function(frame: str) -> str:
    """`name (file:line)` without the line, so that a function counts once."""
    return frame.rpartition(":")[0] + ")" if ":" in frame else frame


def _listed(counts: Counter[str], total: int) -> list[str]:
    return [f"{100 * count / max(1, total):6.2f} %  {name}" for name, count in counts.most_common(SHOWN)]
