"""`make demo`: everything runs, the data stays, nothing is left behind, and two checkouts do not meet."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from stand.people import SignedIn
from tests.stand.conftest import Demo, living, plain_environment, wait_for
from tests.stand.first_hour import follow

TICKET = {
    "organisation": "acme",
    "process": "restore_access",
    "source": "helpdesk",
    "external_id": "T-1",
    "intake": {"customer_id": "U-1", "subscription_id": "S-1", "payment_id": "PAY-1", "claim": "Нет доступа"},
}


def open_case(demo: Demo) -> None:
    headers = {"Authorization": f"Bearer {demo.said('token')}"}
    answer = httpx2.post(f"{demo.address}/api/v1/cases/", json=TICKET, headers=headers, trust_env=False)
    assert answer.status_code == 201, answer.text


def cases_in(demo: Demo) -> list[str]:
    """What the viewer sees, signed in with what stands on the screen."""
    (password,) = [line.split()[1] for line in demo.lines if line.split()[:1] == ["viewer"]]
    viewer = SignedIn(demo.address, "viewer", password)
    try:
        results = viewer.get("/api/v1/cases/?external_id=T-1").json()["results"]
    finally:
        viewer.close()
    return [case["external_id"] for case in results]


def explained(checkout: Path) -> str:
    """The ticket of the story, asked for as the screen and the README say."""
    done = subprocess.run(
        [sys.executable, "-m", "stand.manage", "explain_case", "T-4821", "--as", "operator"],
        cwd=checkout,
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.timeout(240)
def test_the_demo_keeps_its_data_beside_another_one_and_leaves_no_process(
    a_checkout: Callable[[], Path], a_demo: Callable[[Path], Demo]
) -> None:
    ours, other = a_checkout(), a_checkout()
    first = a_demo(ours)
    first.wait_ready()
    open_case(first)
    assert cases_in(first) == ["T-1"]
    family = first.family()
    assert len(family) >= 7  # the stand, its guard, two servers, outside systems, web, workers, dispatcher
    assert first.press_ctrl_c() == 0
    assert living(family) == set()

    (ours / ".stand" / "demo.json").unlink()  # as if the first start had ended before it told its story
    again, beside = a_demo(ours), a_demo(other)
    again.wait_ready()
    assert again.said("token") not in ("", first.said("token"))
    told = explained(ours)
    assert "T-4821" in told and "Ждёт решения" in told
    assert follow(again, ours) >= 8  # the first hour, as the page tells it
    beside.wait_ready()
    assert again.address == first.address
    assert beside.address != again.address
    assert cases_in(again) == ["T-1"]
    assert cases_in(beside) == []

    families = [again.family(), beside.family()]
    assert again.press_ctrl_c() == 0
    assert living(families[0]) == set()
    # However the stand dies, its guard ends what it had started.
    beside.kill()
    wait_for(lambda: living(families[1]) == set())


def test_a_second_demo_in_the_same_checkout_is_told_so(
    a_checkout: Callable[[], Path], a_demo: Callable[[Path], Demo]
) -> None:
    checkout = a_checkout()
    first = a_demo(checkout)
    wait_for(lambda: bool(first.lines), first)

    second = a_demo(checkout)

    wait_for(lambda: not second.is_running, second)
    assert "Another stand uses" in second.screen
