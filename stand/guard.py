"""A tiny process that outlives the stand by seconds: however the stand dies, it ends what the stand started.

PR_SET_PDEATHSIG alone reaches only direct children, on Linux only; a worker's own children would stay.
"""

import os
import signal
import subprocess
import sys
import time

PATIENCE = 5.0  #: seconds between the request to stop and SIGKILL


class Guard:
    """The stand's end of the pipe: names the process groups to end."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def watch(self, group: int, stop_signal: signal.Signals) -> None:
        """End this process group when the stand dies."""
        self._say(f"+ {group} {int(stop_signal)}")

    def forget(self, group: int) -> None:
        """This process group has ended; its number may be given to somebody else."""
        self._say(f"- {group} 0")

    def close(self) -> None:
        """Let the guard go. What it still watches is ended."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()


def _signal(group: int, number: int) -> bool:
    """Tell whether the group still had a process to signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _watch() -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    groups: dict[int, int] = {}
    for line in sys.stdin:  # ends when the stand closes the pipe or dies
        sign, group, number = line.split()
        if sign == "+":
            groups[int(group)] = int(number)
        else:
            groups.pop(int(group), None)
    living = [group for group, number in groups.items() if _signal(group, number)]
    deadline = time.monotonic() + PATIENCE
    while living and time.monotonic() < deadline:
        time.sleep(0.1)
        living = [group for group in living if _signal(group, 0)]
    for group in living:
        _signal(group, signal.SIGKILL)


if __name__ == "__main__":
    _watch()
