"""What the description of the API needs beyond its code: how machines sign in, problems, and the examples of T-4821."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework import serializers


class ServiceTokenScheme(OpenApiAuthenticationExtension):
    """Bearer tokens of service accounts."""

    target_class = "accounts.tokens.ServiceTokenAuthentication"
    name = "serviceToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "The token of a service account: cf_…"}


class ProblemSerializer(serializers.Serializer[Any]):
    """What went wrong (RFC 9457). `code` is stable; title and detail are in the reader's language."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    path = serializers.CharField(required=False, help_text="The place in the request, such as $.intake.payment_id.")
    case = serializers.CharField(required=False, help_text="The case that the ticket opened before.")
    person = serializers.CharField(required=False, help_text="Who decided before.")
    at = serializers.CharField(required=False, help_text="When it was decided or handed over.")
    seen = serializers.JSONField(required=False, help_text="The version, or state of an action, that was seen.")
    current = serializers.JSONField(required=False, help_text="The same now.")
    events = serializers.ListField(
        child=serializers.DictField(), required=False, help_text="What happened since the version that was seen."
    )
    reason = serializers.CharField(required=False, help_text="Why a recovery is not possible now, as a code.")
    guards = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="The conditions of the case that are against it."
    )
    recovery = serializers.CharField(required=False, help_text="The order that is in the way.")
    differences = serializers.DictField(required=False, help_text="What differs: path, then, now.")


_PROBLEMS = {
    400: "The request was not understood; nothing was stored.",
    401: "Sign in first.",
    403: "In sight, but not permitted; recorded.",
    404: "Does not exist, or is out of sight.",
    406: "Answers are JSON only.",
    409: "In conflict with what is stored now.",
    413: "Larger than 256 KiB.",
    415: "Only application/json.",
    429: "Too many; `Retry-After` says in how many seconds again.",
    503: "The database was busy; nothing was stored.",
}
_READ = (400, 401, 404, 406, 503)
_QUERY = (*_READ, 429)
_WRITE = (400, 401, 403, 404, 406, 409, 413, 415, 429, 503)
_RUNG = (400, 401, 406, 413, 429, 503)


def answers(
    shown: dict[int, Any], *, writes: bool = False, queries: bool = False, rings: bool = False
) -> dict[Any, Any]:
    """The responses of one endpoint: what it shows, and the problems it may have."""
    problems = _WRITE if writes else _QUERY if queries else _RUNG if rings else _READ
    described = {status: OpenApiResponse(ProblemSerializer, _PROBLEMS[status]) for status in problems}
    return {**shown} | {(status, "application/problem+json"): response for status, response in described.items()}


#: Beside the answers of an endpoint that is read with a right of its own.
FORBIDDEN: dict[Any, Any] = {
    (403, "application/problem+json"): OpenApiResponse(ProblemSerializer, "In sight, but not permitted; recorded.")
}
#: Beside the answers of an endpoint that reads personal texts.
ERASED: dict[Any, Any] = {
    (410, "application/problem+json"): OpenApiResponse(
        ProblemSerializer, "The personal texts of this case were erased."
    )
}

DIGEST = "9f2c4d1be0a78c356f1d0e4a7b92c8835d6e1f40a2b7c9d8e3f5061728394a5b"
CASE = "C-7K3QX9TM4A"

TICKET = OpenApiExample(
    "T-4821",
    summary="The money was taken, access did not open",
    value={
        "organisation": "acme",
        "process": "restore_access",
        "source": "helpdesk",
        "external_id": "T-4821",
        "source_url": "https://helpdesk.example/tickets/4821",
        "intake": {
            "customer_id": "U-12",
            "subscription_id": "S-77",
            "payment_id": "PAY-31",
            "claim": "Money was taken, access did not open.",
        },
    },
    request_only=True,
)
OPENED = OpenApiExample(
    "T-4821 accepted",
    value={
        "id": CASE,
        "external_id": "T-4821",
        "state": "RECEIVED",
        "version": 1,
        "created_at": "2026-03-02T09:14:03.120000Z",
        "links": {
            name: f"/api/v1/cases/{CASE}/{'' if name == 'self' else name + '/'}"
            for name in ("self", "data", "timeline", "facts", "proposals", "actions", "recoveries", "hold", "notes")
        },
    },
    response_only=True,
    status_codes=["200", "201"],
)
CONFLICT = OpenApiExample(
    "T-4821 with another body",
    value={
        "type": "urn:problem:caseflow:intake_conflict",
        "title": "The ticket was accepted before with other content",
        "status": 409,
        "code": "intake_conflict",
        "detail": f"The ticket T-4821 was accepted before with other content, as case {CASE}.",
        "external_id": "T-4821",
        "case": CASE,
    },
    response_only=True,
    status_codes=["409"],
    media_type="application/problem+json",
)
DATA = OpenApiExample("The right payment", value={"data": {"payment_id": "PAY-32"}}, request_only=True)
APPROVE = OpenApiExample(
    "Approve",
    value={"decision": "approve", "digest": DIGEST, "version": 3, "reason": "Checked with the bank."},
    request_only=True,
)
REJECT = OpenApiExample(
    "Reject",
    value={"decision": "reject", "next": "close", "digest": DIGEST, "version": 3, "reason": "A duplicate of T-4790."},
    request_only=True,
)
STALE = OpenApiExample(
    "The payment was refunded meanwhile",
    value={
        "type": "urn:problem:caseflow:stale_snapshot",
        "title": "The facts or the proposal changed",
        "status": 409,
        "code": "stale_snapshot",
        "detail": "The decision was not accepted: what you saw is not what is proposed now.",
        "differences": {"payment.status": {"then": "confirmed", "now": "refunded"}},
    },
    response_only=True,
    status_codes=["409"],
    media_type="application/problem+json",
)
