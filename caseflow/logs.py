"""One JSON object per line, made of listed fields only, so that nothing personal gets in by a side door.

Messages of errors are left out but for those of the machinery itself (database, Redis, network): the others may quote
what somebody wrote. Their types and places are told. DEBUG, which no production takes, tells the messages, too.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import InterfaceError, NotSupportedError, OperationalError
from dramatiq import Broker, MessageProxy, Middleware
from psycopg import OperationalError as PsycopgError
from redis import RedisError

from caseflow import traces

#: What a line may say beside its message and the bound ids, in this order.
FIELDS = ("method", "route", "status", "stage", "attempt", "outcome", "ms", "number", "task_ids", "next", "calls")
#: Errors of the machinery: their first line names hosts, limits and what a server cannot do, never a row.
MACHINERY = (
    *(OperationalError, InterfaceError, NotSupportedError, PsycopgError),
    *(RedisError, OSError, ImproperlyConfigured),
)
DEEPEST = 12  #: frames of an error, the innermost

# No line tells where in the code, in which thread or by which process it was written, so nobody needs to find that out.
logging._srcfile = None
logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


class JsonLines(logging.Formatter):
    """`{"at": …, "level": "info", "logger": …, "message": …, "request_id": …, "case_id": …, "stage": …, …}`"""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **traces.bound(),
        }
        said = record.__dict__
        line |= {name: said[name] for name in FIELDS if name in said}
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = told(record.exc_info[1], messages=logging.getLogger().isEnabledFor(logging.DEBUG))
        return _dumps(line)


def told(error: BaseException, *, messages: bool) -> list[dict[str, Any]]:
    """The error and what it came from, the newest first: type, places, and the message where it may be told."""
    return [
        {
            "type": f"{type(one).__module__}.{type(one).__qualname__}".removeprefix("builtins."),
            **({"text": _first_line(one)} if messages or isinstance(one, MACHINERY) else {}),
            "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in _frames(one)],
        }
        for one in _chain(error)
    ]


class TaskIds(Middleware):
    """Each message of Dramatiq begins a piece of work of its own, named by its task."""

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        traces.unbind()
        # A message is untrusted: only what is an id goes into a line.
        if message.args and isinstance(message.args[0], int):
            traces.bind(task_id=message.args[0])

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        traces.unbind()

    after_skip_message = after_process_message


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen and len(seen) < 5:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    # Without the lines of code and without variables: only where it was.
    walked = traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), lookup_lines=False)
    return list(walked)[-DEEPEST:]


def _first_line(error: BaseException) -> str:
    """What follows the first line of a database's error shows the row."""
    return (str(error).splitlines() or [""])[0][:300]


#: Made once: `json.dumps` with options makes one for every line.
_dumps = json.JSONEncoder(ensure_ascii=False, default=str).encode
