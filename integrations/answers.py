"""From an HTTP answer to a value of `caseflow.domain.outcomes`: what each status code means."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from caseflow.domain.outcomes import FaultKind, NotApplied, Outcome, ReadFailed, Refused, Unknown
from integrations.http import Answer, BadAnswer, NoAnswer, NotSent

MAX_RETRY_AFTER = timedelta(days=1)
MAX_TEXT = 4096  #: characters of one field

AMOUNT = re.compile(r"-?\d{1,12}(\.\d{1,4})?")  #: money is text and stays text

#: Conflicts that mean "no, and nothing changed". A 409 with any other code is doubt.
FINAL_CONFLICTS = frozenset({"already_active", "already_inactive", "already_applied", "correction_withdrawn"})


def read_failed(system: str, failure: Answer | NotSent | NoAnswer | BadAnswer) -> ReadFailed:
    """Why the read failed. A 404 that is a fact never comes here."""
    match failure:
        case NotSent() | NoAnswer(code="timeout" | "connection_lost"):
            return ReadFailed(system=system, kind=FaultKind.TRANSIENT, code=failure.code, message=str(failure))
        case NoAnswer() | BadAnswer():
            return ReadFailed(system=system, kind=FaultKind.PERMANENT, code="bad_answer", message=str(failure))
    status = failure.status
    if status in (408, 409, 425, 429) or status >= 500:
        kind = FaultKind.TRANSIENT
    elif status in (400, 422):
        kind = FaultKind.INVALID_DATA
    elif status in (401, 403):
        kind = FaultKind.NOT_PERMITTED
    else:
        kind = FaultKind.PERMANENT
    return ReadFailed(
        system=system,
        kind=kind,
        code=failure.code or f"http_{status}",
        message=f"it answered {status}",
        retry_after=retry_after(failure) if kind is FaultKind.TRANSIENT else None,
        status=status,
    )


def outcome_of_error(answer: Answer) -> Outcome:
    """What an answer other than 2xx to a write means."""
    status, code = answer.status, answer.code or f"http_{answer.status}"
    message = f"it answered {status}"
    wait = retry_after(answer)
    match status:
        case 429:
            return NotApplied("too_many_requests", message, wait)
        case 503 if wait is not None:
            # Maintenance: the contract of our systems is that they name a time only before they took anything.
            return NotApplied("maintenance", message, wait)
        case 409 if code in FINAL_CONFLICTS:
            return Refused(code, message, FaultKind.PERMANENT)
        case 408 | 409 | 425:
            return Unknown(code, message)
        case 401 | 403:
            return Refused(code, message, FaultKind.NOT_PERMITTED)
        case 400 if code == "idempotency_mismatch":
            return Refused(code, message, FaultKind.PERMANENT)
        case 400 | 404 | 422:
            return Refused(code, message, FaultKind.INVALID_DATA)
    if 400 <= status < 500:
        return Refused(code, message, FaultKind.PERMANENT)
    return Unknown(code, message)


def retry_after(answer: Answer) -> timedelta | None:
    """Retry-After as seconds or an HTTP date, never negative and at most a day; None without a readable one."""
    text = answer.headers.get("retry-after", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
        if not math.isfinite(seconds):
            return None
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, TypeError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    return timedelta(seconds=min(max(seconds, 0.0), MAX_RETRY_AFTER.total_seconds()))


def text(answer: Mapping[str, Any], name: str, *, allowed: frozenset[str] | None = None) -> str:
    """A field that must be storable text, one of `allowed` when given. Raises BadAnswer."""
    value = answer.get(name)
    if not isinstance(value, str) or not value or len(value) > MAX_TEXT or "\0" in value or _has_surrogate(value):
        raise BadAnswer(f'the field "{name}" is not a text')
    if allowed is not None and value not in allowed:
        raise BadAnswer(f'the field "{name}" has an unknown value')
    return value


def optional_text(answer: Mapping[str, Any], name: str) -> str | None:
    """As `text`, but it may be missing, null or empty."""
    return None if answer.get(name) in (None, "") else text(answer, name)


def amount(answer: Mapping[str, Any], name: str) -> str:
    """Money as text, exactly as the system wrote it. Raises BadAnswer: a number has lost its form already."""
    value = text(answer, name)
    if not AMOUNT.fullmatch(value):
        raise BadAnswer(f'the field "{name}" is not an amount')
    return value


def _has_surrogate(value: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in value)
