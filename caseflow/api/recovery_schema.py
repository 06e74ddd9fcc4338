"""Examples of recoveries for the description of the API."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample

CHECK_AGAIN = OpenApiExample(
    "Check again",
    value={"kind": "observe_again", "version": 7, "reason": "The bank has repaired its service."},
    request_only=True,
)
BY_HAND = OpenApiExample(
    "A result by hand",
    value={
        "kind": "result_by_hand",
        "version": 9,
        "reason": "The service cannot be asked.",
        "action": "A-7K3QX9TM4A",
        "action_status": "UNKNOWN",
        "result": "done",
        "evidence": "Their ticket 20931",
    },
    request_only=True,
)
SIGN = OpenApiExample("Sign", value={"version": 9, "action_status": "UNKNOWN"}, request_only=True)
MOVED = OpenApiExample(
    "The case moved on meanwhile",
    value={
        "type": "urn:problem:caseflow:version_moved",
        "title": "The case moved on",
        "status": 409,
        "code": "version_moved",
        "detail": "The case moved on: you looked at version 7, and it is version 8 now.",
        "seen": 7,
        "current": 8,
        "events": [
            {
                "number": 21,
                "event": "case.observe_again",
                "from": "NEEDS_ATTENTION",
                "to": "CHECKING",
                "version": 8,
                "actor": "An operator",
                "at": "2026-03-02T14:20:11.400000+00:00",
            }
        ],
    },
    response_only=True,
    status_codes=["409"],
    media_type="application/problem+json",
)
