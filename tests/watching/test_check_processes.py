"""A health check asks by command whether a process of its kind lives, here or anywhere."""

from __future__ import annotations

import io
import json
import socket
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from tests.console.test_ops import beats

HERE = socket.gethostname()


def asked(*arguments: str) -> tuple[int, dict[str, Any]]:
    out = io.StringIO()
    code = 0
    try:
        call_command("check_processes", *arguments, "--json", stdout=out)
    except SystemExit as ended:
        code = int(ended.code or 0)
    return code, json.loads(out.getvalue())


def test_only_a_living_process_of_the_kind_and_place_is_good(db: None) -> None:
    assert asked("worker")[0] == asked("dispatcher")[0] == 1
    beats("worker", pid=1, queues=["quick"])
    assert asked("worker") == (0, {"live": 1, "red": 0, "silent": 0, "stopped": 0, "reason": ""})
    assert asked("worker", "--here")[0] == asked("worker", "--queue", "slow")[0] == asked("dispatcher")[0] == 1
    assert asked("worker", "--queue", "quick")[0] == 0
    mine = beats("dispatcher", pid=2)
    mine.host = HERE
    mine.save()
    assert asked("dispatcher", "--here")[0] == 0


@pytest.mark.parametrize(
    ("state", "changes"),
    [
        ("silent", {"beat_at": -timedelta(minutes=1)}),
        ("stopped", {"stopped_at": timedelta(0)}),
        ("red", {"is_live": False, "live_since": None, "reason": "the fetch loop of quick is silent"}),
    ],
)
def test_one_that_is_silent_stopped_or_red_is_not(db: None, state: str, changes: dict[str, Any]) -> None:
    now = timezone.now()
    beats("worker", pid=1, **{k: now + v if isinstance(v, timedelta) else v for k, v in changes.items()})
    code, said = asked("worker")
    assert (code, said[state], said["reason"]) == (1, 1, changes.get("reason", ""))
