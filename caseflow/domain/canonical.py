"""Canonical bytes (RFC 8785) and the strict reading of JSON at the edge.

Money and long numbers are strings, times are UTC ISO strings, text is NFC. What cannot be read back the same is refused
with the path of the place: NUL, lone surrogates, NaN and infinities, duplicate keys, too deep, too long (design §5).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import rfc8785

from .errors import BadInput, TooLarge

MAX_BYTES = 256 * 1024  #: bytes of one request body
MAX_DEPTH = 12  #: nested objects and arrays
MAX_TEXT = 20_000  #: characters of one string
MAX_ITEMS = 1_000  #: entries of one object or array
MAX_INTEGER = 2**53 - 1  #: RFC 8785 writes numbers as IEEE doubles; longer numbers travel as strings

_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False)


def canonical_bytes(value: Any) -> bytes:
    """RFC 8785 bytes of `value` after NFC. Raises BadInput naming the path of what cannot be written."""
    if _is_plain(value):
        text = _PLAIN.encode(value)
        if _is_plain_text(text):
            return text.encode()
    return rfc8785.dumps(normalised(value))


def digest_of(canonical: bytes) -> str:
    """SHA-256 as 64 lower-case hexadecimal characters."""
    return hashlib.sha256(canonical).hexdigest()


def keyed_digest(key: bytes, canonical: bytes) -> str:
    """HMAC-SHA-256: a digest of personal text that nobody can guess back without the key."""
    return hmac.new(key, canonical, hashlib.sha256).hexdigest()


def parse_json(body: bytes, *, max_bytes: int = MAX_BYTES) -> Any:
    """Strict JSON → Python. Raises TooLarge, BadInput(code, path, problem)."""
    if len(body) > max_bytes:
        raise TooLarge(limit=max_bytes)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(code="not_utf8", path="$", problem=f"byte {error.start} is not UTF-8") from None
    try:
        value = json.loads(text, object_pairs_hook=_object_without_duplicates, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        problem = f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        raise BadInput(code="not_json", path="$", problem=problem) from None
    except RecursionError:
        raise BadInput(code="too_deep", path="$", problem=f"nested deeper than {MAX_DEPTH}") from None
    except ValueError as error:  # int() refuses more than 4300 digits
        raise BadInput(code="number_too_long", path="$", problem=str(error).split(";")[0]) from None
    return normalised(value)


def normalised(value: Any, path: str = "$", depth: int = 0) -> Any:
    """A copy in NFC with every leaf checked. Raises BadInput with the path of the first bad place."""
    if depth > MAX_DEPTH:
        raise BadInput(code="too_deep", path=path, problem=f"nested deeper than {MAX_DEPTH}")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise BadInput(code="number_too_long", path=path, problem="write numbers this long as text")
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise BadInput(code="not_a_number", path=path, problem="NaN and infinities are not JSON")
        raise BadInput(code="fraction", path=path, problem="write amounts and fractions as text")
    if isinstance(value, _DuplicateKey):
        raise BadInput(code="duplicate_key", path=f"{path}.{value.key}", problem="this key stands twice")
    if isinstance(value, Mapping):
        return _object(value, path, depth)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        if len(value) > MAX_ITEMS:
            raise BadInput(code="too_long", path=path, problem=f"more than {MAX_ITEMS} entries")
        return [normalised(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    raise BadInput(code="wrong_type", path=path, problem=f"{type(value).__name__} is not JSON")


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether `value` is of the usual types and within every limit, so that the plain encoder writes what RFC 8785
    says: without fractions the two differ in the order of keys alone, and there only beyond ASCII. What is none of the
    usual types is left to the walk that knows its way."""
    kind = type(value)
    if kind is str:
        return len(value) <= MAX_TEXT
    if kind not in (dict, list, tuple):
        return value is None or kind is bool or (kind is int and -MAX_INTEGER <= value <= MAX_INTEGER)
    if depth == MAX_DEPTH or len(value) > MAX_ITEMS:
        return False
    if kind is dict:
        for key in value:
            if type(key) is not str or not key.isascii() or len(key) > MAX_TEXT:
                return False
        value = value.values()
    for item in value:
        # Most of what is written are short texts: they are let through without a call.
        if (type(item) is not str or len(item) > MAX_TEXT) and not _is_plain(item, depth + 1):
            return False
    return True


def _is_plain_text(written: str) -> bool:
    """Whether nothing in the texts of what was written is to be changed or refused. They are looked at together: what
    the encoder puts between and into them is ASCII, which makes no text NFC that is not."""
    if not written.isascii() and (not unicodedata.is_normalized("NFC", written) or _SURROGATE.search(written)):
        return False
    return "\\u0000" not in written  # so NUL is written


def _object(value: Mapping[Any, Any], path: str, depth: int) -> dict[str, Any]:
    if len(value) > MAX_ITEMS:
        raise BadInput(code="too_long", path=path, problem=f"more than {MAX_ITEMS} entries")
    result: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise BadInput(code="wrong_type", path=path, problem="keys are text")
        name = _text(key, path)
        if name in result:
            raise BadInput(code="duplicate_key", path=f"{path}.{name}", problem="this key stands twice")
        result[name] = normalised(item, f"{path}.{name}", depth + 1)
    return result


def _text(value: str, path: str) -> str:
    if len(value) > MAX_TEXT:
        raise BadInput(code="too_long", path=path, problem=f"longer than {MAX_TEXT} characters")
    if "\x00" in value:
        raise BadInput(code="nul", path=path, problem="a NUL character")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput(code="lone_surrogate", path=path, problem="half of a surrogate pair") from None
    return unicodedata.normalize("NFC", value)


class _DuplicateKey:
    """Carries a duplicate key out of the parser to the walk that knows its path."""

    def __init__(self, key: str) -> None:
        self.key = key


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> Any:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            return _DuplicateKey(key)
        seen[key] = value
    return seen


def _refuse_constant(name: str) -> float:
    return float(name.replace("Infinity", "inf"))
