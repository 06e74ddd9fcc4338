"""Commands from a plain shell: what is missing is named, and the demo's own are one word away."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.stand.conftest import plain_environment


def shell(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_command_without_its_environment_names_every_missing_variable(a_checkout: Callable[[], Path]) -> None:
    done = shell(a_checkout(), "manage.py", "explain_case", "--help")

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    *missing, advice = done.stderr.splitlines()
    assert [line.partition(":")[0] for line in missing] == [
        "CASEFLOW_SECRET_KEY",
        "CASEFLOW_DATA_KEY",
        "CASEFLOW_INSTALLATION_ID",
        "DATABASE_URL",
        "REDIS_URL",
    ]
    assert advice.endswith(".venv/bin/python -m stand.manage explain_case --help")


def test_a_checkout_in_which_no_demo_ran_says_so(a_checkout: Callable[[], Path]) -> None:
    done = shell(a_checkout(), "-m", "stand.manage", "explain_case", "T-4821", "--as", "operator")

    assert (done.returncode, done.stdout) == (2, "")
    assert "make demo" in done.stderr


def test_the_tickets_of_the_big_file_go_to_a_folder_that_has_to_be_named(tmp_path: Path) -> None:
    checkout = Path(__file__).resolve().parents[2]

    refused = shell(checkout, "-m", "tests.data.make_tickets")
    written = shell(checkout, "-m", "tests.data.make_tickets", str(tmp_path))

    assert (refused.returncode, written.returncode) == (2, 0)
    assert refused.stderr.startswith("usage:")
    assert (tmp_path / "tickets.jsonl").exists()
