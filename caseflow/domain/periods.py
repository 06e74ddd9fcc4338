"""Periods of business time: days, ISO weeks and months of a place, and the moments at which work about them is due.

Two rules settle the days on which clocks change. A day begins the first time its date comes: at 01:00 where midnight is
skipped, at the first midnight where it comes twice. A time of day that is skipped counts from the end of the gap, one
that comes twice counts the first time. So periods of one place tile time, and every day has its due moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

FIRST_YEAR, LAST_YEAR = 1970, 2999  #: of a period that can be named
MAX_CRON = 120  #: characters

_DAY = timedelta(days=1)
_TEXT = re.compile(r"(\d{4})-(?:(\d{2})-(\d{2})|W(\d{2})|(\d{2}))", re.ASCII)
_NAME = "[a-zA-Z0-9_-]+"
_KEY = re.compile(rf"({_NAME})/({_NAME})/([a-z][a-z0-9_]*)/([0-9W-]+)(?:/r([2-9]|[1-9]\d{{1,3}}))?", re.ASCII)


class Length(StrEnum):
    DAY = "day"
    WEEK = "week"  #: ISO: from Monday on
    MONTH = "month"


class BadPeriod(ValueError):
    """The text names no day (2026-10-01), week (2026-W40) or month (2026-10)."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} names no day (2026-10-01), week (2026-W40) or month (2026-10)")


class BadCron(ValueError):
    """The text is no cron line of five fields (`malformed`), or no day ever fits it (`never`)."""

    def __init__(self, code: str, problem: str) -> None:
        self.code = code
        super().__init__(problem)


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """One day, week or month by its first date; where it begins and ends depends on the place."""

    length: Length
    first: date

    @classmethod
    def parse(cls, text: str) -> Period:
        """`2026-10-01`, `2026-W40`, `2026-10`; no other spelling of these. Raises BadPeriod."""
        found = _TEXT.fullmatch(text)
        if found is None or not FIRST_YEAR <= int(found[1]) <= LAST_YEAR:
            raise BadPeriod(text)
        year, month, day, week, only_month = (int(part) if part else 0 for part in found.groups())
        try:
            if week:
                return cls(Length.WEEK, date.fromisocalendar(year, week, 1))
            if day:
                return cls(Length.DAY, date(year, month, day))
            return cls(Length.MONTH, date(year, only_month, 1))
        except ValueError:
            raise BadPeriod(text) from None

    @classmethod
    def of_date(cls, length: Length, day: date) -> Period:
        """The period in which the date lies."""
        if length is Length.WEEK:
            return cls(length, day - timedelta(days=day.weekday()))
        return cls(length, day.replace(day=1) if length is Length.MONTH else day)

    @classmethod
    def at(cls, length: Length, moment: datetime, zone: ZoneInfo) -> Period:
        """The period in which an aware moment lies."""
        period = cls.of_date(length, moment.astimezone(zone).date())
        # Where the clock goes back over midnight a date comes, goes, and comes again: its day has begun.
        return period.next() if moment >= period.end(zone) else period

    @property
    def text(self) -> str:
        if self.length is Length.WEEK:
            year, week, _ = self.first.isocalendar()
            return f"{year:04}-W{week:02}"
        return self.first.isoformat()[: 7 if self.length is Length.MONTH else 10]

    def next(self) -> Period:
        if self.length is Length.MONTH:
            return Period(self.length, (self.first + 31 * _DAY).replace(day=1))
        return Period(self.length, self.first + (7 if self.length is Length.WEEK else 1) * _DAY)

    def previous(self) -> Period:
        return Period.of_date(self.length, self.first - _DAY)

    def start(self, zone: ZoneInfo) -> datetime:
        """The first instant of the period, aware UTC."""
        return day_begins(self.first, zone)

    def end(self, zone: ZoneInfo) -> datetime:
        """The first instant after it."""
        return self.next().start(zone)

    def is_closed(self, zone: ZoneInfo, now: datetime) -> bool:
        return now >= self.end(zone)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ObligationKey:
    """What is owed once: short names of organisation and department, a kind, a period; and the edition of it."""

    organisation: str
    department: str
    kind: str
    period: str
    edition: int = 1

    @classmethod
    def parse(cls, text: str) -> ObligationKey:
        """`acme/sales/requests/2026-10-01`, from the second edition on with `/r2`. Raises ValueError."""
        found = _KEY.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} names no obligation")
        return cls(found[1], found[2], found[3], Period.parse(found[4]).text, int(found[5] or 1))

    @property
    def base(self) -> str:
        """Without the edition."""
        return f"{self.organisation}/{self.department}/{self.kind}/{self.period}"

    def __str__(self) -> str:
        return self.base if self.edition == 1 else f"{self.base}/r{self.edition}"


def day_begins(day: date, zone: ZoneInfo) -> datetime:
    """The first instant at which the date of this place is `day` or later, aware UTC."""
    return local_moment(day, time(0), zone)


def local_moment(day: date, at: time, zone: ZoneInfo) -> datetime:
    """When the clock of this place first shows `at` on `day`, or passes over it; aware UTC."""
    wall = datetime.combine(day, at)
    before = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if before.astimezone(zone).replace(tzinfo=None) == wall:
        return before
    # Skipped: read with the offset from after the gap it lies before the change, with the one from before it after.
    low, high = wall.replace(tzinfo=zone, fold=1).astimezone(UTC), before
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // 2
        passed = middle.astimezone(zone).replace(tzinfo=None) >= wall
        low, high = (low, middle) if passed else (middle, high)
    return high.replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class DueRule:
    """When something about a period is due: at a time of day, or by a cron line, in a place of its own."""

    zone: ZoneInfo
    at: time | None = None
    cron: str = ""

    def __post_init__(self) -> None:
        if (self.at is None) == (self.cron == ""):
            raise ValueError("a rule is a time of day or a cron line")

    def due(self, ended: datetime) -> datetime:
        """The first moment of the rule at or after the end of a period. Raises BadCron."""
        if self.at is None:
            return next_of_cron(self.cron, ended, self.zone)
        day = ended.astimezone(self.zone).date() - _DAY
        while (moment := local_moment(day, self.at, self.zone)) < ended:
            day += _DAY
        return moment


def next_of_cron(text: str, moment: datetime, zone: ZoneInfo) -> datetime:
    """The first moment of a cron line of five fields at or after an aware moment, aware UTC. Raises BadCron."""
    if len(text) > MAX_CRON or len(text.split()) != 5:
        raise BadCron("malformed", "a cron line has five fields: minute, hour, day, month, day of the week")
    try:
        # The line fires after what it is given, never at it.
        line = CronSim(text, (moment - timedelta(microseconds=1)).astimezone(zone))
        # Where an hour comes twice it fires in the first, which may be over.
        return next(found for found in (at.astimezone(UTC) for at in line) if found >= moment)
    except CronSimError as error:
        code = "never" if _is_good_in_any_month(text, zone) else "malformed"
        raise BadCron(code, str(error)) from None
    except StopIteration:
        raise BadCron("never", "no day ever fits this line") from None


def _is_good_in_any_month(text: str, zone: ZoneInfo) -> bool:
    """What is wrong with the line is only that its days are none of its months', such as 30 February."""
    minute, hour, day, month, weekday = text.split()
    try:
        CronSim(f"0 0 1 {month} *", datetime(2000, 1, 1, tzinfo=zone))
        CronSim(f"{minute} {hour} {day} * {weekday}", datetime(2000, 1, 1, tzinfo=zone))
    except CronSimError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Missed:
    """Periods that are due, oldest first; how many older ones were left out; and which comes next."""

    periods: tuple[Period, ...]
    left_out: int
    next: Period


def due_periods(first: Period, rule: DueRule, *, zone: ZoneInfo, now: datetime, limit: int) -> Missed:
    """Every period from `first` on that ended, in `zone`, and is due by now; of too many the newest `limit`.

    Raises BadCron.
    """
    due = list(_due(first, rule, zone, now))
    following = due[-1].next() if due else first
    return Missed(tuple(due[-limit:]), max(0, len(due) - limit), following)


def _due(first: Period, rule: DueRule, zone: ZoneInfo, now: datetime) -> Iterator[Period]:
    period = first
    while (ended := period.end(zone)) <= now and rule.due(ended) <= now:
        yield period
        period = period.next()
