"""How long cases take and where the time goes (H2, H9), and how much comes and goes (trends)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from caseflow.domain.times import Part
from cases.times import COLUMNS

from .scope import SINCE, Scope, Span, Window, ask, within


@dataclass(frozen=True, slots=True)
class Spread:
    """Of a duration over some cases. Each value is that of a real case: half, or nine of ten, take no longer."""

    median: timedelta
    p90: timedelta
    sum: timedelta


@dataclass(frozen=True, slots=True)
class ProcessTimes:
    """The cases of one process that were closed within the window. The sums of the parts add up to that of `total`."""

    process: str
    cases: int
    total: Spread
    parts: Mapping[Part, Spread]

    def share(self, part: Part) -> float:
        """Of all the time, 0…1; the five add up to 1."""
        return self.parts[part].sum / self.total.sum if self.total.sum else 0.0


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """What happened in [begun, begun + step of the window). `median` and `p90` are of the cases closed in it."""

    begun: datetime
    opened: int
    completed: int
    closed_without_change: int
    stopped: int
    median: timedelta | None
    p90: timedelta | None


_TOTAL = " + ".join(COLUMNS.values())


def _spread(expression: str) -> str:
    return f"percentile_disc(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY {expression}), sum({expression})::bigint"


_TIMES = f"""
SELECT process, count(*), {_spread(_TOTAL)}, {", ".join(_spread(column) for column in COLUMNS.values())}
FROM cases_case WHERE closed_at > {SINCE} AND {COLUMNS[Part.QUEUE]} IS NOT NULL AND {within("organisation_id")}
  AND (%(process)s = '' OR process = %(process)s)
GROUP BY process ORDER BY process
"""

#: Points begin at round moments of UTC; the last one is not over yet.
_TREND = f"""
WITH clock AS MATERIALIZED (
  SELECT date_bin(%(step)s::interval, clock_timestamp(), timestamptz '2000-01-01 00:00Z') AS last),
points AS (
  SELECT generate_series(clock.last + %(step)s::interval - %(length)s::interval, clock.last, %(step)s::interval) AS at
  FROM clock),
first AS MATERIALIZED (SELECT min(at) AS at FROM points),
events AS (
  SELECT date_bin(%(step)s::interval, e.at, first.at) AS at, count(*) FILTER (WHERE e.version = 1) AS opened,
         count(*) FILTER (WHERE e.to_state = 'COMPLETED') AS completed,
         count(*) FILTER (WHERE e.to_state = 'CLOSED_NO_CHANGE') AS unchanged,
         count(*) FILTER (WHERE e.to_state = 'NEEDS_ATTENTION') AS stopped
  FROM first, audit_auditevent e
  WHERE e.at >= first.at AND {within("e.organisation_id")}
    AND (e.version = 1 OR e.to_state IN ('CLOSED_NO_CHANGE', 'COMPLETED', 'NEEDS_ATTENTION'))
    AND (%(process)s = '' OR EXISTS (SELECT FROM cases_case c WHERE c.id = e.case_id AND c.process = %(process)s))
  GROUP BY 1),
closed AS (
  SELECT date_bin(%(step)s::interval, c.closed_at, first.at) AS at,
         percentile_disc(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY {_TOTAL}) AS spread
  FROM first, cases_case c
  WHERE c.closed_at >= first.at AND c.{COLUMNS[Part.QUEUE]} IS NOT NULL AND {within("c.organisation_id")}
    AND (%(process)s = '' OR c.process = %(process)s)
  GROUP BY 1)
SELECT points.at, coalesce(opened, 0), coalesce(completed, 0), coalesce(unchanged, 0), coalesce(stopped, 0),
       spread[1], spread[2]
FROM points LEFT JOIN events ON events.at = points.at LEFT JOIN closed ON closed.at = points.at ORDER BY points.at
"""


def measure_times(scope: Scope, window: Span, *, process: str = "") -> list[ProcessTimes]:
    """H9 per process, of one where it is named."""
    found = []
    for name, cases, quantiles, whole, *rest in ask(_TIMES, scope, window, process=process):
        parts = {
            part: _spread_of(*pair) for part, pair in zip(COLUMNS, zip(rest[::2], rest[1::2], strict=True), strict=True)
        }
        found.append(ProcessTimes(name, cases, _spread_of(quantiles, whole), parts))
    return found


def measure_trend(scope: Scope, window: Window, *, process: str = "") -> list[TrendPoint]:
    """Points without a gap, oldest first: 24 of an hour, 28 of six hours, or 30 of a day."""
    rows = ask(_TREND, scope, window, process=process)
    return [
        TrendPoint(*row[:5], *(None if us is None else timedelta(microseconds=us) for us in row[5:])) for row in rows
    ]


def _spread_of(quantiles: list[int], whole: int) -> Spread:
    median, p90 = (timedelta(microseconds=value) for value in quantiles)
    return Spread(median, p90, timedelta(microseconds=whole))
