"""Checking streams of events against themselves, against the heads that case rows carry, and against seals.

Nothing here asks a database or a setting: whoever does not trust the operator runs it on exported streams
(`python -m audit.offline`), and `manage.py verify_audit` runs the same on the tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from operator import attrgetter

from .bodies import chain_hash, first_link

CASE, ORGANISATION = "case:", "organisation:"  #: a stream is called "case:12" or "organisation:5"


@dataclass(frozen=True, slots=True)
class Link:
    """One event at its place in a stream. `at` is the column, `at_us` what was hashed; both in microseconds of UTC."""

    stream: str
    seq: int
    organisation_id: int
    kind: str
    actor_kind: str
    actor_id: int | None
    from_state: str
    to_state: str
    version: int | None
    at: int
    at_us: int
    body: bytes
    hash: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """Where a stream ends according to somebody else than its events. `name` is the case's public id, or the seal's."""

    count: int
    hash: bytes
    name: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and with which event of which stream; number 0 where it is with the stream as a whole."""

    stream: str
    seq: int
    kind: str
    text: str
    case: str = ""  #: its public id, where it is known


@dataclass(slots=True)
class Verified:
    """How much was looked at, and what was found."""

    streams: int = 0
    events: int = 0
    problems: list[Problem] = field(default_factory=list)


def verify(
    links: Iterable[Link], *, heads: Mapping[str, Head] | None = None, sealed: Mapping[str, Head] | None = None
) -> Verified:
    """`links` by stream and number; `heads` of every case, None where nobody can say; `sealed` is what seals saw last.

    Of each stream the first event that is wrong is named: behind it every other one is wrong, too. Its end is compared
    with its head and its seal besides.
    """
    found = Verified()
    sealed = sealed or {}
    seen: set[str] = set()
    for stream, events in groupby(links, key=attrgetter("stream")):
        head = heads.get(stream) if heads is not None else None
        end = _walk(stream, events, sealed.get(stream), found)
        seen.add(stream)
        found.problems += _ending(stream, end, head)
        if heads is not None and head is None and stream.startswith(CASE):
            found.problems.append(Problem(stream, 0, "no_case", "events of a case that does not exist"))
    for stream, head in chain((heads or {}).items(), sealed.items()):
        if stream not in seen:
            text = f"every event is gone; {head.name or stream} counted {head.count}"
            found.problems.append(Problem(stream, 1, "missing", text))
            seen.add(stream)
    found.streams = len(seen)
    found.problems = [
        replace(one, case=heads[one.stream].name) if heads and one.stream in heads else one for one in found.problems
    ]
    return found


def _walk(stream: str, events: Iterable[Link], seal: Head | None, found: Verified) -> Head:
    """Every event of one stream; the end of it, as it is."""
    number, before, earlier = 0, _first(stream), b""
    broken = False
    at_seal = b""
    for event, following in _with_next(events):
        found.events += 1
        if not broken:
            problem = _gap(event, number) or _broken(event, following, before, earlier) or _untrue(event, stream)
            if problem:
                broken = True
                found.problems.append(problem)
        number, earlier, before = event.seq, before, event.hash
        if seal and number == seal.count:
            at_seal = event.hash
    if seal and number < seal.count:
        text = f"it ends with event {number}, and {seal.name} saw {seal.count}: the tail was cut off"
        found.problems.append(Problem(stream, number + 1, "cut", text))
    elif seal and at_seal != seal.hash and not broken:
        text = f"event {seal.count} is not the one that {seal.name} saw: the stream was written anew"
        found.problems.append(Problem(stream, seal.count, "rewritten", text))
    return Head(number, before)


def _first(stream: str) -> bytes:
    return first_link(int(stream.removeprefix(ORGANISATION))) if stream.startswith(ORGANISATION) else b""


def _with_next(events: Iterable[Link]) -> Iterator[tuple[Link, Link | None]]:
    event: Link | None = None
    for following in events:
        if event is not None:
            yield event, following
        event = following
    if event is not None:
        yield event, None


def _gap(event: Link, number: int) -> Problem | None:
    if event.seq > number + 1:
        missing = f"events {number + 1} to {event.seq - 1} are" if event.seq > number + 2 else f"event {number + 1} is"
        return Problem(event.stream, number + 1, "missing", f"{missing} missing")
    if event.seq <= number:
        return Problem(event.stream, event.seq, "inserted", f"there are two events {event.seq}: one was put in")
    return None


def _broken(event: Link, following: Link | None, before: bytes, earlier: bytes) -> Problem | None:
    """The hashes of the neighbours tell what was done to them."""
    if _follows(event, before):
        return None
    if event.seq > 1 and _follows(event, earlier):
        text = f"event {event.seq - 1} was put in: event {event.seq} follows from the one before it"
        return Problem(event.stream, event.seq - 1, "inserted", text)
    if following is not None and _follows(following, before):
        if _follows(event, following.hash):
            return Problem(event.stream, event.seq, "swapped", f"events {event.seq} and {following.seq} changed places")
        text = f"event {event.seq} was put in: event {following.seq} follows from the one before it"
        return Problem(event.stream, event.seq, "inserted", text)
    text = f"event {event.seq} does not follow from the one before: it was changed, or one between them was taken out"
    return Problem(event.stream, event.seq, "changed", text)


def _follows(event: Link, before: bytes) -> bool:
    return chain_hash(before, event.at_us, event.body) == event.hash


def _untrue(event: Link, stream: str) -> Problem | None:
    """The hash covers the body and the moment; the columns beside them have to say the same."""
    try:
        said = json.loads(event.body)
        actor = said["actor"]
        told = (said["kind"], actor["kind"], actor["id"], said.get("from", ""), said.get("to", ""), said.get("version"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Problem(stream, event.seq, "columns", f"the body of event {event.seq} is not that of an event")
    shown = (event.kind, event.actor_kind, event.actor_id, event.from_state, event.to_state, event.version)
    strayed = stream.startswith(ORGANISATION) and stream != f"{ORGANISATION}{event.organisation_id}"
    if told == shown and event.at == event.at_us and not strayed:
        return None
    return Problem(stream, event.seq, "columns", f"the columns of event {event.seq} do not say what its body says")


def _ending(stream: str, end: Head, head: Head | None) -> list[Problem]:
    if head is None:
        return []
    if end.count != head.count:
        text = f"its row counts {head.count} events, its chain has {end.count}"
        return [Problem(stream, min(end.count, head.count) + 1, "cut", text)]
    if end.hash != head.hash:
        return [Problem(stream, end.count, "head", "its chain does not end in the head of its row")]
    return []
