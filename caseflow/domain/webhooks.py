"""Signed webhooks by the rule of Standard Webhooks (standardwebhooks.com, "Webhook scheme", symmetric signatures).

Signed are `<webhook-id>.<webhook-timestamp>.<body>` with HMAC-SHA-256; `webhook-signature` lists `v1,<base64>`
signatures, one for each secret in use, separated by spaces. A secret is written `whsec_<base64 of 24 to 64 bytes>`.

The project's own Python package is small and alive, but it holds one secret, reads a clock of its own, and a signature
that is no base64 ends in another error than a refusal. So the rule stands here, with its published example as a test.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

TOLERANCE = timedelta(minutes=5)  #: either way: the rule's own
MOST_SIGNATURES = 10  #: of one delivery that are looked at
PREFIX = "whsec_"
#: The id is signed next to the timestamp with a full stop between, so it holds none.
EVENT_ID = re.compile(r"[A-Za-z0-9_:-]{1,128}", re.ASCII)
SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)

Refusal = Literal["unsigned", "bad_signature", "too_old", "too_new"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request as it came: three headers, and the body's bytes before anybody reads them."""

    id: str
    timestamp: str
    signatures: str
    body: bytes


def refusal_of(delivery: Delivery, secrets: Sequence[bytes], now: datetime) -> Refusal | None:
    """Why a delivery is not believed, or None. The signature comes first: a stranger learns nothing of clocks."""
    if not EVENT_ID.fullmatch(delivery.id) or not SECONDS.fullmatch(delivery.timestamp) or not delivery.signatures:
        return "unsigned"
    if not _is_signed(delivery, secrets):
        return "bad_signature"
    age = now.timestamp() - int(delivery.timestamp)
    if age > TOLERANCE.total_seconds():
        return "too_old"
    return "too_new" if age < -TOLERANCE.total_seconds() else None


def signature(secret: bytes, delivery: Delivery) -> bytes:
    """The HMAC-SHA-256 of the delivery: 32 bytes."""
    signed = f"{delivery.id}.{delivery.timestamp}.".encode() + delivery.body
    return hmac.new(secret, signed, hashlib.sha256).digest()


def signed(secrets: Sequence[bytes], *, id: str, timestamp: int, body: bytes) -> Delivery:
    """A request as we send it, with a signature by each secret, so that the receiver may change to a new one."""
    plain = Delivery(id, str(timestamp), "", body)
    marks = [f"v1,{base64.b64encode(signature(secret, plain)).decode()}" for secret in secrets]
    return replace(plain, signatures=" ".join(marks))


def written(secret: bytes) -> str:
    """The secret as people copy it."""
    return PREFIX + base64.b64encode(secret).decode()


def _is_signed(delivery: Delivery, secrets: Sequence[bytes]) -> bool:
    given = list(_signatures(delivery.signatures))
    # Every pair is compared, so that the time taken tells neither which secret nor which signature came near.
    same = [hmac.compare_digest(signature(secret, delivery), one) for secret in secrets for one in given]
    return any(same)


def _signatures(header: str) -> list[bytes]:
    found = []
    for part in header.split(" ")[:MOST_SIGNATURES]:
        version, _, text = part.partition(",")
        if version != "v1":
            continue  # another scheme's, which a sender may add
        try:
            found.append(base64.b64decode(text, validate=True))
        except (binascii.Error, ValueError):
            continue
    return found
