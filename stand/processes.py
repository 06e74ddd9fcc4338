"""Processes by role: each with its own log file and process group, none of which outlives the stand."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from stand.guard import Guard

STOP_PATIENCE = 10.0  #: seconds between the request to stop and SIGKILL
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class ProcessDied(RuntimeError):
    """A process ended before it was ready; the message ends with the last lines of its log."""


@dataclass
class Role:
    """One started process: how it was started, so that it can be started again."""

    name: str
    argv: list[str]
    environment: dict[str, str]
    log: Path
    stop_signal: signal.Signals
    user: tuple[int, int] | None
    folder: Path | None
    process: "subprocess.Popen[bytes]"
    since: float = field(default_factory=time.monotonic)


def _die_with_parent(stop_signal: signal.Signals, parent: int) -> Callable[[], None]:
    def prepare() -> None:
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, int(stop_signal))
            if os.getppid() != parent:  # the stand died between fork and prctl
                os._exit(1)

    return prepare


class ProcessGroup:
    """Starts, watches and stops processes. Start them from the main thread: the kernel watches the starting thread."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.roles: dict[str, Role] = {}
        self._guard: Guard | None = None
        logs.mkdir(parents=True, exist_ok=True)

    @property
    def pids(self) -> dict[str, int]:
        """Process id by role, of those that live."""
        return {name: role.process.pid for name, role in self.roles.items() if role.process.poll() is None}

    def start(
        self,
        role: str,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        stop_signal: signal.Signals = signal.SIGTERM,
        user: tuple[int, int] | None = None,
        folder: Path | None = None,
    ) -> int:
        """Start a process and return its id. `user` is (uid, gid) to run as, which takes root."""
        if role in self.pids:
            raise RuntimeError(f"{role} runs already.")
        log = self.logs / f"{role}.log"
        if self._guard is None:
            self._guard = Guard()
        with log.open("ab") as output:
            process = self._spawn(argv, environment, output, stop_signal, user, folder)
        self._guard.watch(process.pid, stop_signal)
        self.roles[role] = Role(
            name=role,
            argv=list(argv),
            environment=dict(environment),
            log=log,
            stop_signal=stop_signal,
            user=user,
            folder=folder,
            process=process,
        )
        return process.pid

    @staticmethod
    def _spawn(
        argv: Sequence[str],
        environment: Mapping[str, str],
        output: BinaryIO,
        stop_signal: signal.Signals,
        user: tuple[int, int] | None,
        folder: Path | None,
    ) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            argv,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            user=user[0] if user else None,
            group=user[1] if user else None,
            extra_groups=[] if user else None,
            start_new_session=True,  # so that Ctrl-C reaches the stand only, which stops them in order
            preexec_fn=_die_with_parent(stop_signal, os.getpid()),
        )

    def end_by(self, role: str, number: signal.Signals) -> None:
        """End one role by a signal to its leader; it may be started again by `restart`."""
        process = self.roles[role].process
        process.send_signal(number)
        try:
            process.wait(STOP_PATIENCE)
        except subprocess.TimeoutExpired:
            _signal_group(process, signal.SIGKILL)
            process.wait()
        self._forget(role)

    def restart(self, role: str) -> int:
        """Start a role again as it was started; it must have ended."""
        old = self.roles[role]
        # Its leader ended; a child it left behind would work on beside the new one.
        _signal_group(old.process, signal.SIGKILL)
        self._forget(role)
        return self.start(
            role, old.argv, old.environment, stop_signal=old.stop_signal, user=old.user, folder=old.folder
        )

    def dead(self) -> list[str]:
        """Roles that ended without being asked to."""
        return [name for name, role in self.roles.items() if role.process.poll() is not None]

    def wait_ready(self, role: str, is_ready: Callable[[], bool], patience: float = 60.0) -> None:
        """Ask `is_ready` until it says yes; raise ProcessDied or TimeoutError with the log's end."""
        deadline = time.monotonic() + patience
        while not is_ready():
            code = self.roles[role].process.poll()
            if code is not None:
                raise ProcessDied(f"{role} ended with code {code}.\n{self.log_tail(role)}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"{role} was not ready after {patience:.0f} s.\n{self.log_tail(role)}")
            time.sleep(0.05)

    def log_tail(self, role: str, lines: int = 30) -> str:
        """The last lines of a role's log."""
        text = self.roles[role].log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def signal(self, role: str, number: signal.Signals) -> None:
        """Send a signal to a role and all its children (SIGSTOP, SIGCONT, SIGKILL ...)."""
        _signal_group(self.roles[role].process, number)

    def kill(self, role: str) -> None:
        """End a role and all its children at once, as a power cut would."""
        self.signal(role, signal.SIGKILL)
        self.roles[role].process.wait()
        self._forget(role)

    def stop(self, *names: str) -> None:
        """Ask these roles (all, when none is named) to stop, wait, and end those that do not."""
        chosen = [self.roles[name] for name in names or list(self.roles) if name in self.roles]
        for role in chosen:
            if role.process.poll() is None:
                # The leader alone is asked: it knows how to stop its children.
                role.process.send_signal(role.stop_signal)
                role.process.send_signal(signal.SIGCONT)  # a stopped process could not answer
        deadline = time.monotonic() + STOP_PATIENCE
        for role in chosen:
            try:
                role.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            # Also when the leader ended: it may have left a child behind.
            _signal_group(role.process, signal.SIGKILL)
            role.process.wait()
            self._forget(role.name)
            del self.roles[role.name]

    def close(self) -> None:
        """Stop everything, newest first."""
        for name in reversed(list(self.roles)):
            self.stop(name)
        if self._guard is not None:
            self._guard.close()
            self._guard = None

    def _forget(self, role: str) -> None:
        if self._guard is not None:
            self._guard.forget(self.roles[role].process.pid)


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        # Gone, or on macOS only zombies left.
        pass
