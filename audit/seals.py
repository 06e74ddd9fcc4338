"""Seals: signed checkpoints of every stream, kept outside the database (design §10).

A seal is one text file: a line of canonical JSON (its number, when, of which installation, the digest of the seal
before it, and of the lines that follow), a line with the Ed25519 signature of that line, and a line `stream count hash`
for each stream that grew since the seal before. What was seen of a stream is what the newest seal naming it says.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from caseflow.domain.canonical import canonical_bytes

from .verifying import Head, Problem

FORMAT = 1  #: of the files; a reader refuses what it does not know
PURPOSE = b"caseflow audit seal\n"  #: in front of what is signed, so that the key's signature of something else is none
SUFFIX = ".seal"


class NoKey(Exception):
    """There is no usable key in this file."""


class KeyExists(Exception):
    """There is a key in this file already."""


class SealTaken(Exception):
    """Another run wrote a seal of this number a moment ago."""


@dataclass(frozen=True, slots=True)
class Seals:
    """Every seal of a folder, read and checked: what they saw of each stream, and what is wrong with them."""

    number: int = 0  #: of the newest
    digest: str = ""  #: of the newest one's first line
    at: str = ""
    saw: Mapping[str, Head] = field(default_factory=dict)
    problems: Sequence[Problem] = ()


def new_key(path: Path) -> Path:
    """Make a key pair: the private key in `path`, readable by its owner only, and the public one beside it.

    Raises KeyExists: a key that signed seals is never overwritten.
    """
    public_path = public_path_of(path)
    if path.exists() or public_path.exists():
        raise KeyExists
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    _write_once(path, private, mode=0o600)
    _write_once(public_path, public, mode=0o644)
    return public_path


def public_path_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.pub")


def load_private(path: Path) -> Ed25519PrivateKey:
    """Raises NoKey."""
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise NoKey(f"{path}: {error}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise NoKey(f"{path} is not an Ed25519 key")
    return key


def load_public(paths: Iterable[Path]) -> dict[str, Ed25519PublicKey]:
    """The keys by their names. Raises NoKey."""
    keys = {}
    for path in paths:
        try:
            key = serialization.load_pem_public_key(path.read_bytes())
        except (OSError, ValueError) as error:
            raise NoKey(f"{path}: {error}") from error
        if not isinstance(key, Ed25519PublicKey):
            raise NoKey(f"{path} is not an Ed25519 key")
        keys[name_of(key)] = key
    return keys


def name_of(key: Ed25519PublicKey) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of its 32 bytes."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:16]


def write_seal(
    folder: Path, before: Seals, grown: Mapping[str, Head], *, installation: str, key: Ed25519PrivateKey
) -> Path:
    """The seal after `before`, with the streams that grew. Raises SealTaken."""
    lines = "".join(f"{stream} {head.count} {head.hash.hex()}\n" for stream, head in sorted(grown.items()))
    first = canonical_bytes(
        {
            "format": FORMAT,
            "number": before.number + 1,
            "at": datetime.now(UTC).isoformat(),
            "installation": installation,
            "previous": before.digest,
            "streams": len(grown),
            "streams_digest": hashlib.sha256(lines.encode()).hexdigest(),
        }
    )
    signature = base64.b64encode(key.sign(PURPOSE + first)).decode()
    second = canonical_bytes({"key": name_of(key.public_key()), "signature": signature})
    path = folder / f"{before.number + 1:06d}{SUFFIX}"
    try:
        _write_once(path, first + b"\n" + second + b"\n" + lines.encode(), mode=0o644)
    except FileExistsError:
        raise SealTaken from None
    return path


def newest_seal_at(folder: Path) -> datetime | None:
    """When the newest seal says it was made; None without any. Only `read_seals` knows whether it is a seal."""
    for path in sorted(folder.glob(f"*{SUFFIX}"), reverse=True):
        try:
            with path.open("rb") as file:
                return datetime.fromisoformat(json.loads(file.readline())["at"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def read_seals(folder: Path, keys: Mapping[str, Ed25519PublicKey], *, installation: str = "") -> Seals:
    """Every seal in order of its number. A seal that does not verify is a problem, and what it says does not count.

    Without an `installation` theirs is not compared. Raises OSError.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"there is no folder {folder}")
    number, digest, at = 0, "", ""
    saw: dict[str, Head] = {}
    problems: list[Problem] = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        name = f"seal {path.stem}"
        try:
            first, said, streams = _read_seal(path, keys)
        except _BadSeal as error:
            problems.append(Problem(name, 0, "seal", str(error)))
            continue
        if said["number"] != number + 1:
            problems.append(Problem(name, 0, "seal", f"seal {number + 1} is missing"))
        elif said["previous"] != digest:
            problems.append(Problem(name, 0, "seal", "it does not follow from the seal before"))
        if installation and said["installation"] != installation:
            problems.append(Problem(name, 0, "seal", "it is of another installation"))
        number, digest, at = said["number"], hashlib.sha256(first).hexdigest(), said["at"]
        saw |= {stream: Head(count, head, f"seal {number}") for stream, (count, head) in streams.items()}
    return Seals(number, digest, at, saw, problems)


class _BadSeal(Exception):
    """What is wrong with the file."""


def _read_seal(
    path: Path, keys: Mapping[str, Ed25519PublicKey]
) -> tuple[bytes, dict[str, Any], dict[str, tuple[int, bytes]]]:
    """The signed line, what it says, and count and hash by stream. Raises _BadSeal."""
    try:
        first, second, lines = path.read_bytes().split(b"\n", 2)
        signed = json.loads(second)
        key = keys.get(signed["key"])
        if key is None:
            raise _BadSeal(f"it is signed by the key {signed['key']!r}, which was not given")
        key.verify(base64.b64decode(signed["signature"], validate=True), PURPOSE + first)
        said: dict[str, Any] = json.loads(first)
        if said["format"] != FORMAT:
            raise _BadSeal(f"its format is {said['format']!r}, not {FORMAT}")
        if hashlib.sha256(lines).hexdigest() != said["streams_digest"]:
            raise _BadSeal("its streams are not those that were signed")
        streams = {}
        for line in lines.decode().splitlines():
            stream, count, head = line.split(" ")
            streams[stream] = int(count), bytes.fromhex(head)
        if f"{said['number']:06d}" != path.stem:
            raise _BadSeal(f"it was signed as seal {said['number']}")
    except InvalidSignature:
        raise _BadSeal("its signature is not that of what it says") from None
    except (ValueError, KeyError, TypeError, binascii.Error):
        raise _BadSeal("it is not a seal") from None
    return first, said, streams


def _write_once(path: Path, content: bytes, *, mode: int) -> None:
    """The whole file or none, never over another one. Raises FileExistsError."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)
