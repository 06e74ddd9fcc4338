"""Where requests may go: hosts on a list, and nothing else, however an address came about."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


class NotOnTheList(ValueError):
    """Requests to {host}:{port} are not allowed: it is not on the list of outgoing hosts."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"requests to {host}:{port} are not allowed: it is not on the list of outgoing hosts")


class AllowList:
    """`AllowList(["pay.example.org", "mail.example.org:8443"])`: a host alone allows its port 443 only."""

    def __init__(self, hosts: Iterable[str]) -> None:
        """Raises ValueError for what names no host."""
        self._allowed = frozenset(_parsed(one) for one in hosts)

    @classmethod
    def of_address(cls, url: str) -> AllowList:
        """Just the host and port of one address."""
        found = cls(())
        found._allowed = frozenset({place_of(url)})
        return found

    def __or__(self, other: AllowList) -> AllowList:
        both = AllowList(())
        both._allowed = self._allowed | other._allowed
        return both

    def require(self, host: str, port: int) -> None:
        """Raises NotOnTheList. A name is compared as it is written: what it resolves to is the resolver's word."""
        if (host.lower().rstrip("."), port) not in self._allowed:
            raise NotOnTheList(host, port)


def place_of(url: str) -> tuple[str, int]:
    """(host, port) of an http(s) address. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is no address of a host")
    return parts.hostname.lower().rstrip("."), parts.port or PORTS[parts.scheme]


def _parsed(text: str) -> tuple[str, int]:
    # An entry is a host and perhaps a port; anything more was meant to be something else.
    parts = urlsplit(f"https://{text.strip()}")
    if parts.path or parts.query or parts.fragment or parts.username or "*" in text:
        raise ValueError(f"{text!r} is no host with or without a port")
    return place_of(f"https://{text.strip()}")
