"""Bringing a dump back into an empty database, marked before any process can start."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from stand.postgres import SUPERUSER
from stand.system import System
from stand.unprivileged import find_account, reachable_binaries


def restore(system: System, dump: Path, *, reason: str) -> None:
    """Fill the empty database of `system`, whose servers run and whose processes do not, and hold its effects back.

    Ownership and rights come with the dump; the roles of it have to be there.
    """
    argv = [str(reachable_binaries(find_account()) / "pg_restore"), "--exit-on-error", "--single-transaction"]
    argv += [f"--dbname={system.postgres.url(SUPERUSER)}", str(dump)]
    done = subprocess.run(argv, capture_output=True, text=True, env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"})
    if done.returncode:
        raise RuntimeError(f"pg_restore ended with {done.returncode}.\n{done.stderr[-2000:]}")
    system.manage("mark_restored", "--reason", reason)
