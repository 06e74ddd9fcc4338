"""An adapter that raises what no adapter should: in a reading it is a fault, around a request it is a doubt."""

from __future__ import annotations

import asyncio
import concurrent.futures
import socket
from collections.abc import Callable
from typing import NoReturn

import pytest

from tests.driving import Engine, hooks


def raising(error: type[BaseException]) -> Callable[[], NoReturn]:
    def now() -> NoReturn:
        raise error("somewhere in a library")

    return now


TIMEOUTS = {TimeoutError, asyncio.TimeoutError, socket.timeout, concurrent.futures.TimeoutError}
ERRORS = [*TIMEOUTS, ConnectionResetError, RuntimeError]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("place", ["before_perform", "after_perform"])
def test_an_error_nobody_foresaw_around_the_request_is_a_doubt_and_never_a_second_effect(
    place: str, error: type[Exception], engine: Engine
) -> None:
    story = engine.approved()
    hooks.at(place, raising(error))
    story.run()
    assert (story.state, story.effect.status) == ("EXECUTING", "UNKNOWN")
    story.run_later()
    assert story.state == "COMPLETED"
    assert len(story.writes()) == len(story.activations()) == 1
    kinds = [kind for kind, *_ in story.calls()]
    assert kinds == ["perform", "lookup"] + ["perform"] * (place == "before_perform")


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_nobody_foresaw_in_a_reading_is_tried_again(error: type[Exception], engine: Engine) -> None:
    story = engine.open()
    hooks.at("after_read", raising(error))
    story.run()
    task = story.task("observe")
    assert (task.status, task.last_error, task.attempt) == ("due", "internal_error", 1)
    story.run_later()
    assert story.state == "WAITING_APPROVAL"
