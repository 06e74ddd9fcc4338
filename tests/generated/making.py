"""Making many cases: which stories, when, in which organisation; a chunk is one transaction."""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import psycopg
from django.conf import settings

from caseflow.processes.restore_access import RestoreAccess

from .cast import SHARES, Cast, end_drift_run, find_or_make_casts, make_drift_run
from .draft import Frame
from .plans import PlannedDraft
from .rows import Chunk, Keys, shapes
from .steps import world_of
from .stories import STORIES, Story

CHUNK = 500  #: cases in a transaction; live workers wait for it


@dataclass(frozen=True, slots=True)
class Made:
    """What was written, in how many seconds."""

    cases: int
    rows: int
    seconds: float


class SeedUsed(Exception):
    """There are cases of this seed already: another seed makes others."""


def make_cases(
    connection: psycopg.Connection[Any],
    *,
    count: int,
    seed: int = 1,
    until: datetime | None = None,
    tell: Callable[[int], None] = lambda made: None,
    stories: Sequence[Story] = STORIES,
) -> Made:
    """Write `count` cases as the owner, whose `connection` commits by itself. The same seed tells the same stories.

    Each story is told at least once where `count` allows it. Raises SeedUsed.
    """
    begun = time.monotonic()
    used = connection.execute(
        "SELECT 1 FROM cases_case WHERE source = 'generated' AND external_id_normal LIKE %s LIMIT 1", [f"G{seed}-%"]
    ).fetchone()
    if used:
        raise SeedUsed(f"there are cases of seed {seed} already: another seed makes others")
    until = until or datetime.now(UTC)
    undo = timedelta(seconds=settings.CASEFLOW_UNDO_SECONDS)
    run = make_drift_run(connection, until)
    rows, made = 0, 0
    # While the server writes one chunk the next is told: keys come over a connection of their own.
    with _beside(connection) as second, ThreadPoolExecutor(max_workers=1) as writer:
        frame = Frame(Keys(second), RestoreAccess(), seed, until, undo, run)
        writing: Future[int] | None = None
        for chunk, cases in _chunks(frame, find_or_make_casts(), count, stories):
            rows += writing.result() if writing else 0
            writing = writer.submit(chunk.write, connection)
            made += cases
            tell(made)
        rows += writing.result() if writing else 0
    end_drift_run(connection, run)
    connection.execute("ANALYZE")
    return Made(made, rows, time.monotonic() - begun)


def _beside(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    return psycopg.connect(connection.info.dsn, password=connection.info.password, autocommit=True)


def draft_of(frame: Frame, cast: Cast, story: Story, *, number: int, ago: float) -> PlannedDraft:
    """The story told as of `ago` seconds before the end; earlier where it would not be over by then."""
    limit = frame.until - timedelta(seconds=1)
    for _ in range(3):
        rng = Random(f"{frame.seed}:{number}")  # the same chances whenever it begins
        opened = frame.until - timedelta(microseconds=round(ago * 1_000_000))
        draft = PlannedDraft(frame, cast, number=number, opened=opened, rng=rng)
        draft.world = world_of(draft)
        story.tell(draft)
        if draft.at < limit:
            return draft
        ago += (draft.at - limit).total_seconds() + 1 + ago * 0.01
    raise AssertionError(f"{story.name} does not come to its end in time")


def _chunks(frame: Frame, casts: list[Cast], count: int, stories: Sequence[Story]) -> Iterator[tuple[Chunk, int]]:
    """In the order in which the cases began, as rows of real cases lie. Numbers are all that is held of all of them."""
    rng = Random(frame.seed)
    weights = [story.weight for story in stories]
    told = array("H", range(min(count, len(stories))))
    told.extend(rng.choices(range(len(stories)), weights, k=count - len(told)))
    ages = array("d", (rng.random() * stories[story].within for story in told))
    order = array("I", sorted(range(count), key=ages.__getitem__, reverse=True))
    shares = [SHARES[cast.slug] for cast in casts]
    forms = shapes()
    for start in range(0, count, CHUNK):
        chunk, numbers = Chunk(forms), order[start : start + CHUNK]
        for number in numbers:
            (cast,) = rng.choices(casts, shares)
            draft_of(frame, cast, stories[told[number]], number=number, ago=ages[number]).write_to(chunk)
        yield chunk, len(numbers)


def tell_progress(made: int) -> None:
    """One line that is written over, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{made} cases", end="", file=sys.stderr, flush=True)
