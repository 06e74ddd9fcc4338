"""Days, weeks and months of a place: they tile time, also where clocks change, and each has one due moment."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

import pytest

from caseflow.domain.periods import (
    BadCron,
    BadPeriod,
    DueRule,
    Length,
    ObligationKey,
    Period,
    due_periods,
    local_moment,
    next_of_cron,
)

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
BEGAN, ENDED = datetime(2024, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)
MOSCOW = ZoneInfo("Europe/Moscow")


@cache
def changes(name: str) -> tuple[datetime, ...]:
    """The days of 2024–2030 within which the clock of a place changes: by offsets at noon, not by searching hours."""
    zone, found, at = ZoneInfo(name), [], BEGAN
    offset = at.astimezone(zone).utcoffset()
    while at < ENDED:
        # Two changes within four days would go unseen only if they cancelled each other.
        following = at + 4 * DAY
        if (then := following.astimezone(zone).utcoffset()) != offset:
            found += [at + n * DAY for n in range(5)]
            offset = then
        at = following
    return tuple(found)


def different_zones() -> Iterator[str]:
    """One name of each set of zones whose clocks agree around every change."""
    seen = set()
    for name in sorted(available_timezones()):
        zone = ZoneInfo(name)
        rules = (BEGAN.astimezone(zone).utcoffset(), *((at, at.astimezone(zone).utcoffset()) for at in changes(name)))
        if rules not in seen:
            seen.add(rules)
            yield name


def test_periods_of_every_place_tile_time_without_gap_or_overlap_around_every_change_of_its_clocks() -> None:
    looked_at = 0
    for name in different_zones():
        zone = ZoneInfo(name)
        days = {
            (at + n * DAY).astimezone(zone).date() for at in (*changes(name), BEGAN, ENDED) for n in (-2, -1, 0, 1, 2)
        }
        periods = {Period.of_date(length, day) for length in Length for day in days}
        for period in periods:
            start, end = period.start(zone), period.end(zone)
            # No gap: a day begins at the very first instant of its date; the one before that is of another day.
            assert start.astimezone(zone).date() == period.first, (name, period)
            assert (start - timedelta(seconds=1)).astimezone(zone).date() < period.first, (name, period)
            assert Period.at(period.length, start, zone) == Period.at(period.length, end - DAY / 86400, zone) == period
            # No overlap: what follows begins later, by as much as such a period is long but for a change of clocks.
            long = (period.next().first - period.first) - (end - start)
            assert abs(long) <= 3 * HOUR, (name, period, long)
            assert period.next().previous() == period == Period.parse(period.text)
            looked_at += 1
    assert looked_at > 5_000


@pytest.mark.parametrize(
    ("zone", "day", "hours", "begins"),
    [
        ("Europe/Berlin", "2026-03-29", 23, "2026-03-28T23:00"),
        ("Europe/Berlin", "2026-10-25", 25, "2026-10-24T22:00"),
        ("Australia/Lord_Howe", "2026-04-05", 24.5, "2026-04-04T13:00"),
        ("Asia/Kathmandu", "2026-10-01", 24, "2026-09-30T18:15"),
        ("Asia/Beirut", "2026-03-29", 23, "2026-03-28T22:00"),  # midnight is skipped: the day begins at 01:00
        ("America/Havana", "2026-11-01", 25, "2026-11-01T04:00"),  # it comes twice: at the first
        ("Pacific/Apia", "2011-12-30", 0, "2011-12-30T10:00"),  # a day that never was
        ("America/St_Johns", "2010-11-07", 25, "2010-11-07T02:30"),  # its date comes, goes, and comes again
    ],
)
def test_a_day_of_changing_clocks_is_as_long_as_it_is(zone: str, day: str, hours: float, begins: str) -> None:
    period, place = Period.parse(day), ZoneInfo(zone)
    assert period.end(place) - period.start(place) == hours * HOUR
    assert period.start(place) == datetime.fromisoformat(begins).replace(tzinfo=UTC)
    if hours:
        last = period.end(place) - timedelta(seconds=1)
        assert {Period.at(Length.DAY, at, place) for at in (period.start(place), last)} == {period}


def test_a_time_of_day_that_is_skipped_counts_from_the_end_of_the_gap_and_one_that_comes_twice_the_first_time() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert local_moment(date(2026, 3, 29), time(2, 30), berlin) == datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert local_moment(date(2026, 10, 25), time(2, 30), berlin) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    rule = DueRule(berlin, at=time(2, 30))
    due = [rule.due(Period(Length.DAY, date(2026, 3, day)).end(berlin)) for day in (27, 28, 29)]
    assert [moment.astimezone(berlin).isoformat()[8:16] for moment in due] == ["28T02:30", "29T03:00", "30T02:30"]


def test_what_is_due_by_a_cron_line_is_due_after_the_end_of_the_period_in_the_place_of_the_line() -> None:
    weekdays = DueRule(MOSCOW, cron="0 8 * * 1-5")
    friday, saturday = Period.parse("2026-10-02"), Period.parse("2026-10-03")
    monday = datetime(2026, 10, 5, 5, tzinfo=UTC)
    assert weekdays.due(friday.end(MOSCOW)) == weekdays.due(saturday.end(MOSCOW)) == monday
    assert weekdays.due(monday) == monday
    assert DueRule(MOSCOW, cron="30 7 1 * *").due(Period.parse("2026-10").end(MOSCOW)) == datetime(
        2026, 11, 1, 4, 30, tzinfo=UTC
    )
    # In the second of two equal hours the first is over.
    berlin, second = ZoneInfo("Europe/Berlin"), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert DueRule(berlin, cron="45 2 * * *").due(second) == datetime(2026, 10, 26, 1, 45, tzinfo=UTC)


def test_missed_periods_are_caught_up_in_order_and_of_too_many_the_newest() -> None:
    rule, first = DueRule(MOSCOW, at=time(8)), Period.parse("2026-10-01")
    now = datetime(2026, 10, 6, 4, 59, tzinfo=UTC)  # a minute before the 5th is due
    missed = due_periods(first, rule, zone=MOSCOW, now=now, limit=3)
    assert [period.text for period in missed.periods] == ["2026-10-02", "2026-10-03", "2026-10-04"]
    assert (missed.left_out, missed.next.text) == (1, "2026-10-05")
    nothing = due_periods(missed.next, rule, zone=MOSCOW, now=now, limit=3)
    assert (nothing.periods, nothing.left_out, nothing.next) == ((), 0, missed.next)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "2026",
            "2026-13",
            "2026-02-30",
            "2025-W53",
            "2026-W00",
            "2026-1-1",
            "26-10-01",
            "2026-10-01 ",
            "2026-w40",
        ),
        *("2026-10-01/r2", "0001-01", "9999-12-31", "2026-10-01\n", "-026-10-01", "٢٠٢٦-١٠-٠١"),
    ],
)
def test_what_names_no_period_is_refused(text: str) -> None:
    with pytest.raises(BadPeriod):
        Period.parse(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0 8 30 2 *", "never"),
        ("0 8 31 4,6,9,11 *", "never"),
        ("0 8 32 * *", "malformed"),
        ("0 8 30 13 *", "malformed"),
        ("0 25 * * *", "malformed"),
        ("* * * * * *", "malformed"),
        ("every morning", "malformed"),
        ("", "malformed"),
        ("0 8 " + "1," * 80 + "1 * *", "malformed"),
    ],
)
def test_a_cron_line_that_is_none_or_never_fires_is_refused(text: str, code: str) -> None:
    with pytest.raises(BadCron) as refused:
        next_of_cron(text, BEGAN, MOSCOW)
    assert refused.value.code == code


def test_an_obligation_has_one_name_and_the_name_says_all_of_it() -> None:
    for text in ("acme/sales/requests/2026-10-01", "acme/sales/requests/2026-W40/r2", "a-b/c_d/requests/2026-10/r10"):
        assert str(ObligationKey.parse(text)) == text
    assert ObligationKey.parse("acme/sales/requests/2026-10/r3").base == "acme/sales/requests/2026-10"
    for text in (
        "acme/sales/requests",
        "acme/sales/requests/2026-10/r1",
        "acme/sales/requests/2026-10/r02",
        "a/b/c/10",
    ):
        with pytest.raises(ValueError, match="names no"):
            ObligationKey.parse(text)
