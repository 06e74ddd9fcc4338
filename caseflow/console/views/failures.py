"""The page of a failure names the request, so that whoever is called for help finds it in the log.

Missing and not permitted are `404.html` and `403.html`, shown by Django's own views.
"""

from __future__ import annotations

import logging

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from caseflow.requests import request_id_of

log = logging.getLogger("caseflow.console")


def server_error(request: HttpRequest) -> HttpResponse:
    """Asks neither the database nor the session: they may be what failed."""
    log.error("request %s failed", request_id_of(request))
    return HttpResponse(render_to_string("500.html", {"request_id": request_id_of(request)}), status=500)
