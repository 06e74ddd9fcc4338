"""Moments and spans as people read them: in the reader's own zone, with the zone named (console.md §1, 23)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext, pgettext

from . import words


def moment_text(moment: datetime) -> str:
    """`2 Oct 2026, 18:00:05 (MSK)`, `02.10.2026 18:00:05 (МСК)`."""
    local = timezone.localtime(moment)
    return f"{bare_moment_text(moment)} ({words.zone_word(local.tzname() or '')})"


def bare_moment_text(moment: datetime) -> str:
    """The same without the zone, for tables that name it once."""
    return date_format(timezone.localtime(moment), pgettext("format of a date with a time", "j M Y, H:i:s"))


def utc_text(moment: datetime) -> str:
    """For the hint behind a moment."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def span_text(span: timedelta) -> str:
    """The two largest parts of a span, short: `2 h 15 min`."""
    seconds = max(0, int(span.total_seconds()))
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    if days:
        return gettext("%(days)d d %(hours)d h") % {"days": days, "hours": hours}
    if hours:
        return gettext("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes}
    if minutes:
        return gettext("%(minutes)d min %(seconds)d s") % {"minutes": minutes, "seconds": seconds}
    return gettext("%(seconds)d s") % {"seconds": seconds}


def ago_text(moment: datetime) -> str:
    """How long ago, for a place that can hold no more than text."""
    return span_text(timezone.now() - moment)


def took_text(span: timedelta) -> str:
    """How long something took: below a minute to the hundredth of a second."""
    seconds = span.total_seconds()
    if seconds >= 60:
        return span_text(span)
    return gettext("%(seconds)s s") % {"seconds": number_format(max(0.0, seconds), decimal_pos=2)}
