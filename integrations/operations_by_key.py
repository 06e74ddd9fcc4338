"""Writes under an idempotency key, and the look-up of what became of one. Shared by every system that honours keys."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from caseflow.domain.outcomes import Confirmed, FaultKind, LookupOutcome, NotApplied, Outcome, Refused, Unknown
from integrations.answers import optional_text, outcome_of_error, retry_after, text
from integrations.http import Answer, BadAddress, BadAnswer, HttpClient, NoAnswer, NotSent, path_of


def post_once(
    http: HttpClient,
    parts: tuple[str, ...],
    body: Mapping[str, Any],
    *,
    key: str,
    call_id: str,
    within: timedelta,
    send_by: float | None = None,
) -> Answer | Outcome:
    """The 2xx answer, to be understood by the caller; everything else already as an outcome."""
    try:
        answer = http.post(path_of(*parts), body, key=key, call_id=call_id, within=within, send_by=send_by)
    except BadAddress as error:
        return Refused("bad_subject", str(error), FaultKind.INVALID_DATA)
    except NotSent as failure:
        return NotApplied(failure.code, str(failure))
    except NoAnswer as failure:
        return Unknown(failure.code, str(failure))
    return answer if 200 <= answer.status < 300 else outcome_of_error(answer)


def look_up(http: HttpClient, *, system: str, key: str, call_id: str, within: timedelta) -> LookupOutcome:
    """GET /operations/{key}. Only the system's own "no such operation" says that nothing was applied."""
    try:
        answer = http.get(path_of("operations", key), call_id=call_id, within=within)
        if answer.status == 404 and answer.code == "no_such_operation":
            return NotApplied("no_such_operation", "the system knows no operation under this key")
        if answer.status != 200:
            return Unknown(answer.code or f"http_{answer.status}", f"it answered {answer.status}", retry_after(answer))
        found = answer.json()
        operation = found.get("operation")
        if found.get("key") != key or found.get("status") != "applied" or not isinstance(operation, dict):
            raise BadAnswer("the answer is about something else")
        if operation.get("system") != system:
            return Unknown("other_system", "the key belongs to an operation of another system")
        detail = {name: optional_text(operation, name) for name in ("operation", "subject", "applied_at")}
        return Confirmed(text(operation, "id"), detail)
    except (NotSent, NoAnswer) as failure:
        return Unknown(failure.code, str(failure))
    except (BadAnswer, BadAddress) as failure:
        return Unknown("bad_answer", str(failure))
