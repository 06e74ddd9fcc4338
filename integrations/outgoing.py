"""Where requests may go: hosts on a list, and nothing else, however an address came about."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

TRANSLATED = IPv6Network("64:ff9b::/96")  #: an IPv4 address behind a translator, RFC 6052
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


class NotPublic(ValueError):
    """Requests to {host} are not allowed: its address {address} is not one of the public internet."""

    def __init__(self, host: str, address: str) -> None:
        super().__init__(f"requests to {host} are not allowed: its address {address} is not one of the public internet")


def is_public(address: str) -> bool:
    """Whether an IP address is one that anybody may be told about: none of this machine, of a private network, of a
    cloud's own services, nor one of those written in another form."""
    try:
        found: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if inner is None and found in TRANSLATED:
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        found = inner or found
    return found.is_global and not found.is_multicast


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
