"""What the message server must be like (runtime: a doorbell, and yet no message of it may vanish in silence)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import dramatiq
import redis
from django.conf import settings
from dramatiq.brokers.redis import RedisBroker

OLDEST = (6, 0)
LOOKED_AT = 2_000  #: keys
TIMEOUT = 5.0  #: seconds


@dataclass(frozen=True, slots=True)
class Check:
    """One property: whether it holds, what was found, and what to do where it does not."""

    name: str
    holds: bool
    found: str
    advice: str


def examine(url: str = "") -> list[Check]:
    """Every check, in order. Raises redis.RedisError where the server does not answer."""
    url = url or settings.REDIS_URL
    broker = dramatiq.get_broker()
    with redis.Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT) as client:
        told: dict[str, Any] = client.info("everything")  # type: ignore[assignment]
        strangers = _strangers(client, getattr(broker, "namespace", "dramatiq"))
        return [_class(broker), *_server(told), _password(url), _dedicated(strangers, told, client)]


def _class(broker: dramatiq.Broker) -> Check:
    return Check(
        "class",
        isinstance(broker, RedisBroker),
        f"{type(broker).__module__}.{type(broker).__name__}",
        "Set DRAMATIQ_BROKER in full: without it another broker is taken in silence.",
    )


def _server(told: dict[str, Any]) -> list[Check]:
    server = "valkey" if "valkey_version" in told else "redis"
    version = str(told.get("valkey_version") or told.get("redis_version") or "")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    policy = str(told.get("maxmemory_policy", ""))
    role, cluster = str(told.get("role", "")), int(told.get("cluster_enabled", 0))
    return [
        Check("version", numbers >= OLDEST, f"{server} {version}", "Use Redis 6 or newer, or Valkey."),
        Check(
            "eviction",
            policy == "noeviction",
            policy,
            "Set maxmemory-policy noeviction: a full server must say no, an evicted key is a message lost in silence.",
        ),
        Check(
            "persistence",
            bool(told.get("aof_enabled")),
            "append-only file" if told.get("aof_enabled") else "none, or snapshots only",
            "Set appendonly yes: without it a restart drops every bell, and work waits until it is rung again.",
        ),
        Check(
            "topology",
            role == "master" and not cluster,
            f"{role}{', cluster' if cluster else ''}",
            "Name the primary of a server that is no cluster.",
        ),
    ]


def _password(url: str) -> Check:
    """A password that is named is not yet one that is asked for."""
    parts = urlsplit(url)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    try:
        with redis.Redis.from_url(bare, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT) as stranger:
            stranger.ping()
    except redis.RedisError:
        return Check("password", True, "asked for", "")
    advice = "Set requirepass (or an ACL user) and name it in REDIS_URL: whoever reaches the port may ring or read."
    return Check("password", False, "anybody may come in", advice)


def _strangers(client: Any, namespace: str) -> list[str]:
    """Keys that are not ours, up to a few; a large database is looked at in part."""
    found = []
    for number, key in enumerate(client.scan_iter(count=500)):
        name = key.decode(errors="replace")
        if not name.startswith(f"{namespace}:"):
            found.append(name)
        if number >= LOOKED_AT or len(found) >= 5:
            break
    return found


def _dedicated(strangers: list[str], told: dict[str, Any], client: Any) -> Check:
    own = f"db{client.connection_pool.connection_kwargs.get('db') or 0}"
    others = sorted(name for name in told if name.startswith("db") and name[2:].isdigit() and name != own)
    found = ", ".join([*(f"key {name}" for name in strangers), *(f"database {name}" for name in others)])
    return Check(
        "dedicated",
        not strangers,
        found or "nobody else is here",
        "Give Caseflow a database, better a server, of its own: others fill its memory and may flush it.",
    )
