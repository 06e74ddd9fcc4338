"""From where a request comes: the peer, or what the one proxy in front says of it."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = "0.0.0.0"  # noqa: S104  # no address to listen on: what stands for one that cannot be read


def client_address(request: HttpRequest) -> str:
    """An IP address in its one spelling.

    Behind a trusted proxy the last entry of X-Forwarded-For counts, which the proxy itself wrote; what stands before
    it is the client's own word, and without such a proxy so is the whole header.
    """
    said = str(request.META.get("REMOTE_ADDR") or "")
    if settings.CASEFLOW_TRUST_PROXY:
        said = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip() or said
    try:
        return str(ip_address(said))
    except ValueError:
        return UNKNOWN
