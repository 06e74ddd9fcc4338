"""The outermost layer: every answer carries the headers that protect it, and an overlong address goes no further.

Other middleware sets most of these headers, too, but each only on what passes through it: a redirect to https, a static
file or a refusal of a middleware further out would go without.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

LONGEST_QUERY = 4096  #: characters of a query string

#: What an answer gets that says nothing of it itself. What is no page loads nothing and is framed by nobody.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": settings.X_FRAME_OPTIONS,
    "Referrer-Policy": settings.SECURE_REFERRER_POLICY,
    "Cross-Origin-Opener-Policy": settings.SECURE_CROSS_ORIGIN_OPENER_POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}


class EdgeMiddleware:
    """Stands right after the id of the request, around everything that may answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._answer(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    def _answer(self, request: HttpRequest) -> HttpResponse:
        if len(request.META.get("QUERY_STRING", "")) > LONGEST_QUERY:
            return HttpResponse("The address is too long.\n", status=414, content_type="text/plain; charset=utf-8")
        return self.get_response(request)
