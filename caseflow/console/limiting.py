"""The page of somebody who was too quick, wherever it was noticed: the sign-in of either door, search, an export."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from accounts.limits import caller_of, spend
from caseflow.domain.errors import TooManyRequests

from .door import render_page


class TooManyRequestsMiddleware:
    """Answers 429 for a page. The API's own handler answers for the API before this is asked."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, TooManyRequests):
            return None
        wait = exception.params["wait"]
        response = render_page(request, "console/too_many.html", {"wait": wait, "page_url": "/console/"}, status=429)
        response.headers["Retry-After"] = str(wait)
        return response


def limit(request: HttpRequest, scope: str) -> None:
    """Count a request of whoever is signed in, else of the address. Raises TooManyRequests."""
    spend(scope, caller_of(request))
