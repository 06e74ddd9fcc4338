"""A log line holds listed fields and bound ids, and of an error nothing that somebody wrote."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from caseflow import traces
from caseflow.logs import FIELDS, JsonLines, TaskIds
from cases.actors import run_task
from stand.environment import CHECKOUT
from tests.console.seeing import completed
from tests.driving import Engine

CANARY = "word-that-somebody-wrote"


class Kept(logging.Handler):
    """What a process would write, line by line."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonLines())
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        assert "\n" not in line
        self.lines.append(json.loads(line))


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler, root = Kept(), logging.getLogger()
    root.addHandler(handler)
    traces.unbind()
    yield handler
    root.removeHandler(handler)
    traces.unbind()


def fail(text: str) -> None:
    try:
        int(text)
    except ValueError as error:
        raise RuntimeError(f"{text} again") from error


def test_an_error_is_told_by_types_and_places_without_what_it_quotes(kept: Kept) -> None:
    log = logging.getLogger("caseflow.test")
    for error in (lambda: fail(CANARY), lambda: (_ for _ in ()).throw(OperationalError(f"no room\nDETAIL: {CANARY}"))):
        try:
            error()
        except Exception:
            log.exception("it failed", extra={"claim": CANARY, "ms": 3})
    ours, databases = kept.lines
    assert CANARY not in json.dumps(kept.lines)
    assert [one["type"] for one in ours["error"]] == ["RuntimeError", "ValueError"]
    assert "test_log_lines.py" in ours["error"][1]["at"][-1] and ours["error"][1]["at"][-1].endswith(" fail")
    assert databases["error"][0]["text"] == "no room"
    assert (ours["level"], ours["ms"], ours.keys() & {"claim"}) == ("error", 3, set())


def test_a_stage_tells_one_line_with_the_ids_of_its_case_task_action_and_calls(engine: Engine, kept: Kept) -> None:
    story = completed(engine)
    stages = [line for line in kept.lines if line["logger"] == "caseflow.stage"]
    assert [line["stage"] for line in stages] == ["observe", "execute", "notify"]
    assert {line["case_id"] for line in stages} == {story.case.public_id}
    assert {line["action_id"] for line in stages if "action_id" in line} >= {story.effect.public_id}
    calls = {call["call_id"]: call for line in stages for call in line.get("calls", [])}
    assert calls.keys() >= {call.call_id for call in story.effect.calls.all()}
    assert {(call["verb"], call["outcome"]) for call in calls.values()} == {("read", "read"), ("perform", "confirmed")}
    # Which task was taken over by the same worker.
    assert [line.get("next") for line in stages] == [None, stages[2]["task_id"], None]
    assert all(line.keys() <= {"at", "level", "logger", "message", *FIELDS, *traces.NAMES.values(), "task_id"}
               for line in stages)  # fmt: skip


def test_a_request_is_one_line_of_its_route_and_ids_and_the_answer_carries_its_id(db: None, kept: Kept) -> None:
    given = Client().get(f"/console/cases/C-7K3QX9TM4A/?q={CANARY}", headers={"X-Request-Id": "helpdesk-4821"})
    forged = Client().get(f"/console/{CANARY}/", headers={"X-Request-Id": f"x\n{CANARY}"})
    lines = [line for line in kept.lines if line["logger"] == "caseflow.request"]
    assert [line["status"] for line in lines] == [302, 404]
    assert (lines[0]["case_id"], lines[0]["request_id"]) == ("C-7K3QX9TM4A", given["X-Request-Id"])
    assert given["X-Request-Id"] == "helpdesk-4821" and lines[0]["route"].startswith("console/cases/<")
    assert lines[1]["request_id"] == forged["X-Request-Id"] and "case_id" not in lines[1]
    assert CANARY not in json.dumps(kept.lines)
    Client().get("/healthz")
    assert len([line for line in kept.lines if line["logger"] == "caseflow.request"]) == 2


def test_each_task_of_a_bunch_is_told_with_its_own_ids_only(engine: Engine, kept: Kept) -> None:
    stories = [engine.open() for _ in range(2)]
    run_task([*(story.task("check").pk for story in stories), 2**40])
    stages = [line for line in kept.lines if line["logger"] == "caseflow.stage"]
    assert [line["case_id"] for line in stages] == [story.case.public_id for story in stories]
    assert traces.bound() == {"task_id": 2**40}
    traces.unbind()


def test_a_message_of_the_broker_begins_without_the_ids_of_the_one_before() -> None:
    class Message:
        args: Any = (17,)

    traces.bind(case_id="C-7K3QX9TM4A", task_id=16)
    TaskIds().before_process_message(None, Message())  # type: ignore[arg-type]
    assert traces.bound() == {"task_id": 17}
    Message.args = (CANARY,)
    TaskIds().before_process_message(None, Message())  # type: ignore[arg-type]
    assert traces.bound() == {}


@pytest.mark.parametrize(
    ("role", "told", "is_json"), [("worker-1", "", True), ("command", "", False), ("web", "line", False)]
)
def test_processes_write_json_and_commands_lines(role: str, told: str, is_json: bool) -> None:
    environment = os.environ | {"CASEFLOW_ROLE": role, "CASEFLOW_LOG_FORMAT": told}
    code = "import django; django.setup(); import logging; logging.getLogger('caseflow').warning('something')"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=True
    )
    line = ended.stderr.splitlines()[-1]
    assert line.startswith("{") is is_json and "something" in line
