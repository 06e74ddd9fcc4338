"""Each call of an adapter is noted for the log line of the work it is made for: its id, the system, what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from caseflow import traces
from integrations.contract import Adapter

VERBS = ("read", "perform", "lookup")


def note_calls(system: str, adapter: Adapter) -> None:
    """From here on this one adapter tells of its calls; its class stays as it is."""
    for verb in VERBS:
        setattr(adapter, verb, _noted(system, verb, getattr(adapter, verb)))


def _noted(system: str, verb: str, call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def call_and_note(*arguments: Any, call_id: str, **named: Any) -> Any:
        begun, outcome = time.monotonic(), ""
        try:
            answer = call(*arguments, call_id=call_id, **named)
            outcome = "read" if verb == "read" else type(answer).__name__.lower()
            return answer
        except BaseException as error:
            outcome = traces.code_of(getattr(error, "code", "") or type(error).__name__)
            raise
        finally:
            ms = round((time.monotonic() - begun) * 1000, 1)
            traces.note_call(traces.Call(call_id, system, verb, outcome, ms))

    return call_and_note
