"""What goes over the wire: one request, one answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


def now_text() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def canonical(value: Any) -> str:
    """One text for one meaning, so that a repeated body is recognised whatever the order of its fields."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class AsOf:
    """A moment in the past: `seconds` ago, or before the last change when `seconds` is None."""

    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    parts: tuple[str, ...]  #: the path, split and unquoted
    query: Mapping[str, str]
    body: Any
    key: str  #: Idempotency-Key, "" without one
    request_id: str  #: X-Request-Id
    as_of: AsOf | None = None  #: set by a scripted stale read

    @property
    def path(self) -> str:
        return "/" + "/".join(self.parts)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def problem(cls, status: int, code: str, **more: Any) -> Answer:
        return cls(status, {"code": code, **more})


class BadRequest(Exception):
    """The request makes no sense; the message is for whoever wrote the test."""
