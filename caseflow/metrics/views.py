"""GET /metrics: for who shows a token of the settings, and for a platform operator who is signed in."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from accounts.access import is_platform_operator
from accounts.models import Person

from .collecting import registry

BEARER = "bearer "


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus' text. A wrong token is 401; without one there is nothing here."""
    shown = request.headers.get("Authorization", "")
    if shown.lower().startswith(BEARER):
        if not _is_ours(shown[len(BEARER) :].strip()):
            return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    elif not _operates(request):
        raise Http404
    try:
        text = generate_latest(registry())
    except DatabaseError:
        # No half of it: Prometheus then says that the scrape failed, and that is what happened.
        return HttpResponse("the database is away\n", status=503, content_type="text/plain; charset=utf-8")
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def _is_ours(token: str) -> bool:
    return any(hmac.compare_digest(token.encode(), ours.encode()) for ours in settings.CASEFLOW_METRICS_TOKENS)


def _operates(request: HttpRequest) -> bool:
    """No session, no query: most who ask without a token have neither."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return False
    return isinstance(request.user, Person) and is_platform_operator(request.user)
