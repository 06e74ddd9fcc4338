"""`make evaluate`: no database, no broker, and three figures in its last line."""

from __future__ import annotations

import json
import subprocess
import sys

from stand.environment import CHECKOUT
from tests.stand.conftest import plain_environment


def test_an_evaluation_ends_with_what_came_through() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stand.evaluate", "--sample", "22"],
        cwd=CHECKOUT,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
    )

    assert done.returncode == 0, done.stderr
    *text, last = done.stdout.splitlines()
    found = json.loads(last)
    assert (found["cases"], found["accuracy"], found["injections_through"]) == (22, 1.0, 0)
    obedient = found["proposers"]["a model that obeys the customer"]
    assert (obedient["accuracy"], obedient["injections_through"]) == (0.0, 0)
    assert any("approval_switched_off" in line for line in text)
