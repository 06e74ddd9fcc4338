"""The id of a request: given by the caller or made here, echoed in the answer and named in the log of an error."""

from __future__ import annotations

import re
from collections.abc import Callable
from uuid import uuid4

from django.http import HttpRequest, HttpResponse

HEADER = "X-Request-Id"
#: What may stand in a log line and a header without being able to forge another one.
SANE = re.compile(r"[A-Za-z0-9._:-]{8,64}", re.ASCII)


class RequestIdMiddleware:
    """Stands first, so that whatever answers carries the id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        request.request_id = given if SANE.fullmatch(given) else str(uuid4())  # type: ignore[attr-defined]
        response = self.get_response(request)
        response.headers[HEADER] = request_id_of(request)
        return response


def request_id_of(request: HttpRequest) -> str:
    """Empty where the middleware did not run, as in a request made by hand."""
    return getattr(request, "request_id", "")
