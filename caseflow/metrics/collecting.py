"""One scrape: every part within its time, the failed ones named, labels bounded."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db import DatabaseError, connection, transaction
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from cases.rows import database_now

from . import catalogue as the
from .parts import PARTS, Part, Sample

log = logging.getLogger("caseflow.metrics")

PART_LIMIT = 2.0  #: seconds of one statement
SCRAPE_LIMIT = 8.0  #: seconds after which no further part is begun; Prometheus waits for ten unless told otherwise
#: Values of one label within one metric. Codes come from outside systems, too, and each makes a line that is kept.
MOST_VALUES = 40
OTHER = "other"

#: Of this transaction, in milliseconds. Alone: to start parallel workers takes longer than any of these statements.
_LIMIT = "SELECT set_config('statement_timeout', %s, true), set_config('max_parallel_workers_per_gather', '0', true)"
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}|0\.[59]|", re.ASCII)


class Scrape(Collector):
    """Asks the database when it is collected. Raises DatabaseError where it is away; a single part may fail."""

    def collect(self) -> Iterator[Family]:
        samples = list(measure())
        for metric in the.METRICS:
            family = GaugeMetricFamily(metric.name, metric.says, labels=metric.labels)
            for labels, value in bounded(one for one in samples if one.metric is metric).items():
                family.add_metric(labels, value)
            yield family


def registry() -> CollectorRegistry:
    """With this scrape alone: what the client library says of a process would be that of whichever answered."""
    found = CollectorRegistry()
    found.register(Scrape())
    return found


def measure() -> Iterator[Sample]:
    """Every part, one after the other."""
    began = time.monotonic()
    now = database_now()
    for name, part in PARTS.items():
        begun = time.monotonic()
        failed = begun - began > SCRAPE_LIMIT
        if not failed:
            try:
                yield from _within_limit(part, now)
            except DatabaseError as error:
                if not connection.is_usable():
                    raise
                failed = True
                log.warning("the part %s of a scrape failed: %s", name, type(error).__name__)
        yield Sample(the.FAILED, (name,), failed)
        yield Sample(the.SECONDS, (name,), time.monotonic() - begun)


def _within_limit(part: Part, now: datetime) -> list[Sample]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_LIMIT, [f"{PART_LIMIT * 1000:.0f}"])
        return list(part(now))


def bounded(samples: Iterable[Sample]) -> dict[tuple[str, ...], float]:
    """Value by labels. What is no code, or one too many, is `other`: ages keep the largest, numbers are summed."""
    known: list[dict[str, None]] = []
    found: dict[tuple[str, ...], float] = {}
    for one in sorted(samples, key=lambda sample: (-sample.value, sample.labels)):
        known = known or [{} for _ in one.labels]
        labels = tuple(_kept(value, seen) for value, seen in zip(one.labels, known, strict=True))
        before = found.get(labels, 0.0)
        is_age = one.metric.name.endswith(("oldest_seconds", "age_seconds", "slowest_seconds"))
        found[labels] = max(before, float(one.value)) if is_age else before + float(one.value)
    return found


def _kept(value: str, seen: dict[str, None]) -> str:
    if value not in seen and (len(seen) >= MOST_VALUES or not _CODE.fullmatch(value)):
        return OTHER
    seen[value] = None
    return value
