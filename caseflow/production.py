"""What no installation that others can reach may run with: named one by one at start, and by `check --deploy`.

An installation is reached by others when its own address (CASEFLOW_BASE_URL) is not of this machine. Nothing has to be
switched on for it, so nobody can forget to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import parse_qs, urlsplit

from environs import EnvValidationError

from caseflow import settings_environment as told
from caseflow.settings_systems import STRIPE, described

SHORTEST_SECRET = 50  #: characters
FEWEST_DIFFERENT = 16  #: of the 32 bytes of a data key; random ones have about 30
#: Levels at which libraries write what they send and receive.
TALKATIVE = frozenset({"DEBUG", "NOTSET"})
#: Ways of a connection to PostgreSQL that nobody in between can read.
ENCRYPTED = frozenset({"require", "verify-ca", "verify-full"})
#: Words of a key that somebody copied from a text.
PLACEHOLDERS = ("django-insecure", "change", "secret", "example", "password", "default")
#: They alone stop a process at a named place, shift its clock, or lift its time limits.
OF_TESTS = ("CASEFLOW_FAILPOINTS", "CASEFLOW_CLOCK_SHIFT", "CASEFLOW_DATABASE_LIMITS", "CASEFLOW_DEMO")


def refuse_wrong_settings() -> None:
    """Raises EnvValidationError that names every wrong setting, where others reach this installation."""
    if is_of_this_machine(urlsplit(told.CASEFLOW_BASE_URL).hostname or ""):
        return
    problems: dict[str, list[str]] = {}
    for name, sentence in wrong_settings():
        problems.setdefault(name, []).append(sentence)
    if problems:
        raise EnvValidationError(f"This installation is reached by others, and so refuses: {problems}", problems)


def wrong_settings() -> Iterator[tuple[str, str]]:
    """(environment variable, what is wrong with it) of everything that stands against production."""
    yield from _keys()
    yield from _switches()
    yield from _addresses()
    yield from _outside()
    if not told.documents_folder:
        yield "CASEFLOW_DOCUMENTS_FOLDER", "is not named: documents would lie in the checkout, outside every backup"


def is_of_this_machine(host: str) -> bool:
    """Also an empty name: a socket in the file system."""
    if host in ("", "localhost") or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _keys() -> Iterator[tuple[str, str]]:
    secret = told.SECRET_KEY
    if len(secret) < SHORTEST_SECRET or len(set(secret)) < 5:
        yield "CASEFLOW_SECRET_KEY", f"is shorter than {SHORTEST_SECRET} random characters"
    if any(word in secret.lower() for word in PLACEHOLDERS):
        yield "CASEFLOW_SECRET_KEY", "looks copied from a text; make one: openssl rand -base64 48"
    if len(set(told.CASEFLOW_DATA_KEY)) < FEWEST_DIFFERENT:
        yield "CASEFLOW_DATA_KEY", "is not random; make one: openssl rand -base64 32"
    if secret.encode() == told.data_key.encode():
        yield "CASEFLOW_DATA_KEY", "is the secret key as well"


def _switches() -> Iterator[tuple[str, str]]:
    if told.DEBUG:
        yield "CASEFLOW_DEBUG", "shows the inside of the application to whoever makes it fail"
    if told.hashes_fast:
        yield "CASEFLOW_FAST_HASH", "is for tests: passwords could be guessed back"
    if told.log_level.upper() in TALKATIVE:
        yield "CASEFLOW_LOG_LEVEL", f"{told.log_level} writes what is sent and received, personal data too"
    for name in OF_TESTS:
        if os.environ.get(name):
            yield name, "is for tests"
    if os.environ.get("DJANGO_SETTINGS_MODULE", "").endswith("settings_faults"):
        yield "DJANGO_SETTINGS_MODULE", "caseflow.settings_faults is for tests: it arms failpoints"


def _addresses() -> Iterator[tuple[str, str]]:
    base = urlsplit(told.CASEFLOW_BASE_URL)
    if base.scheme != "https":
        yield "CASEFLOW_BASE_URL", "is not https, so sessions would travel in clear text"
    if is_of_this_machine(base.hostname or ""):
        yield "CASEFLOW_BASE_URL", "names this machine only"
    if "*" in told.ALLOWED_HOSTS or any(host.startswith(".") for host in told.ALLOWED_HOSTS):
        yield "CASEFLOW_ALLOWED_HOSTS", "allows names that nobody listed"
    elif base.hostname and base.hostname not in told.ALLOWED_HOSTS:
        yield "CASEFLOW_ALLOWED_HOSTS", f"does not list {base.hostname}, the host of CASEFLOW_BASE_URL"
    for name, url in (("DATABASE_URL", told.database_url), ("DATABASE_OWNER_URL", told.database_owner_url)):
        yield from _database(name, url)
    owner, runtime = urlsplit(told.database_owner_url), urlsplit(told.database_url)
    if owner.username and owner.username == runtime.username:
        yield "DATABASE_URL", "is the owner's: append-only tables are kept from the runtime role alone"
    redis = urlsplit(told.REDIS_URL)
    if redis.scheme == "redis" and not redis.password and not is_of_this_machine(redis.hostname or ""):
        yield "REDIS_URL", "asks for no password and is not encrypted (rediss://)"


def _database(name: str, url: str) -> Iterator[tuple[str, str]]:
    parts = urlsplit(url)
    if url and not is_of_this_machine(parts.hostname or ""):
        mode = parse_qs(parts.query).get("sslmode", ["prefer"])[-1]
        if mode not in ENCRYPTED:
            yield name, f"sslmode={mode} lets others on the way read along; write ?sslmode=verify-full"


def _outside() -> Iterator[tuple[str, str]]:
    if told.SIMULATOR_URL:
        yield "SIMULATOR_URL", "names the outside world of demo and tests; CASEFLOW_SYSTEMS names the real one"
    if not told.outgoing_hosts:
        yield "CASEFLOW_OUTGOING_HOSTS", "is empty: list the hosts of the outside systems"
    for name, address in told.systems.items():
        if not _is_https(address.removeprefix(STRIPE)):
            yield "CASEFLOW_SYSTEMS", f"{name} is not asked by https"
    for name, table in described().items():
        if not _is_https(str(table.get("base_url", ""))):
            yield "CASEFLOW_REST_FILE", f"{name} is not asked by https"
    if told.CASEFLOW_HOOK_PRIVATE and "*" in told.CASEFLOW_HOOK_HOSTS:
        yield "CASEFLOW_HOOK_PRIVATE", "beside CASEFLOW_HOOK_HOSTS=* lets requests be sent to anything inside"
    if told.stripe_key.startswith(("sk_test_", "rk_test_")):
        yield "CASEFLOW_STRIPE_KEY", "is a key of Stripe's test mode"


def _is_https(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" or is_of_this_machine(parts.hostname or "")
