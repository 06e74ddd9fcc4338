"""Encrypting personal text with a key per case (AES-256-GCM), and keyed digests of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from functools import cache

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from caseflow.domain.canonical import canonical_bytes, keyed_digest
from caseflow.domain.errors import Purged
from caseflow.statements import Values, rows_of, soon

from .models import CaseKey

NONCE = 12  #: bytes
_WRAP = b"caseflow case key"


@cache
def _master_key() -> bytes:
    key: bytes = settings.CASEFLOW_DATA_KEY  # 32 bytes, checked by the settings
    return key


def digest_of_personal(value: object) -> str:
    """Keyed digest: equal for equal values, and nobody can guess the value back without the key."""
    return keyed_digest(_master_key(), canonical_bytes(value))


class Sealer:
    """Encrypts and decrypts the texts of one case."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    @classmethod
    def new(cls) -> tuple[Sealer, bytes]:
        """A sealer with a fresh key, and that key wrapped for the database."""
        key = AESGCM.generate_key(bit_length=256)
        return cls(key), _encrypt(AESGCM(_master_key()), key, _WRAP)

    @classmethod
    def of_wrapped(cls, wrapped: bytes | memoryview) -> Sealer:
        return cls(_decrypt(AESGCM(_master_key()), bytes(wrapped), _WRAP))

    @classmethod
    def of_case(cls, case_id: int) -> Sealer:
        """Raises Purged when the key is gone."""
        wrapped = CaseKey.objects.filter(case_id=case_id).values_list("wrapped", flat=True).first()
        if wrapped is None:
            raise Purged
        return cls.of_wrapped(wrapped)

    def seal(self, field: str, text: str) -> bytes:
        return _encrypt(self._cipher, text.encode(), field.encode())

    def open(self, field: str, ciphertext: bytes | memoryview) -> str:
        return _decrypt(self._cipher, bytes(ciphertext), field.encode()).decode()


_STORE = """
INSERT INTO cases_personaltext (case_id, at, field, ciphertext)
SELECT %s, coalesce(%s::timestamptz, now()), * FROM unnest(%s::text[], %s::bytea[])
"""
_READ = """
SELECT DISTINCT ON (t.field) t.field, t.ciphertext, k.wrapped
FROM cases_personaltext t LEFT JOIN cases_casekey k ON k.case_id = t.case_id
WHERE t.case_id = %s AND t.field = ANY(%s) ORDER BY t.field, t.id DESC
"""


def store_texts(case_id: int, texts: Mapping[str, str], *, at: datetime, sealer: Sealer | None = None) -> None:
    """Append personal texts by field name; one insert for all, which leaves with the next statement."""
    if texts:
        soon(*storing_texts(case_id, texts, at=at, sealer=sealer or Sealer.of_case(case_id)))


def storing_texts(case_id: int, texts: Mapping[str, str], *, at: datetime | None, sealer: Sealer) -> tuple[str, Values]:
    """The same as a statement and its values, to be sent with others; without `at` the transaction's begin counts."""
    sealed = [sealer.seal(field, text) for field, text in texts.items()]
    return _STORE, [case_id, at, list(texts), sealed]


def read_texts(case_id: int, fields: list[str]) -> dict[str, str]:
    """The newest text of each field that exists. Raises Purged."""
    sealer: Sealer | None = None
    found: dict[str, str] = {}
    for field, ciphertext, wrapped in rows_of(_READ, [case_id, fields]):
        if wrapped is None:
            raise Purged
        sealer = sealer or Sealer.of_wrapped(wrapped)
        found[field] = sealer.open(field, ciphertext)
    return found


def wrap(secret: bytes, owner: str) -> bytes:
    """A secret that is no case's, wrapped by the settings' key; it opens only as `owner`'s, a public id."""
    return _encrypt(AESGCM(_master_key()), secret, b"caseflow secret of " + owner.encode())


def unwrap(wrapped: bytes | memoryview, owner: str) -> bytes:
    return _decrypt(AESGCM(_master_key()), bytes(wrapped), b"caseflow secret of " + owner.encode())


def _encrypt(cipher: AESGCM, plain: bytes, purpose: bytes) -> bytes:
    nonce = os.urandom(NONCE)
    return nonce + cipher.encrypt(nonce, plain, purpose)


def _decrypt(cipher: AESGCM, sealed: bytes, purpose: bytes) -> bytes:
    return cipher.decrypt(sealed[:NONCE], sealed[NONCE:], purpose)
