"""Streams of events in a file, so that they can be checked where there is no database: JSON Lines.

The first line says what it is; then come the heads of the cases, the events by stream and number, and their number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import IO, Any

from .verifying import Head, Link

FORMAT = 1  #: of these files


class NotStreams(Exception):
    """This file does not hold exported streams, or not all of them."""


def save_links(links: Iterable[Link], heads: Mapping[str, Head], file: IO[str], *, installation: str) -> Iterator[Link]:
    """The same events, each written to `file` as it passes. JSON Lines: what it is, heads of cases, events, the end."""
    _write(file, {"format": FORMAT, "installation": installation, "at": datetime.now(UTC).isoformat()})
    for stream, head in heads.items():
        _write(file, {"head": stream, "count": head.count, "hash": head.hash.hex(), "name": head.name})
    number = 0
    for link in links:
        number += 1
        _write(file, asdict(link) | {"body": link.body.decode(errors="surrogateescape"), "hash": link.hash.hex()})
        yield link
    _write(file, {"end": number})


@dataclass(frozen=True, slots=True)
class Saved:
    """An exported file: of which installation, the heads of its cases, and its events, which are read as they pass."""

    installation: str
    heads: Mapping[str, Head]
    links: Iterator[Link]


def read_saved(file: IO[str]) -> Saved:
    """Raises NotStreams, also while the events are read: for a file that was cut off."""
    first = _parsed(file.readline())
    if first.get("format") != FORMAT:
        raise NotStreams(f"its format is {first.get('format')!r}, not {FORMAT}")
    heads: dict[str, Head] = {}
    line = _parsed(file.readline())
    while "head" in line:
        heads[line["head"]] = Head(line["count"], bytes.fromhex(line["hash"]), line["name"])
        line = _parsed(file.readline())
    return Saved(str(first["installation"]), heads, _saved_links(line, file))


def _saved_links(line: dict[str, Any], file: IO[str]) -> Iterator[Link]:
    names = {one.name for one in fields(Link)}
    number = 0
    while "end" not in line:
        number += 1
        if line.keys() != names:
            raise NotStreams(f"event {number} of the file is not an event")
        body = line["body"].encode(errors="surrogateescape")
        yield Link(**line | {"body": body, "hash": bytes.fromhex(line["hash"])})
        line = _parsed(file.readline())
    if line["end"] != number:
        raise NotStreams(f"it should hold {line['end']} events and holds {number}")


def _write(file: IO[str], value: Mapping[str, Any]) -> None:
    # Escaped: a body with a broken character must not break the file.
    file.write(json.dumps(value, separators=(",", ":")) + "\n")


def _parsed(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        raise NotStreams("it ends too early, or a line of it is no JSON") from None
    if not isinstance(found, dict):
        raise NotStreams("a line of it is no JSON object")
    return found
