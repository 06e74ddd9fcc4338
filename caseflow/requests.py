"""The id of a request: given by the caller or made here, echoed in the answer and named on every log line of it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse

from accounts.middleware import QUIET_PATHS
from caseflow import traces

log = logging.getLogger("caseflow.request")

#: What machines ask every few seconds, and what comes along with a page.
OFTEN = (*QUIET_PATHS, "/metrics")

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
        traces.unbind()
        traces.bind(request_id=request_id_of(request))
        with traces.piece_of_work() as piece:
            response = self.get_response(request)
        response.headers[HEADER] = request_id_of(request)
        _tell(request, response, piece)
        traces.unbind()
        return response


def _tell(request: HttpRequest, response: HttpResponse, piece: traces.Piece) -> None:
    """One line a request. Of its address only the route and the public ids: the rest may be what somebody wrote."""
    level = logging.DEBUG if request.path_info.startswith(OFTEN) else logging.INFO
    if not log.isEnabledFor(level):
        return
    said: dict[str, Any] = {"method": request.method, "status": response.status_code, "ms": piece.ms}
    if (match := request.resolver_match) is not None:
        traces.bind_ids(*match.kwargs.values())
        said["route"] = match.route
    if piece.calls:
        said["calls"] = piece.told()
    log.log(level, "request", extra=said)


def request_id_of(request: HttpRequest) -> str:
    """Empty where the middleware did not run, as in a request made by hand."""
    return getattr(request, "request_id", "")
