"""`docs/first-hour.md` as a person follows it: each command is run, and what it prints is what the page shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from stand.people import SignedIn
from tests.stand.conftest import PATIENCE, Demo, plain_environment, wait_for

#: A command with what it prints, or a person who approves; `…` on the page stands for anything, also for many lines.
STEP = re.compile(r"```sh\n(.*?)```\n\n```text\n(.*?)```|<!-- here somebody approves (\S+) -->", re.DOTALL)


def follow(demo: Demo, checkout: Path) -> int:
    """Raises AssertionError where the page and the system differ; how many steps were taken."""
    page = (checkout / "docs" / "first-hour.md").read_text(encoding="utf-8")
    environment = plain_environment() | {
        "WEB": demo.address,
        "OUTSIDE": demo.said("outside world"),
        "TOKEN": demo.said("token"),
        "M": f"{sys.executable} -m stand.manage",
    }
    approver = SignedIn(demo.address, "approver", password_of(demo, "approver"))
    steps = STEP.findall(page)
    try:
        for command, shown, ticket in steps:
            if ticket:
                approve(approver, ticket)
            else:
                print_as_shown(command, shown, checkout, environment)
    finally:
        approver.close()
    return len(steps)


def print_as_shown(command: str, shown: str, checkout: Path, environment: dict[str, str]) -> None:
    """Whoever reads a page looks a moment later than a test does: what the machines still work on is asked again."""
    form = re.compile(re.escape(shown.strip()).replace("…", ".*"), re.DOTALL)
    printed: list[str] = []

    def prints() -> bool:
        printed.append(run(command, checkout, environment))
        return form.fullmatch(printed[-1]) is not None

    if "explain_case" not in command:
        assert prints(), f"{command}\n{printed[-1]}"
        return
    try:
        wait_for(prints)
    except AssertionError:
        raise AssertionError(f"{command}\n{printed[-1]}") from None


def run(command: str, checkout: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=checkout,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()


def approve(approver: SignedIn, ticket: str) -> None:
    (case,) = approver.get(f"/api/v1/cases/?external_id={ticket}").json()["results"]
    proposal = approver.get(f"/api/v1/cases/{case['id']}/proposals/").json()["results"][-1]
    approver.decide(proposal, "approve").raise_for_status()


def password_of(demo: Demo, username: str) -> str:
    (password,) = [line.split()[1] for line in demo.lines if line.split()[:1] == [username]]
    return password
