"""Where the time of cases goes (H2, H9), and how much comes and goes."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext

from caseflow.domain.times import Part
from operations.indicators import times
from operations.indicators.scope import Scope, Window

from . import charts, words
from .moments import bare_moment_text, took_text
from .tables import Cell, Section, Table, number, number_text, share


def sections(scope: Scope, window: Window, *, process: str) -> Iterator[Section]:
    """Two queries."""
    yield _parts(times.measure_times(scope, window, process=process))
    yield from _trends(times.measure_trend(scope, window, process=process))


def _parts(rows: list[times.ProcessTimes]) -> Section:
    title = gettext("Where the time of closed cases went")
    legend = [(part.value, words.part_word(part)) for part in Part]
    return Section(
        name="h9",
        title=title,
        hint=gettext("Of the cases closed in this time. The five parts add up to the whole."),
        empty=gettext("No case was closed in this time."),
        charts=[
            charts.bars(
                title,
                gettext("One bar for each process, divided into the five parts of the time."),
                [
                    charts.Row(
                        words.newest_title(row.process),
                        took_text(row.total.median),
                        [
                            charts.Piece(
                                row.share(part), part.value, f"{words.part_word(part)}: {share(row.share(part))}"
                            )
                            for part in Part
                        ],
                    )
                    for row in rows
                ],
                most=1,
                legend=legend,
            )
        ],
        tables=[
            Table(
                [
                    gettext("Part"),
                    gettext("Share"),
                    gettext("Half of the cases take at most"),
                    gettext("Nine of ten take at most"),
                ],
                [
                    *(
                        [
                            Cell(words.part_word(part)),
                            Cell(share(row.share(part))),
                            Cell(took_text(row.parts[part].median)),
                            Cell(took_text(row.parts[part].p90)),
                        ]
                        for part in Part
                    ),
                    [
                        Cell(gettext("The whole")),
                        Cell(share(sum(row.share(part) for part in Part))),
                        Cell(took_text(row.total.median)),
                        Cell(took_text(row.total.p90)),
                    ],
                ],
                label=gettext("%(process)s, closed cases: %(number)s")
                % {"process": words.newest_title(row.process), "number": number_text(row.cases)},
            )
            for row in rows
        ],
    )


def _trends(points: list[times.TrendPoint]) -> Iterator[Section]:
    moments = [bare_moment_text(point.begun) for point in points]
    counted = [
        ("busy", gettext("opened"), [point.opened for point in points]),
        ("done", gettext("closed"), [point.completed + point.closed_without_change for point in points]),
        ("alert", gettext("stopped"), [point.stopped for point in points]),
    ]
    series = [
        charts.Series(
            tone,
            label,
            values,
            [f"{at}: {label} {number_text(value)}" for at, value in zip(moments, values, strict=True)],
        )
        for tone, label, values in counted
    ]
    most = max((value for _, _, values in counted for value in values), default=0)
    busy = [
        point for point in points if point.opened or point.completed or point.closed_without_change or point.stopped
    ]
    yield Section(
        name="trend",
        title=gettext("How much comes and goes"),
        hint=gettext("Cases opened, closed and stopped, by the time at which it happened."),
        empty=gettext("Nothing was opened, closed or stopped in this time."),
        charts=[
            charts.columns(
                gettext("How much comes and goes"),
                gettext("Groups of three columns, one group for each stretch of time."),
                series,
                most=number_text(most),
                moments=moments,
            )
        ],
        tables=[
            Table(
                [
                    gettext("Beginning"),
                    gettext("Opened"),
                    gettext("Completed"),
                    gettext("Closed without change"),
                    gettext("Stopped"),
                ],
                [
                    [
                        Cell(bare_moment_text(point.begun)),
                        number(point.opened),
                        number(point.completed),
                        number(point.closed_without_change),
                        number(point.stopped),
                    ]
                    for point in busy
                ],
            )
        ],
    )
    yield _durations(points, moments)


def _durations(points: list[times.TrendPoint], moments: list[str]) -> Section:
    half, most_of = gettext("half of the cases"), gettext("nine of ten")
    series = [
        charts.Series(
            tone,
            label,
            [None if value is None else value.total_seconds() for value in values],
            [
                f"{at}: {label} {took_text(value)}" if value is not None else ""
                for at, value in zip(moments, values, strict=True)
            ],
        )
        for tone, label, values in (
            ("busy", half, [point.median for point in points]),
            ("wait", most_of, [point.p90 for point in points]),
        )
    ]
    longest = max((point.p90 for point in points if point.p90 is not None), default=None)
    return Section(
        name="durations",
        title=gettext("How long cases take"),
        hint=gettext("From the first event to the end, by the time at which the case was closed."),
        empty=gettext("No case was closed in this time."),
        charts=[
            charts.lines(
                gettext("How long cases take"),
                gettext("Two lines: half of the cases, and nine of ten, took no longer."),
                series,
                most=took_text(longest) if longest is not None else "",
                moments=moments,
            )
        ],
        tables=[
            Table(
                [
                    gettext("Beginning"),
                    gettext("Half of the cases take at most"),
                    gettext("Nine of ten take at most"),
                ],
                [
                    [Cell(bare_moment_text(point.begun)), Cell(took_text(point.median)), Cell(took_text(point.p90))]
                    for point in points
                    if point.median is not None and point.p90 is not None
                ],
            )
        ],
    )
