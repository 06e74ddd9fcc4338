"""Signing a webhook as a sender does, apart from the product's own code."""

from __future__ import annotations

import base64
import hashlib
import hmac


def headers_of(secret: str, id: str, at: float, body: bytes) -> dict[str, str]:
    """The three headers of Standard Webhooks for a secret `whsec_…`."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{id}.{int(at)}.".encode() + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {"webhook-id": id, "webhook-timestamp": str(int(at)), "webhook-signature": f"v1,{signature}"}
