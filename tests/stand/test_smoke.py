"""`make smoke`: one ticket from a POST to COMPLETED, told in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.stand.conftest import plain_environment


def test_smoke_tells_a_completed_case_in_one_line(a_checkout: Callable[[], Path]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stand.smoke"],
        cwd=a_checkout(),
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
    )

    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    story = json.loads(line)
    assert story["state"] == "COMPLETED"
    assert story["effects_in_outside_ledger"] == 1
    assert story["history"][0] == "case.opened"
    assert {"web", "worker-1", "worker-2", "dispatcher", "simulator"} <= set(story["processes"])
