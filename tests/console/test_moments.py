"""Moments in the reader's zone, also where a day has 23 or 25 hours, and numbers as the reader writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone, translation

from caseflow.console.moments import moment_text, took_text, utc_text
from caseflow.console.tables import number_text, share


@pytest.mark.parametrize(
    ("moment", "language", "text"),
    [
        (datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC), "en", "29 Mar 2026, 00:59:59 (GMT)"),
        (datetime(2026, 3, 29, 1, tzinfo=UTC), "en", "29 Mar 2026, 02:00:00 (BST)"),
        (datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "ru", "25.10.2026, 01:30:00 (BST)"),
        (datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "ru", "25.10.2026, 01:30:00 (GMT)"),
    ],
)
def test_an_hour_that_is_missing_or_comes_twice_is_told_by_its_zone(moment: datetime, language: str, text: str) -> None:
    with timezone.override(ZoneInfo("Europe/London")), translation.override(language):
        assert moment_text(moment) == text
        assert utc_text(moment) == f"{moment:%Y-%m-%d %H:%M:%S} UTC"


@pytest.mark.parametrize(
    ("language", "number", "part", "span"),
    [("ru", "12\xa0345", "12,3 %", "1,50 с"), ("en", "12,345", "12.3 %", "1.50 s")],
)
def test_numbers_are_written_as_the_reader_writes_them(language: str, number: str, part: str, span: str) -> None:
    with translation.override(language):
        assert (number_text(12345), share(0.1234), took_text(timedelta(seconds=1.5))) == (number, part, span)
